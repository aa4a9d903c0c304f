"""SQLite: one thread writes, one reads. All that waits for the writer is committed together, with a full sync."""

from __future__ import annotations

import asyncio
import queue
import sqlite3
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar, cast

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from services.kit.logs import get_log
from services.kit.migrations import upgrade
from services.table.adapters.databases import Work, unreachable
from services.table.adapters.migrations import VERSION_TABLE, VERSIONS
from services.table.application.ports import LogRow

T = TypeVar("T")

_log = get_log(__name__)
_LOCK_LIMIT_S = 5.0
_MAX_JOBS = 256
_SWITCH_S = 0.0005
# Rows of one INSERT; each has this many parameters, of which SQLite allows 999 at least.
_MAX_ROWS = 64
_TROUBLE = (SQLAlchemyError, sqlite3.Error)


@dataclass(slots=True)
class _Job:
    """A row to append or work to do, and where the answer goes."""

    future: asyncio.Future[Any]
    row: LogRow | None = None
    work: Work[Any] | None = None
    answer: Any = None
    error: BaseException | None = None


class SqliteDatabase:
    """Database over one file."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._writer: threading.Thread | None = None
        self._reader = ThreadPoolExecutor(max_workers=1, thread_name_prefix="table-reader")
        self._read_engine = _engine(url)

    async def start(self) -> None:
        # A busy loop gives the interpreter up to the writer only when asked, by default after 5 ms, and a commit has
        # to ask four times.
        sys.setswitchinterval(min(sys.getswitchinterval(), _SWITCH_S))
        path = sa.make_url(self._url).database
        if path:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
        opened: Future[None] = Future()
        self._writer = threading.Thread(target=self._run, args=(opened,), name="table-writer", daemon=True)
        self._writer.start()
        await asyncio.wrap_future(opened)
        await upgrade(self.write, versions=VERSIONS, version_table=VERSION_TABLE)

    async def read(self, work: Work[T]) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._reader, self._read, work)
        except _TROUBLE as error:
            raise unreachable(error) from None

    async def write(self, work: Work[T]) -> T:
        job = _Job(asyncio.get_running_loop().create_future(), work=work)
        self._jobs.put(job)
        # What has begun is finished, also when nobody waits for it any more.
        return cast(T, await asyncio.shield(job.future))

    def append(self, row: LogRow) -> asyncio.Future[bool]:
        job = _Job(asyncio.get_running_loop().create_future(), row=row)
        self._jobs.put(job)
        return job.future

    async def close(self) -> None:
        if self._writer is not None:
            self._jobs.put(None)
            await asyncio.get_running_loop().run_in_executor(None, self._writer.join)
        await asyncio.get_running_loop().run_in_executor(self._reader, self._read_engine.dispose)
        self._reader.shutdown()

    def _read(self, work: Work[T]) -> T:
        with self._read_engine.connect() as connection:
            return work(connection)

    def _run(self, opened: Future[None]) -> None:
        engine = _engine(self._url)
        try:
            connection = engine.connect()
        except _TROUBLE as error:
            # No database, or none that may be opened: whoever starts us must not wait for a writer that is not there.
            opened.set_exception(unreachable(error))
            return
        with connection:
            opened.set_result(None)
            writer = _Writer(connection)
            while True:
                jobs, is_last = self._take()
                if jobs:
                    writer.commit(jobs)
                    loop = jobs[0].future.get_loop()
                    if not loop.is_closed():
                        loop.call_soon_threadsafe(_answer, jobs)
                if is_last:
                    break
        engine.dispose()

    def _take(self) -> tuple[list[_Job], bool]:
        """Waits for a job and takes all that wait with it; true when the end has been ordered."""
        jobs: list[_Job] = []
        item = self._jobs.get()
        while item is not None:
            jobs.append(item)
            if len(jobs) >= _MAX_JOBS or self._jobs.empty():
                return jobs, False
            item = self._jobs.get()
        return jobs, True


class _Writer:
    """Does a batch of jobs in one transaction. A job's failure rolls back its own work alone."""

    def __init__(self, connection: sa.Connection) -> None:
        self._connection = connection
        self._raw = cast(sqlite3.Connection, connection.connection.driver_connection)

    def commit(self, jobs: Sequence[_Job]) -> None:
        rows = [job for job in jobs if job.row is not None]
        try:
            self._raw.execute("BEGIN IMMEDIATE")
            for job in jobs:
                if job.work is not None:
                    self._work(job, job.work)
            for some in _apart(rows):
                self._append(some)
            self._raw.execute("COMMIT")
        except BaseException as error:
            _log.error("commit_failed", error=repr(error), jobs=len(jobs))
            if self._raw.in_transaction:
                # If not even this succeeds, no later batch can begin, and each tries it again.
                with suppress(sqlite3.Error):
                    self._raw.execute("ROLLBACK")
            for job in jobs:
                job.error = job.error or unreachable(error)

    def _work(self, job: _Job, work: Work[Any]) -> None:
        self._raw.execute("SAVEPOINT job")
        try:
            job.answer = work(self._connection)
            self._raw.execute("RELEASE job")
        except Exception as error:
            self._raw.execute("ROLLBACK TO job")
            self._raw.execute("RELEASE job")
            job.error = unreachable(error) if isinstance(error, _TROUBLE) else error

    def _append(self, jobs: Sequence[_Job]) -> None:
        """All rows by one statement each for guard and log: every call that releases the interpreter's lock may wait
        for a busy loop to get it back. Where a guard fails, each row is tried for itself."""
        rows = [job.row for job in jobs if job.row is not None]
        if len(rows) == 1:
            jobs[0].answer = self._move(rows) == 1
            stored = rows if jobs[0].answer else []
        else:
            self._raw.execute("SAVEPOINT rows")
            if self._move(rows) == len(rows):
                stored = rows
            else:
                self._raw.execute("ROLLBACK TO rows")
                stored = [row for row in rows if self._move([row]) == 1]
            self._raw.execute("RELEASE rows")
            done = {row.table_id for row in stored}
            for job in jobs:
                job.answer = job.row is not None and job.row.table_id in done
        if stored:
            self._log(stored)

    def _move(self, rows: Sequence[LogRow]) -> int:
        """How many of the tables stood where the command found them, and have moved on."""
        values: list[object] = []
        for row in rows:
            values += (
                row.shard,
                row.table_id,
                row.first_seq - 1,
                row.last_seq,
                row.holders_version,
                row.command_id,
                row.at_unix_ms,
            )
        return self._raw.execute(_move_statement(len(rows)), values).rowcount

    def _log(self, rows: Sequence[LogRow]) -> None:
        values: list[object] = []
        for row in rows:
            values += (
                row.shard,
                row.table_id,
                row.first_seq,
                row.last_seq,
                row.command_id,
                row.digest,
                row.play_time_ms,
                row.update,
                row.secrets,
            )
        self._raw.execute(_log_statement(len(rows)), values)
        snapshots = [(row.shard, row.table_id, row.last_seq, row.snapshot) for row in rows if row.snapshot is not None]
        if snapshots:
            self._raw.executemany(
                "INSERT OR REPLACE INTO game_snapshots (shard, table_id, seq, snapshot) VALUES (?, ?, ?, ?)", snapshots
            )


