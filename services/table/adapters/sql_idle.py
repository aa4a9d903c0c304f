"""SQL of running games that nobody plays any more."""

from __future__ import annotations

import sqlalchemy as sa

from services.table.adapters import sql_tables
from services.table.adapters.schema import game_log, games, seats, table_stops
from services.table.application.retention import IdleGame
from services.table.domain.table import Table


def list_idle(connection: sa.Connection, before_ms: int, after: tuple[int, str] | None, limit: int) -> list[IdleGame]:
    """See `Retention.list_idle`. The page is chosen before anything is joined."""
    wanted = [games.c.is_live, sa.not_(games.c.is_over), games.c.changed_at_ms < before_ms]
    if after is not None:
        place = sa.tuple_(games.c.shard, games.c.table_id)
        wanted.append(place > sa.tuple_(sa.literal(after[0], sa.SmallInteger), sa.literal(after[1])))
    page = (
        sa.select(games.c.shard, games.c.table_id, games.c.last_seq)
        .where(*wanted)
        .order_by(games.c.shard, games.c.table_id)
        .limit(limit)
        .subquery()
    )
    seen = (
        sa.select(sa.func.max(seats.c.seen_at_ms))
        .where(seats.c.shard == page.c.shard, seats.c.table_id == page.c.table_id, seats.c.session_id != "")
        .scalar_subquery()
    )
    of_page = (game_log.c.shard == page.c.shard, game_log.c.table_id == page.c.table_id)
    rows = connection.execute(
        sa.select(page, game_log.c.update_bytes, seen.label("seen_at_ms"))
        .join(game_log, sa.and_(*of_page, game_log.c.last_seq == page.c.last_seq))
        .order_by(page.c.shard, page.c.table_id)
    )
    return [IdleGame(row.shard, row.table_id, row.update_bytes, row.seen_at_ms or 0) for row in rows]


def abandon(connection: sa.Connection, table: Table, now_ms: int) -> bool:
    """See `Retention.abandon_game`. Commands wait for the row meanwhile, and find that the seats have changed hands."""
    is_table = sa.and_(games.c.shard == table.shard, games.c.table_id == table.table_id)
    last_seq = connection.execute(sa.select(games.c.last_seq).where(is_table).with_for_update()).scalar()
    if last_seq != table.last_seq or not sql_tables.save(connection, table, now_ms):
        return False
    connection.execute(
        sa.update(games).where(is_table).values(is_over=True, is_live=games.c.last_seq > games.c.published_seq)
    )
    of_table = sa.and_(table_stops.c.shard == table.shard, table_stops.c.table_id == table.table_id)
    connection.execute(sa.delete(table_stops).where(of_table))
    return True
