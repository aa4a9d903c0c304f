"""SQL of what has ended: games packed away part by part, read back, and at last forgotten.

A command is in `game_log` or in `game_archives`, never in both and never in neither: each part moves in one
transaction. Who looks into the log first and into the archive after that finds every command.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from magnate.table.v1 import archive_pb2

from services.table.adapters.schema import game_archives, game_log, game_results, game_snapshots, games, seats, tables
from services.table.application.ports import LoggedCommand, LoggedUpdate, TableKey
from services.table.application.retention import Archived
from services.table.domain.table import Status

# Commands of one part: a few milliseconds to pack, less than one to unpack.
_PART = 64


def archive_step(connection: sa.Connection, ended_before_ms: int, now_ms: int) -> Archived | None:
    """See `Retention.archive_step`."""
    found = _next_ended(connection, ended_before_ms)
    if found is None:
        return None
    key, status = TableKey(found.shard, found.table_id), Status(found.status)
    if status == Status.EXPIRED and not found.last_seq:
        _delete(connection, [key])
        return Archived(key.table_id, 0, is_whole=True)
    rows = connection.execute(
        sa.select(game_log).where(_is_table(game_log, key)).order_by(game_log.c.last_seq).limit(_PART)
    ).all()
    is_whole = not rows or rows[-1].last_seq >= found.last_seq
    if is_whole:
        connection.execute(sa.update(game_results).where(_is_table(game_results, key)).values(archived_at_ms=now_ms))
    if not rows:
        return Archived(key.table_id, 0, is_whole)
    part = archive_pb2.ArchivedPart(commands=[_command(row) for row in rows])
    if is_whole:
        _take_snapshot(connection, key, part)
    connection.execute(
        sa.insert(game_archives).values(
            shard=key.shard,
            table_id=key.table_id,
            first_seq=part.commands[0].first_seq,
            last_seq=part.commands[-1].last_seq,
            packed=zlib.compress(part.SerializeToString()),
        )
    )
    moved = sa.and_(_is_table(game_log, key), game_log.c.last_seq <= part.commands[-1].last_seq)
    connection.execute(sa.delete(game_log).where(moved))
    return Archived(key.table_id, len(part.commands), is_whole)


def forget(connection: sa.Connection, archived_before_ms: int, limit: int) -> int:
    """See `Retention.forget`."""
    found = connection.execute(
        sa.select(game_results.c.shard, game_results.c.table_id)
        .where(game_results.c.archived_at_ms < archived_before_ms)
        .order_by(game_results.c.archived_at_ms)
        .limit(limit)
        .with_for_update(skip_locked=True)
    ).all()
    _delete(connection, [TableKey(row.shard, row.table_id) for row in found])
    return len(found)


def read(
    connection: sa.Connection, key: TableKey, after_seq: int, limit: int, with_secrets: bool = False
) -> list[LoggedUpdate]:
    """Archived commands whose last event is after this number."""
    updates: list[LoggedUpdate] = []
    for part in _parts(connection, key, after_seq):
        updates += [
            LoggedUpdate(command.last_seq, command.update, command.secrets if with_secrets else b"")
            for command in part.commands
            if command.last_seq > after_seq
        ]
        if len(updates) >= limit:
            break
    return updates[:limit]


def find_command(connection: sa.Connection, key: TableKey, command_id: str) -> LoggedCommand | None:
    """The archived command of this id."""
    for part in _parts(connection, key, 0):
        for command in part.commands:
            if command.command_id == command_id:
                return LoggedCommand(command.digest, command.first_seq, command.last_seq)
    return None


def load_snapshot(connection: sa.Connection, key: TableKey) -> tuple[int, bytes] | None:
    """The archived snapshot with the number of its last event."""
    packed = connection.execute(
        sa.select(game_archives.c.packed)
        .where(_is_table(game_archives, key))
        .order_by(game_archives.c.last_seq.desc())
        .limit(1)
    ).scalar()
    part = archive_pb2.ArchivedPart() if packed is None else _unpacked(packed)
    return (part.snapshot_seq, part.snapshot) if part.snapshot_seq else None


def _next_ended(connection: sa.Connection, ended_before_ms: int) -> sa.Row[int, str, int, int] | None:
    """The table that ended first of those that are published, not archived, and not in another replica's hands."""
    return connection.execute(
        sa.select(game_results.c.shard, game_results.c.table_id, tables.c.status, games.c.last_seq)
        .join(games, _same_table(games, game_results))
        .join(tables, _same_table(tables, game_results))
        .where(
            game_results.c.archived_at_ms.is_(None),
            game_results.c.ended_at_ms < ended_before_ms,
            sa.not_(games.c.is_live),
            tables.c.published_version >= tables.c.lobby_version,
        )
        .order_by(game_results.c.ended_at_ms)
        .limit(1)
        .with_for_update(of=game_results, skip_locked=True)
    ).one_or_none()


def _take_snapshot(connection: sa.Connection, key: TableKey, part: archive_pb2.ArchivedPart) -> None:
    found = connection.execute(
        sa.select(game_snapshots.c.seq, game_snapshots.c.snapshot).where(_is_table(game_snapshots, key))
    ).one_or_none()
    if found is not None:
        part.snapshot_seq, part.snapshot = found.seq, found.snapshot
        connection.execute(sa.delete(game_snapshots).where(_is_table(game_snapshots, key)))


def _delete(connection: sa.Connection, keys: list[TableKey]) -> None:
    if not keys:
        return
    wanted = [(key.shard, key.table_id) for key in keys]
    for of in (game_archives, game_log, game_snapshots, seats, games, tables, game_results):
        connection.execute(sa.delete(of).where(sa.tuple_(of.c.shard, of.c.table_id).in_(wanted)))


def _parts(connection: sa.Connection, key: TableKey, after_seq: int) -> Iterator[archive_pb2.ArchivedPart]:
    """One after the other, for a whole game may be large."""
    while True:
        found = connection.execute(
            sa.select(game_archives.c.last_seq, game_archives.c.packed)
            .where(_is_table(game_archives, key), game_archives.c.last_seq > after_seq)
            .order_by(game_archives.c.last_seq)
            .limit(1)
        ).one_or_none()
        if found is None:
            return
        yield _unpacked(found.packed)
        after_seq = found.last_seq


def _unpacked(packed: bytes) -> archive_pb2.ArchivedPart:
    return archive_pb2.ArchivedPart.FromString(zlib.decompress(packed))


def _command(row: sa.Row[Any]) -> archive_pb2.ArchivedCommand:
    return archive_pb2.ArchivedCommand(
        first_seq=row.first_seq,
        last_seq=row.last_seq,
        command_id=row.command_id,
        digest=row.digest,
        play_time_ms=row.play_time_ms,
        update=row.update_bytes,
        secrets=row.secrets,
    )


def _is_table(of: sa.Table, key: TableKey) -> sa.ColumnElement[bool]:
    return sa.and_(of.c.shard == key.shard, of.c.table_id == key.table_id)


def _same_table(one: sa.Table, other: sa.Table) -> sa.ColumnElement[bool]:
    return sa.and_(one.c.shard == other.c.shard, one.c.table_id == other.c.table_id)
