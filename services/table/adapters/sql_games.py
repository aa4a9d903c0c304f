"""SQL of games: log, snapshots, results, and how far the log is published."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import sqlalchemy as sa

from services.table.adapters import sql_archives, sql_histories, sql_tables
from services.table.adapters.schema import game_log, game_results, game_snapshots, games, probes, seats, tables
from services.table.application.ports import (
    Game,
    LiveGame,
    LoggedCommand,
    LoggedUpdate,
    LogRow,
    Looked,
    TableKey,
    Unpublished,
)
from services.table.domain.table import Status, Table

# What comes many times a second is built once; `of_shard` and `of_table` name the table.
_PROBE = (
    sa.update(probes)
    .where(probes.c.shard == sa.bindparam("of_shard"))
    .values(probe_id=sa.bindparam("new_id"), at_ms=sa.bindparam("now_ms"))
)


def _of(of: sa.Table) -> sa.ColumnElement[bool]:
    return sa.and_(of.c.shard == sa.bindparam("of_shard"), of.c.table_id == sa.bindparam("of_table"))


_SEQ = sa.bindparam("seq", type_=sa.BigInteger)
_GAME = sa.select(games.c.last_seq, games.c.holders_version, games.c.is_over).where(_of(games))
_LOGGED = sa.select(game_log.c.digest, game_log.c.first_seq, game_log.c.last_seq).where(
    _of(game_log), game_log.c.command_id == sa.bindparam("command_id")
)
_UPDATE = sa.select(game_log.c.update_bytes).where(_of(game_log), game_log.c.last_seq == _SEQ)
_SINCE_SNAPSHOT = sa.select(sa.func.count()).where(
    _of(game_log),
    game_log.c.last_seq
    > sa.func.coalesce(sa.select(game_snapshots.c.seq).where(_of(game_snapshots)).scalar_subquery(), 0),
)
_SNAPSHOT = sa.select(game_snapshots.c.seq, game_snapshots.c.snapshot).where(_of(game_snapshots))
_LOG = {
    with_secrets: sa.select(
        *(game_log.c.first_seq, game_log.c.last_seq, game_log.c.update_bytes),
        game_log.c.secrets if with_secrets else sa.literal(b"", sa.LargeBinary).label("secrets"),
    )
    .where(_of(game_log), game_log.c.last_seq > sa.bindparam("after_seq", type_=sa.BigInteger))
    .where(game_log.c.last_seq <= _SEQ)
    .order_by(game_log.c.last_seq)
    .limit(sa.bindparam("most", type_=sa.Integer))
    for with_secrets in (False, True)
}
_FREE = (
    sa.select(games.c.shard, games.c.table_id)
    .where(sa.tuple_(games.c.shard, games.c.table_id).in_(sa.bindparam("keys", expanding=True)))
    .with_for_update(skip_locked=True)
)
_MARK = (
    sa.update(games)
    .where(_of(games), games.c.published_seq < _SEQ)
    .values(published_seq=_SEQ, is_live=sa.not_(sa.and_(games.c.is_over, games.c.last_seq <= _SEQ)))
)
_AFTER = sa.tuple_(games.c.shard, games.c.table_id) > sa.tuple_(
    sa.bindparam("of_shard", type_=sa.SmallInteger), sa.bindparam("of_table", type_=sa.String)
)
_LIVE_PAGE = (
    sa.select(games.c.shard, games.c.table_id, games.c.last_seq, games.c.published_seq, games.c.changed_at_ms)
    .where(games.c.is_live, _AFTER)
    .order_by(games.c.shard, games.c.table_id)
    .limit(sa.bindparam("rows", type_=sa.Integer))
    .cte("page")
)
_UNPUBLISHED = (
    sa.select(_LIVE_PAGE.c.shard, _LIVE_PAGE.c.table_id, _LIVE_PAGE.c.published_seq)
    .where(_LIVE_PAGE.c.last_seq > _LIVE_PAGE.c.published_seq)
    .where(_LIVE_PAGE.c.changed_at_ms < sa.bindparam("before_ms", type_=sa.BigInteger))
    .limit(sa.bindparam("most", type_=sa.Integer))
)
_LIVE_EDGE = (
    sa.select(games.c.shard, games.c.table_id)
    .where(games.c.is_live, _AFTER)
    .order_by(games.c.shard, games.c.table_id)
    .offset(sa.bindparam("rows", type_=sa.Integer) - 1)
    .limit(1)
)
_BEFORE_ALL = (-1, "")


@lru_cache(maxsize=8)
def _page(*, in_shards: bool, quiet: bool, after: bool) -> sa.Select[Any]:
    """A page of games that last, paused ones too. What belongs to them is looked up row by row: joined, each page would
    cost as much as all of them."""
    wanted: list[sa.ColumnElement[bool]] = []
    if in_shards:
        wanted.append(games.c.shard.in_(sa.bindparam("shards", expanding=True)))
    if quiet:
        wanted += [games.c.has_bots, games.c.changed_at_ms < sa.bindparam("before_ms", type_=sa.BigInteger)]
    if after:
        place = sa.bindparam("of_shard", type_=sa.SmallInteger), sa.bindparam("of_table", type_=sa.String)
        wanted.append(sa.tuple_(games.c.shard, games.c.table_id) > sa.tuple_(*place))
    page = (
        sa.select(games.c.shard, games.c.table_id, games.c.last_seq, games.c.has_bots)
        .where(games.c.is_live, sa.not_(games.c.is_over), *wanted)
        .order_by(games.c.shard, games.c.table_id)
        .limit(sa.bindparam("most", type_=sa.Integer))
        .subquery()
    )
    of_table = sa.and_(tables.c.shard == page.c.shard, tables.c.table_id == page.c.table_id)
    of_log = (game_log.c.shard == page.c.shard, game_log.c.table_id == page.c.table_id)
    update = sa.select(game_log.c.update_bytes).where(*of_log, game_log.c.last_seq == page.c.last_seq)
    of_bots = (seats.c.shard == page.c.shard, seats.c.table_id == page.c.table_id, seats.c.session_id == "")
    bot = sa.cast(seats.c.seat, sa.String) + "=" + seats.c.bot_level
    bots = sa.select(sa.func.aggregate_strings(bot, ",")).where(*of_bots, page.c.has_bots)
    return sa.select(
        page,
        update.scalar_subquery().label("update_bytes"),
        bots.scalar_subquery().label("bots"),
        *(
            sa.select(column).where(of_table).scalar_subquery().label(column.name)
            for column in (tables.c.grace_ms, tables.c.held_ms, tables.c.paused_at_ms)
        ),
    ).order_by(page.c.shard, page.c.table_id)


def start(connection: sa.Connection, table: Table, row: LogRow) -> bool:
    """The table's new version and the first row of its log; false if the version has moved on."""
    if not sql_tables.save(connection, table, row.at_unix_ms):
        return False
    connection.execute(
        sa.update(games)
        .where(_is_table(games, TableKey(row.shard, row.table_id)))
        .values(last_seq=row.last_seq, is_live=True, has_bots=bool(table.bots()), changed_at_ms=row.at_unix_ms)
    )
    _insert_log(connection, row)
    return True