def _apart(jobs: Sequence[_Job]) -> list[list[_Job]]:
    """The jobs for one statement each: a statement does not see its own rows, so no table may be in it twice."""
    statements: list[list[_Job]] = []
    seen: set[str] = set()
    for job in jobs:
        table_id = job.row.table_id if job.row is not None else ""
        if not statements or table_id in seen or len(statements[-1]) >= _MAX_ROWS:
            statements.append([])
            seen = set()
        statements[-1].append(job)
        seen.add(table_id)
    return statements


@lru_cache(maxsize=_MAX_ROWS)
def _move_statement(count: int) -> str:
    """Rows whose table stands where the command found it, and whose command is new."""
    return f"""
        UPDATE games SET last_seq = i.last_seq, changed_at_ms = i.at_ms
        FROM (
            SELECT column1 AS shard, column2 AS table_id, column3 AS before_seq, column4 AS last_seq,
                column5 AS holders_version, column6 AS command_id, column7 AS at_ms
            FROM (VALUES {_places(7, count)})
        ) AS i
        WHERE games.shard = i.shard AND games.table_id = i.table_id
            AND games.last_seq = i.before_seq AND games.holders_version = i.holders_version
            AND NOT EXISTS (
                SELECT 1 FROM game_log l
                WHERE l.shard = i.shard AND l.table_id = i.table_id AND l.command_id = i.command_id
            )
    """


@lru_cache(maxsize=_MAX_ROWS)
def _log_statement(count: int) -> str:
    return f"""
        INSERT INTO game_log
            (shard, table_id, first_seq, last_seq, command_id, digest, play_time_ms, update_bytes, secrets)
        VALUES {_places(9, count)}
    """


def _places(columns: int, rows: int) -> str:
    one = "(" + ", ".join("?" * columns) + ")"
    return ", ".join([one] * rows)


def _answer(jobs: Sequence[_Job]) -> None:
    for job in jobs:
        if job.future.done():
            continue
        if job.error is not None:
            job.future.set_exception(job.error)
        else:
            job.future.set_result(job.answer)


def _engine(url: str) -> sa.Engine:
    """One connection, whose transactions we begin and end ourselves."""
    engine = sa.create_engine(
        url,
        poolclass=sa.pool.StaticPool,
        isolation_level="AUTOCOMMIT",
        connect_args={"timeout": _LOCK_LIMIT_S, "check_same_thread": False, "cached_statements": 512},
    )
    sa.event.listen(engine, "connect", _prepare)
    # SQLAlchemy counts on the driver that these do nothing in autocommit; Python's would end our transaction.
    for name in ("do_commit", "do_rollback"):
        setattr(engine.dialect, name, _do_nothing)
    return engine


def _do_nothing(_connection: object) -> None:
    """The transaction is ours."""


def _prepare(connection: Any, _record: Any) -> None:
    connection.isolation_level = None
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "cache_size=-8000", "temp_store=MEMORY"):
        connection.execute("PRAGMA " + pragma).fetchall()
