"""The database of a simulated site: the shipped SQL on SQLite in memory, with the times and troubles of a server."""

from __future__ import annotations

import asyncio
import random
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar, cast

import sqlalchemy as sa

from services.clock.adapters import migrations as of_clock
from services.kit.migrations import upgrade
from services.table.adapters import migrations as of_table
from services.table.adapters import sql_games
from services.table.adapters.databases import unreachable
from services.table.adapters.sqlite_writer import Job, Writer, open_engine
from services.table.application.ports import LogRow
from tests.simulation.loop import NOBODY, VirtualLoop, world_loop
from tests.simulation.receipts import RECEIPT, Receipt

T = TypeVar("T")
Work = Callable[[sa.Connection], T]

QUICK_S = (0.0004, 0.002)
_AWAY_S = 0.05
_NEW_ROWS = "SELECT rowid, table_id, first_seq, play_time_ms, update_bytes FROM game_log WHERE rowid > ? ORDER BY rowid"


class _Disk:
    """One connection for all schedules of this process: what is compiled for it stays compiled."""

    def __init__(self) -> None:
        self.connection = open_engine("sqlite://").connect()
        self.raw = cast(sqlite3.Connection, self.connection.connection.driver_connection)
        self.writer = Writer(self.connection)
        asyncio.run(self._migrate())
        self._empty = self.raw.serialize()

    def clear(self) -> None:
        """As it was before the first schedule."""
        self.raw.deserialize(self._empty)

    async def _migrate(self) -> None:
        for part in (of_table, of_clock):
            await upgrade(self._run, versions=part.VERSIONS, version_table=part.VERSION_TABLE)

    async def _run(self, work: Work[None]) -> None:
        self.raw.execute("BEGIN IMMEDIATE")
        work(self.connection)
        self.raw.execute("COMMIT")


@lru_cache(maxsize=1)
def open_disk() -> _Disk:
    """The one of this process; to be called outside of any loop."""
    return _Disk()


@dataclass(frozen=True, slots=True)
class Logged:
    """A row of the log of a game, when it was committed, and the call that brought it; times of the world."""

    table_id: str
    first_seq: int
    play_time_ms: int
    update: bytes
    committed_s: float
    receipt: Receipt | None


class Server:
    """What all processes store their things in. `commit_s`: the bounds of the time that a commit takes."""

    def __init__(self, loop: VirtualLoop, rng: random.Random) -> None:
        self.loop = loop
        self.is_away = False
        self.commit_s = QUICK_S
        self.log: list[Logged] = []
        self._rng = rng
        self._last_row = 0
        self._disk = open_disk()
        self._disk.clear()

    def slow(self, bounds_s: tuple[float, float] | None) -> None:
        """Commits take so long from now on; None: as long as usual."""
        self.commit_s = bounds_s or QUICK_S

    def submit(self, job: Job, *, reads: bool) -> None:
        """Does a job a little later and answers a little later again; while it is away it fails, done or not."""
        low, high = QUICK_S if reads else self.commit_s
        whole = self._rng.uniform(low, high)
        before = whole * self._rng.random()
        self.loop.call_later(before, self._do, job, whole - before, None if reads else RECEIPT.get(), context=NOBODY)

    def look(self, statement: str) -> list[Any]:
        """Reads at once, beside all processes."""
        return self._disk.raw.execute(statement).fetchall()

    def _do(self, job: Job, after_s: float, receipt: Receipt | None) -> None:
        if self.is_away:
            self._fail(job)
            return
        self._disk.writer.commit([job])
        self._note(receipt)
        self.loop.call_later(after_s, self._done, job, context=NOBODY)

    def _note(self, receipt: Receipt | None) -> None:
        rows = self._disk.raw.execute(_NEW_ROWS, (self._last_row,)).fetchall()
        for row_id, table_id, first_seq, play_time_ms, update in rows:
            self._last_row = row_id
            self.log.append(Logged(table_id, first_seq, play_time_ms, update, self.loop.now_s, receipt))

    def _done(self, job: Job) -> None:
        # Who is told of a failure does not know whether it is done.
        if self.is_away:
            self._fail(job)
        else:
            _answer(job)

    def _fail(self, job: Job) -> None:
        job.error = unreachable(ConnectionError("the store is away"))
        self.loop.call_later(_AWAY_S, _answer, job, context=NOBODY)


class TableDatabase:
    """`Database` of the table service."""

    def __init__(self, server: Server) -> None:
        self._server = server

    async def start(self) -> None:
        """Its tables are there."""

    async def read(self, work: Work[T]) -> T:
        return await self._ask(work, reads=True)

    async def write(self, work: Work[T]) -> T:
        return await self._ask(work, reads=False)

    async def commit_probe(self, shard: int, probe_id: str, now_ms: int) -> None:
        await self.write(lambda connection: sql_games.commit_probe(connection, shard, probe_id, now_ms))

    def append(self, row: LogRow) -> asyncio.Future[bool]:
        job = Job(self._server.loop.create_future(), row=row)
        self._server.submit(job, reads=False)
        return job.future

    async def close(self) -> None:
        """Nothing was opened."""

    async def _ask(self, work: Work[T], *, reads: bool) -> T:
        job = Job(self._server.loop.create_future(), work=work)
        self._server.submit(job, reads=reads)
        return cast(T, await asyncio.shield(job.future))


class ClockDatabase:
    """`Database` of the clock."""

    def __init__(self, server: Server) -> None:
        self._server = server

    async def run(self, work: Work[T]) -> T:
        job = Job(world_loop().create_future(), work=work)
        self._server.submit(job, reads=False)
        return cast(T, await asyncio.shield(job.future))

    async def close(self) -> None:
        """Nothing was opened."""


def _answer(job: Job) -> None:
    future: asyncio.Future[Any] = job.future
    if future.done():
        return
    if job.error is not None:
        future.set_exception(job.error)
        # Who asked may be dead.
        future.exception()
    else:
        future.set_result(job.answer)