def advance(connection: sa.Connection, row: LogRow) -> bool:
    """A command of a game, as the fast way does it; false if another one was quicker, or it is known."""
    key = TableKey(row.shard, row.table_id)
    is_known = sa.exists().where(_is_table(game_log, key), game_log.c.command_id == row.command_id)
    changed = connection.execute(
        sa.update(games)
        .where(
            _is_table(games, key),
            games.c.last_seq == row.first_seq - 1,
            games.c.holders_version == row.holders_version,
            sa.not_(is_known),
            sql_histories.is_current(row.history_id),
        )
        .values(last_seq=row.last_seq, is_over=row.result is not None, changed_at_ms=row.at_unix_ms)
    )
    if changed.rowcount != 1:
        return False
    _insert_log(connection, row)
    return True


def finish(connection: sa.Connection, row: LogRow) -> bool:
    """The last command of a game: as any other, and the table is finished and has a result."""
    if not advance(connection, row):
        return False
    connection.execute(
        sa.update(tables)
        .where(_is_table(tables, TableKey(row.shard, row.table_id)))
        .values(status=int(Status.FINISHED), lobby_version=tables.c.lobby_version + 1, changed_at_ms=row.at_unix_ms)
    )
    connection.execute(
        sa.insert(game_results).values(
            shard=row.shard, table_id=row.table_id, result=row.result or b"", ended_at_ms=row.at_unix_ms
        )
    )
    return True


