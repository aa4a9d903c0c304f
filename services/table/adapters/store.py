"""The store over either database: one set of statements, of which only the append of a command differs."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from services.table.adapters import (
    sql_admin,
    sql_archives,
    sql_games,
    sql_histories,
    sql_idle,
    sql_sessions,
    sql_tables,
)
from services.table.adapters.databases import Database
from services.table.adapters.postgres import PostgresDatabase
from services.table.adapters.sqlite import SqliteDatabase
from services.table.application.audit import AuditEntry, Marks
from services.table.application.ports import (
    LIVE_ROWS,
    Game,
    LiveGame,
    LoggedUpdate,
    LogRow,
    Looked,
    Sweep,
    TableKey,
    Unpublished,
    Wall,
)
from services.table.application.retention import Archived, IdleGame
from services.table.domain.session import Session
from services.table.domain.table import Table


def open_database(url: str) -> Database:
    """`sqlite:///PATH` or `postgresql://...`; not connected yet."""
    return SqliteDatabase(url) if url.startswith("sqlite:") else PostgresDatabase(url)


class SqlStore:
    """See `ports.Store`."""

    def __init__(self, database: Database, wall: Wall) -> None:
        self._database = database
        self._wall = wall
        self._history_id = ""

    async def start(self) -> None:
        """Connects and migrates. ServiceError `unreachable`."""
        await self._database.start()
        await self.check_history()

    @property
    def history_id(self) -> str:
        return self._history_id

    async def check_history(self) -> bool:
        found = await self._database.read(sql_histories.current)
        before, self._history_id = self._history_id, found
        return before != found

    async def close(self) -> None:
        await self._database.close()

    async def ping(self) -> None:
        """ServiceError `unreachable` when the store does not answer."""
        await self._database.read(sql_games.ping)

    # Commands and the log

    def append(self, row: LogRow) -> asyncio.Future[bool]:
        if row.result is None and row.audit is None:
            return self._database.append(row)
        return asyncio.ensure_future(self._database.write(lambda c: sql_admin.append(c, row)))

    async def find_command(self, key: TableKey, command_id: str) -> Looked:
        return await self._database.read(lambda c: sql_games.find_command(c, key, command_id))

    async def load_game(self, key: TableKey) -> Game | None:
        return await self._database.read(lambda c: sql_games.load(c, key))

    async def read_log(
        self, key: TableKey, after_seq: int, limit: int, *, with_secrets: bool = False
    ) -> tuple[list[LoggedUpdate], int]:
        return await self._database.read(lambda c: sql_games.read_log(c, key, after_seq, limit, with_secrets))

    async def load_snapshot(self, key: TableKey) -> tuple[int, bytes] | None:
        return await self._database.read(lambda c: sql_games.load_snapshot(c, key))

    async def start_game(self, table: Table, row: LogRow) -> bool:
        return await self._database.write(lambda c: sql_games.start(c, table, row))

    async def list_live(self, shards: Sequence[int], after: tuple[int, str] | None, limit: int) -> list[LiveGame]:
        return await self._database.read(lambda c: sql_games.list_live(c, shards, after, limit))

    async def list_quiet(self, before_ms: int, after: tuple[int, str] | None, limit: int) -> list[LiveGame]:
        return await self._database.read(lambda c: sql_games.list_quiet(c, before_ms, after, limit))

    async def mark_published(self, marks: Sequence[tuple[TableKey, int]]) -> list[tuple[TableKey, int]]:
        return await self._database.write(lambda c: sql_games.mark_published(c, marks))

    async def unpublished(
        self, before_ms: int, limit: int, *, after: tuple[int, str] | None = None, rows: int = LIVE_ROWS
    ) -> list[Unpublished]:
        return await self._database.read(lambda c: sql_games.unpublished(c, before_ms, limit, after, rows))

    async def live_edge(self, after: tuple[int, str] | None, rows: int = LIVE_ROWS) -> tuple[int, str] | None:
        return await self._database.read(lambda c: sql_games.live_edge(c, after, rows))

    async def commit_probe(self, shard: int, probe_id: str, now_ms: int) -> None:
        await self._database.commit_probe(shard, probe_id, now_ms)

    # Tables

    async def load_table(self, key: TableKey) -> Table | None:
        return await self._database.read(lambda c: sql_tables.load(c, key))

    async def create_table(self, table: Table) -> bool:
        return await self._database.write(lambda c: sql_tables.create(c, table))

    async def save_table(self, table: Table) -> bool:
        return await self._database.write(lambda c: sql_tables.save(c, table, self._wall.unix_ms()))

    async def list_open(self, edition: str, before: tuple[int, str] | None, limit: int) -> list[Table]:
        return await self._database.read(lambda c: sql_tables.list_open(c, edition, before, limit))

    async def list_held(self, session_id: str, before: tuple[int, str] | None, limit: int) -> list[Table]:
        return await self._database.read(lambda c: sql_tables.list_held(c, session_id, before, limit))

    async def touch(self, seen: Sequence[tuple[TableKey, str]], now_ms: int) -> list[TableKey]:
        return await self._database.write(lambda c: sql_tables.touch(c, seen, now_ms))

    async def mark_absent(self, sweep: Sweep, limit: int) -> list[TableKey]:
        return await self._database.write(lambda c: sql_tables.mark_absent(c, sweep, limit))

    async def abandoned(self, sweep: Sweep, limit: int) -> list[Table]:
        return await self._database.read(lambda c: sql_tables.abandoned(c, sweep, limit))

    async def mark_lobby_published(self, marks: Sequence[tuple[TableKey, int]]) -> None:
        await self._database.write(lambda c: sql_tables.mark_published(c, marks))

    async def unpublished_lobbies(self, before_ms: int, limit: int) -> list[Table]:
        return await self._database.read(lambda c: sql_tables.unpublished(c, before_ms, limit))

    # What has ended

    async def archive_step(self, ended_before_ms: int, now_ms: int) -> Archived | None:
        return await self._database.write(lambda c: sql_archives.archive_step(c, ended_before_ms, now_ms))

    async def forget(self, archived_before_ms: int, limit: int) -> int:
        return await self._database.write(lambda c: sql_archives.forget(c, archived_before_ms, limit))

    async def list_idle(self, before_ms: int, after: tuple[int, str] | None, limit: int) -> list[IdleGame]:
        return await self._database.read(lambda c: sql_idle.list_idle(c, before_ms, after, limit))

    async def abandon_game(self, table: Table) -> bool:
        return await self._database.write(lambda c: sql_idle.abandon(c, table, self._wall.unix_ms()))

    # Administration

    async def record(self, entry: AuditEntry) -> None:
        await self._database.write(lambda c: sql_admin.record(c, entry))

    async def list_audit(self, table_id: str, before: tuple[int, str] | None, limit: int) -> list[AuditEntry]:
        return await self._database.read(lambda c: sql_admin.list_audit(c, table_id, before, limit))

    async def save_audited(self, table: Table, entry: AuditEntry, snapshot: tuple[int, bytes] | None = None) -> bool:
        return await self._database.write(lambda c: sql_admin.save(c, table, entry, snapshot, self._wall.unix_ms()))

    async def load_marks(self, table: Table) -> Marks:
        return await self._database.read(lambda c: sql_admin.load_marks(c, TableKey(table.shard, table.table_id)))

    async def forget_player(self, shard: int, session_id: str, entry: AuditEntry) -> list[Table] | None:
        now_ms = self._wall.unix_ms()
        return await self._database.write(lambda c: sql_admin.forget_player(c, shard, session_id, entry, now_ms))

    async def count_stopped(self) -> tuple[int, int]:
        return await self._database.read(sql_admin.count_stopped)

    # Sessions

    async def create_session(self, session: Session) -> None:
        await self._database.write(lambda c: sql_sessions.create(c, session))

    async def load_session(self, shard: int, session_id: str) -> Session | None:
        return await self._database.read(lambda c: sql_sessions.load(c, shard, session_id))

    async def rotate_session(self, session: Session, old_hash: bytes) -> bool:
        return await self._database.write(lambda c: sql_sessions.rotate(c, session, old_hash))

    async def delete_session(self, session: Session) -> None:
        await self._database.write(lambda c: sql_sessions.delete(c, session))

    async def delete_expired_sessions(self, now_ms: int, limit: int) -> int:
        return await self._database.write(lambda c: sql_sessions.delete_expired(c, now_ms, limit))
