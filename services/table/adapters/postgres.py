"""Postgres: commands as one statement over asyncpg, many in one when many wait; the rest through SQLAlchemy."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import Any, TypeVar

import asyncpg
import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from services.kit.errors import ServiceError
from services.kit.gathering import all_succeed
from services.kit.logs import get_log
from services.kit.migrations import upgrade
from services.kit.postgres import dsn_of, open_engine
from services.table.adapters.databases import Work, unreachable
from services.table.adapters.migrations import VERSION_TABLE, VERSIONS
from services.table.application.ports import LogRow

T = TypeVar("T")

_log = get_log(__name__)
_LIMIT_S = 5.0
_MAX_BATCH = 64
# The driver's internal error is what a connection gives that was lost at the wrong moment.
_TROUBLE = (
    SQLAlchemyError,
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    OSError,
    TimeoutError,
)

# One statement, one round trip, one commit: the version guards, then the rows whose guard held. A command id that is
# in the log already cannot pass, for whoever put it there has moved the version on.
_APPEND = """
    WITH input AS (
        SELECT * FROM unnest(
            $1::smallint[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::bytea[],
            $8::bigint[], $9::bytea[], $10::bytea[], $11::bigint[], $12::bytea[], $13::text[]
        ) AS i (
            shard, table_id, first_seq, last_seq, holders_version, command_id, digest,
            play_time_ms, update_bytes, secrets, at_ms, snapshot, history_id
        )
    ), moved AS (
        UPDATE games g SET last_seq = i.last_seq, changed_at_ms = i.at_ms
        FROM input i
        WHERE g.shard = i.shard AND g.table_id = i.table_id
            AND g.last_seq = i.first_seq - 1 AND g.holders_version = i.holders_version
            AND EXISTS (SELECT 1 FROM histories h WHERE h.history_id = i.history_id OR i.history_id = '')
            AND NOT EXISTS (
                SELECT 1 FROM game_log l
                WHERE l.shard = i.shard AND l.table_id = i.table_id AND l.command_id = i.command_id
            )
        RETURNING g.shard, g.table_id
    ), logged AS (
        INSERT INTO game_log
            (shard, table_id, first_seq, last_seq, command_id, digest, play_time_ms, update_bytes, secrets)
        SELECT i.shard, i.table_id, i.first_seq, i.last_seq, i.command_id, i.digest, i.play_time_ms,
            i.update_bytes, i.secrets
        FROM input i JOIN moved m ON m.shard = i.shard AND m.table_id = i.table_id
    ), kept AS (
        INSERT INTO game_snapshots (shard, table_id, seq, snapshot)
        SELECT i.shard, i.table_id, i.last_seq, i.snapshot
        FROM input i JOIN moved m ON m.shard = i.shard AND m.table_id = i.table_id
        WHERE i.snapshot IS NOT NULL
        ON CONFLICT (shard, table_id) DO UPDATE SET seq = excluded.seq, snapshot = excluded.snapshot
    )
    SELECT table_id FROM moved
"""

# The row is there from the beginning: a probe overwrites the one before.
_PROBE = "UPDATE probes SET probe_id = $2, at_ms = $3 WHERE shard = $1::smallint"
_NOTHING = sa.select(sa.literal(1))


class PostgresDatabase:
    """Database over a server: a pool for commands, another one for the rest."""

    def __init__(self, url: str, *, hot_connections: int = 4, connections: int = 8) -> None:
        self._dsn = dsn_of(url)
        self._hot_connections = self._free = hot_connections
        self._pool: asyncpg.Pool | None = None
        self._waiting: deque[tuple[LogRow, asyncio.Future[bool]]] = deque()
        self._batches: set[asyncio.Task[None]] = set()
        self._engine = open_engine(
            url,
            connect={"timeout": _LIMIT_S, "command_timeout": _LIMIT_S},
            pool_size=connections,
            max_overflow=0,
            pool_pre_ping=True,
            pool_timeout=_LIMIT_S,
        )

    async def start(self) -> None:
        try:
            self._pool = await asyncpg.create_pool(
                self._dsn, min_size=1, max_size=self._hot_connections, timeout=_LIMIT_S, command_timeout=_LIMIT_S
            )
        except _TROUBLE as error:
            raise unreachable(error) from None
        await upgrade(self.write, versions=VERSIONS, version_table=VERSION_TABLE)

    async def read(self, work: Work[T]) -> T:
        return await self.write(work)

    async def write(self, work: Work[T]) -> T:
        try:
            async with self._engine.begin() as connection:
                return await connection.run_sync(work)
        except _TROUBLE as error:
            raise unreachable(error) from None

    def append(self, row: LogRow) -> asyncio.Future[bool]:
        future: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.append((row, future))
        if self._free:
            # Counted here and where the work ends: the task itself is done a moment later.
            self._free -= 1
            task = asyncio.create_task(self._work_off())
            self._batches.add(task)
            task.add_done_callback(self._batches.discard)
        return future

    async def commit_probe(self, shard: int, probe_id: str, now_ms: int) -> None:
        # Commands read over the other pool, which may still wait for what a stop of the server has left hanging.
        await all_succeed(self._commit_probe(shard, probe_id, now_ms), self.read(_look))

    async def _commit_probe(self, shard: int, probe_id: str, now_ms: int) -> None:
        try:
            if self._pool is None:
                raise OSError("the store is not open")
            await self._pool.execute(_PROBE, shard, probe_id, now_ms)
        except _TROUBLE as error:
            raise unreachable(error) from None

    async def close(self) -> None:
        if self._batches:
            await asyncio.wait(set(self._batches))
        if self._pool is not None:
            await self._pool.close()
        await self._engine.dispose()

    async def _work_off(self) -> None:
        """Appends what waits; what comes meanwhile waits for the next round and travels together."""
        try:
            while self._waiting:
                await self._work_off_batch(self._take())
        finally:
            self._free += 1

    async def _work_off_batch(self, batch: Sequence[tuple[LogRow, asyncio.Future[bool]]]) -> None:
        try:
            await self._append_batch(batch)
        except Exception as error:
            # Whatever it is: a table whose command waits takes no other one.
            _log.exception("append_broken", error, rows=len(batch))
            for _, future in batch:
                _settle(future, unreachable(error))

    async def _append_batch(self, batch: Sequence[tuple[LogRow, asyncio.Future[bool]]]) -> None:
        try:
            done = await self._append([row for row, _ in batch])
            for row, future in batch:
                _settle(future, row.table_id in done)
        except asyncpg.PostgresError as error:
            # One row, or another replica's order of locks, must not fail the others. What is done all the same, when
            # the connection broke after the commit, fails its guard now and is found by its command id.
            await self._one_by_one(batch, error)
        except _TROUBLE as error:
            _log.warning("append_failed", error=type(error).__name__, rows=len(batch))
            for _, future in batch:
                _settle(future, unreachable(error))

    def _take(self) -> list[tuple[LogRow, asyncio.Future[bool]]]:
        """The next rows for one statement: it does not see its own rows, so no table may be in it twice."""
        batch: dict[str, tuple[LogRow, asyncio.Future[bool]]] = {}
        while self._waiting and len(batch) < _MAX_BATCH and self._waiting[0][0].table_id not in batch:
            waiting = self._waiting.popleft()
            batch[waiting[0].table_id] = waiting
        # Rows are locked in one order everywhere, so that replicas do not wait for each other in a circle.
        return sorted(batch.values(), key=lambda waiting: (waiting[0].shard, waiting[0].table_id))

    async def _one_by_one(
        self, batch: Sequence[tuple[LogRow, asyncio.Future[bool]]], first: asyncpg.PostgresError
    ) -> None:
        _log.warning("append_retried", error=type(first).__name__, rows=len(batch))
        for row, future in batch:
            try:
                _settle(future, bool(await self._append([row])))
            except _TROUBLE as error:
                _settle(future, unreachable(error))

    async def _append(self, rows: Sequence[LogRow]) -> set[str]:
        if self._pool is None:
            raise OSError("the store is not open")
        columns = zip(*(_values(row) for row in rows), strict=True)
        found = await self._pool.fetch(_APPEND, *(list(column) for column in columns))
        return {record[0] for record in found}


def _look(connection: sa.Connection) -> None:
    connection.execute(_NOTHING)


def _values(row: LogRow) -> tuple[Any, ...]:
    return (
        row.shard,
        row.table_id,
        row.first_seq,
        row.last_seq,
        row.holders_version,
        row.command_id,
        row.digest,
        row.play_time_ms,
        row.update,
        row.secrets,
        row.at_unix_ms,
        row.snapshot,
        row.history_id,
    )


def _settle(future: asyncio.Future[bool], result: bool | ServiceError) -> None:
    if future.done():
        return
    if isinstance(result, ServiceError):
        future.set_exception(result)
    else:
        future.set_result(result)