def find_command(connection: sa.Connection, key: TableKey, command_id: str) -> Looked:
    game = connection.execute(_GAME, _named(key)).one_or_none()
    if game is None:
        return Looked()
    found = connection.execute(_LOGGED, {**_named(key), "command_id": command_id}).one_or_none()
    if found is not None:
        logged: LoggedCommand | None = LoggedCommand(found.digest, found.first_seq, found.last_seq)
    else:
        logged = sql_archives.find_command(connection, key, command_id) if game.is_over else None
    return Looked(game.last_seq, game.holders_version, logged)


def load(connection: sa.Connection, key: TableKey) -> Game | None:
    """Order matters where each statement sees the newest: a log row that is newer than the table says is not read."""
    table = sql_tables.load(connection, key)
    if table is None:
        return None
    last_update = connection.execute(_UPDATE, {**_named(key), "seq": table.last_seq}).scalar()
    if last_update is None and table.last_seq:
        archived = sql_archives.read(connection, key, table.last_seq - 1, 1)
        return Game(table, archived[-1].update if archived else b"", 0)
    since = connection.execute(_SINCE_SNAPSHOT, _named(key)).scalar_one()
    return Game(table, last_update or b"", since)


def read_log(
    connection: sa.Connection, key: TableKey, after_seq: int, limit: int, with_secrets: bool
) -> tuple[list[LoggedUpdate], int]:
    last_seq = connection.execute(_GAME, _named(key)).scalar() or 0
    if after_seq >= last_seq:
        # The number may come from anybody, and be greater than the database can compare with.
        return [], last_seq
    wanted = {**_named(key), "after_seq": after_seq, "seq": last_seq, "most": limit}
    found = connection.execute(_LOG[with_secrets], wanted).all()
    updates = [LoggedUpdate(row.last_seq, row.update_bytes, row.secrets) for row in found]
    if not found or found[0].first_seq > after_seq + 1:
        # What is archived between the two statements is found by both.
        archived = sql_archives.read(connection, key, after_seq, limit, with_secrets)
        behind = archived[-1].last_seq if archived else after_seq
        updates = [*archived, *(update for update in updates if update.last_seq > behind)][:limit]
    return updates, last_seq


def load_snapshot(connection: sa.Connection, key: TableKey) -> tuple[int, bytes] | None:
    found = connection.execute(_SNAPSHOT, _named(key)).one_or_none()
    return sql_archives.load_snapshot(connection, key) if found is None else (found.seq, found.snapshot)


def list_live(
    connection: sa.Connection, shards: Sequence[int], after: tuple[int, str] | None, limit: int
) -> list[LiveGame]:
    return _live(connection, {"shards": tuple(shards)} if shards else {}, after, limit)


def list_quiet(connection: sa.Connection, before_ms: int, after: tuple[int, str] | None, limit: int) -> list[LiveGame]:
    return _live(connection, {"before_ms": before_ms}, after, limit)


