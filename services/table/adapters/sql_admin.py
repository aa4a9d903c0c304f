"""SQL of what operators do: the audit log, stops, and the deletion of a player."""

from __future__ import annotations

import sqlalchemy as sa

from services.table.adapters import sql_games, sql_tables
from services.table.adapters.schema import audit_log, game_snapshots, games, seats, sessions, table_stops, tables
from services.table.application.audit import DELETED_NAME, DELETED_SESSION, AuditEntry, Marks
from services.table.application.ports import LogRow, TableKey
from services.table.domain.table import Table


def record(connection: sa.Connection, entry: AuditEntry) -> None:
    connection.execute(
        sa.insert(audit_log).values(
            shard=entry.shard,
            audit_id=entry.audit_id,
            at_ms=entry.at_unix_ms,
            who=entry.who,
            caller=entry.from_,
            action=entry.action,
            table_id=entry.table_id,
            session_id=entry.session_id,
            seat=entry.seat,
            reason=entry.reason,
            outcome=entry.outcome,
            detail=entry.detail,
        )
    )


def list_audit(
    connection: sa.Connection, table_id: str, before: tuple[int, str] | None, limit: int
) -> list[AuditEntry]:
    query = sa.select(audit_log).order_by(audit_log.c.at_ms.desc(), audit_log.c.audit_id.desc()).limit(limit)
    if table_id:
        query = query.where(audit_log.c.table_id == table_id)
    if before is not None:
        place = sa.tuple_(audit_log.c.at_ms, audit_log.c.audit_id)
        query = query.where(place < sa.tuple_(sa.literal(before[0], sa.BigInteger), sa.literal(before[1])))
    return [
        AuditEntry(
            audit_id=row.audit_id,
            at_unix_ms=row.at_ms,
            who=row.who,
            from_=row.caller,
            action=row.action,
            shard=row.shard,
            table_id=row.table_id,
            session_id=row.session_id,
            seat=row.seat,
            reason=row.reason,
            outcome=row.outcome,
            detail=row.detail,
        )
        for row in connection.execute(query)
    ]


def append(connection: sa.Connection, row: LogRow) -> bool:
    """A command that ends its game, or that an operator gave, with what belongs to it."""
    done = sql_games.finish(connection, row) if row.result is not None else sql_games.advance(connection, row)
    if done and row.audit is not None:
        record(connection, row.audit)
    return done


def save(
    connection: sa.Connection, table: Table, entry: AuditEntry, snapshot: tuple[int, bytes] | None, now_ms: int
) -> bool:
    """False, and nothing is changed, if the stored version is not the one before this."""
    if not sql_tables.save(connection, table, now_ms):
        return False
    key = TableKey(table.shard, table.table_id)
    connection.execute(sa.delete(table_stops).where(_is_table(table_stops, key)))
    if table.stop is not None:
        stop = {
            "why": table.stop.why,
            "is_broken": table.stop.is_broken,
            "was_paused": table.stop.was_paused,
        }
        connection.execute(sa.insert(table_stops).values(shard=table.shard, table_id=table.table_id, **stop))
    if snapshot is not None:
        connection.execute(sa.delete(game_snapshots).where(_is_table(game_snapshots, key)))
        connection.execute(
            sa.insert(game_snapshots).values(
                shard=table.shard, table_id=table.table_id, seq=snapshot[0], snapshot=snapshot[1]
            )
        )
    record(connection, entry)
    return True


def load_marks(connection: sa.Connection, key: TableKey) -> Marks:
    published = connection.execute(sa.select(games.c.published_seq).where(_is_table(games, key))).scalar()
    snapshot = connection.execute(sa.select(game_snapshots.c.seq).where(_is_table(game_snapshots, key))).scalar()
    return Marks(published or 0, snapshot or 0)


def count_stopped(connection: sa.Connection) -> tuple[int, int]:
    query = sa.select(table_stops.c.is_broken, sa.func.count()).group_by(table_stops.c.is_broken)
    counts = {bool(broken): count for broken, count in connection.execute(query)}
    return counts.get(True, 0), counts.get(False, 0)


def forget_player(
    connection: sa.Connection, shard: int, session_id: str, entry: AuditEntry, now_ms: int
) -> list[Table] | None:
    """Tables are locked in one order, as everywhere."""
    gone = connection.execute(
        sa.delete(sessions).where(sessions.c.shard == shard, sessions.c.session_id == session_id)
    ).rowcount
    held = connection.execute(
        sa.select(seats.c.shard, seats.c.table_id)
        .where(seats.c.session_id == session_id)
        .distinct()
        .order_by(seats.c.shard, seats.c.table_id)
    ).all()
    if not gone and not held:
        return None
    keys = [TableKey(row.shard, row.table_id) for row in held]
    for key in keys:
        connection.execute(
            sa.update(tables)
            .where(_is_table(tables, key))
            .values(
                lobby_version=tables.c.lobby_version + 1,
                host_session_id=sa.case(
                    (tables.c.host_session_id == session_id, DELETED_SESSION), else_=tables.c.host_session_id
                ),
                changed_at_ms=now_ms,
            )
        )
        connection.execute(
            sa.update(games).where(_is_table(games, key)).values(holders_version=games.c.holders_version + 1)
        )
    # No secret has this hash: nobody takes the seat over.
    connection.execute(
        sa.update(seats)
        .where(seats.c.session_id == session_id)
        .values(name=DELETED_NAME, session_id=DELETED_SESSION, secret_hash=b"", present=False)
    )
    record(connection, entry)
    changed = [sql_tables.load(connection, key) for key in keys]
    return [table for table in changed if table is not None]


def _is_table(of: sa.Table, key: TableKey) -> sa.ColumnElement[bool]:
    return sa.and_(of.c.shard == key.shard, of.c.table_id == key.table_id)
