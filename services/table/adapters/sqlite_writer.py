"""What SQLite does for the store of tables: a batch of jobs in one transaction, rows of the log by one statement."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from services.kit.logs import get_log
from services.table.adapters.databases import Work, unreachable
from services.table.application.ports import LogRow

_log = get_log(__name__)
_LOCK_LIMIT_S = 5.0
# Rows of one INSERT; each has this many parameters, of which SQLite allows 999 at least.
_MAX_ROWS = 64
TROUBLE = (SQLAlchemyError, sqlite3.Error)


@dataclass(slots=True)
class Job:
    """A row to append or work to do, and where the answer goes."""

    future: asyncio.Future[Any]
    row: LogRow | None = None
    work: Work[Any] | None = None
    answer: Any = None
    error: BaseException | None = None


class Writer:
    """Does a batch of jobs in one transaction. A job's failure rolls back its own work alone."""

    def __init__(self, connection: sa.Connection) -> None:
        self._connection = connection
        self._raw = cast(sqlite3.Connection, connection.connection.driver_connection)

    def commit(self, jobs: Sequence[Job]) -> None:
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

    def _work(self, job: Job, work: Work[Any]) -> None:
        self._raw.execute("SAVEPOINT job")
        try:
            job.answer = work(self._connection)
            self._raw.execute("RELEASE job")
        except Exception as error:
            self._raw.execute("ROLLBACK TO job")
            self._raw.execute("RELEASE job")
            job.error = unreachable(error) if isinstance(error, TROUBLE) else error

    def _append(self, jobs: Sequence[Job]) -> None:
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
                row.history_id,
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


def _apart(jobs: Sequence[Job]) -> list[list[Job]]:
    """The jobs for one statement each: a statement does not see its own rows, so no table may be in it twice."""
    statements: list[list[Job]] = []
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
                column5 AS holders_version, column6 AS command_id, column7 AS at_ms, column8 AS history_id
            FROM (VALUES {_places(8, count)})
        ) AS i
        WHERE games.shard = i.shard AND games.table_id = i.table_id
            AND games.last_seq = i.before_seq AND games.holders_version = i.holders_version
            AND EXISTS (SELECT 1 FROM histories h WHERE h.history_id = i.history_id OR i.history_id = '')
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


def answer(jobs: Sequence[Job]) -> None:
    """Tells those who wait what became of their jobs; in the event loop."""
    for job in jobs:
        if job.future.done():
            continue
        if job.error is not None:
            job.future.set_exception(job.error)
        else:
            job.future.set_result(job.answer)


def open_engine(url: str) -> sa.Engine:
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