def mark_published(connection: sa.Connection, marks: Sequence[tuple[TableKey, int]]) -> list[tuple[TableKey, int]]:
    """A game that is over leaves the live ones with its last mark. Returns the marks of games that others hold."""
    # A batch of commands holds several rows: waiting for one while holding others would be a deadlock some day.
    found = connection.execute(_FREE, {"keys": [(key.shard, key.table_id) for key, _ in marks]})
    free = {TableKey(row.shard, row.table_id) for row in found}
    taken = [{**_named(key), "seq": seq} for key, seq in marks if key in free]
    if taken:
        connection.execute(_MARK, taken)
    return [mark for mark in marks if mark[0] not in free]


def unpublished(
    connection: sa.Connection, before_ms: int, limit: int, after: tuple[int, str] | None, rows: int
) -> list[Unpublished]:
    found = connection.execute(_UNPUBLISHED, {**_from(after, rows), "before_ms": before_ms, "most": limit})
    return [Unpublished(row.shard, row.table_id, row.published_seq) for row in found]


def live_edge(connection: sa.Connection, after: tuple[int, str] | None, rows: int) -> tuple[int, str] | None:
    found = connection.execute(_LIVE_EDGE, _from(after, rows)).first()
    return None if found is None else (found.shard, found.table_id)


def _from(after: tuple[int, str] | None, rows: int) -> dict[str, Any]:
    shard, table_id = after or _BEFORE_ALL
    return {"of_shard": shard, "of_table": table_id, "rows": rows}


def commit_probe(connection: sa.Connection, shard: int, probe_id: str, now_ms: int) -> None:
    """The row is there from the beginning: a probe overwrites the one before."""
    connection.execute(_PROBE, {"of_shard": shard, "new_id": probe_id, "now_ms": now_ms})


def ping(connection: sa.Connection) -> None:
    connection.execute(sa.select(sa.literal(1)))


def _live(
    connection: sa.Connection, wanted: dict[str, Any], after: tuple[int, str] | None, limit: int
) -> list[LiveGame]:
    found: list[LiveGame] = []
    while len(found) < limit:
        place = {} if after is None else {"of_shard": after[0], "of_table": after[1]}
        query = _page(in_shards="shards" in wanted, quiet="before_ms" in wanted, after=bool(place))
        page = connection.execute(query, {**wanted, **place, "most": limit - len(found)}).all()
        found += [
            LiveGame(
                shard=row.shard,
                table_id=row.table_id,
                last_update=row.update_bytes,
                grace_ms=row.grace_ms,
                held_ms=row.held_ms,
                bot_levels=_bot_levels(row.bots),
            )
            for row in page
            if row.paused_at_ms is None
        ]
        if not page:
            break
        after = page[-1].shard, page[-1].table_id
    return found


def _bot_levels(bots: str | None) -> dict[int, str]:
    """Of `0=steady,3=bold`: the levels by seat."""
    pairs = (bot.split("=", 1) for bot in (bots or "").split(",") if bot)
    return {int(seat): level for seat, level in sorted(pairs)}


def _named(key: TableKey) -> dict[str, Any]:
    return {"of_shard": key.shard, "of_table": key.table_id}


def _is_table(of: sa.Table, key: TableKey) -> sa.ColumnElement[bool]:
    return sa.and_(of.c.shard == key.shard, of.c.table_id == key.table_id)


def _insert_log(connection: sa.Connection, row: LogRow) -> None:
    connection.execute(
        sa.insert(game_log).values(
            shard=row.shard,
            table_id=row.table_id,
            last_seq=row.last_seq,
            first_seq=row.first_seq,
            command_id=row.command_id,
            digest=row.digest,
            play_time_ms=row.play_time_ms,
            update_bytes=row.update,
            secrets=row.secrets,
        )
    )
    if row.snapshot is None:
        return
    key = TableKey(row.shard, row.table_id)
    connection.execute(sa.delete(game_snapshots).where(_is_table(game_snapshots, key)))
    connection.execute(
        sa.insert(game_snapshots).values(
            shard=row.shard, table_id=row.table_id, seq=row.last_seq, snapshot=row.snapshot
        )
    )
