"""Runs pieces of SQL in transactions, on SQLite (one thread of its own) or on Postgres."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol, TypeVar

import grpc
import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from services.kit.errors import ServiceError
from services.kit.postgres import open_engine

T = TypeVar("T")
Work = Callable[[sa.Connection], T]

_STATEMENT_LIMIT_S = 3.0
_LOCK_LIMIT_S = 5.0


class Database(Protocol):
    """ServiceError UNAVAILABLE `unreachable` when it does not answer; then the work may or may not be done."""

    async def run(self, work: Work[T]) -> T:
        """Does the work in one transaction, which an exception of the work rolls back."""
        ...

    async def close(self) -> None: ...


def open_database(url: str) -> Database:
    """`sqlite:///PATH` or `postgresql://...`."""
    if url.startswith("sqlite:"):
        path = sa.make_url(url).database
        if path:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
        return SqliteDatabase(url)
    return PostgresDatabase(url)


class SqliteDatabase:
    """All work happens one after another in one thread, beside whatever others write to the same file."""

    def __init__(self, url: str) -> None:
        self._engine = sa.create_engine(
            url, poolclass=sa.pool.StaticPool, connect_args={"timeout": _LOCK_LIMIT_S, "check_same_thread": False}
        )
        sa.event.listen(self._engine, "connect", _prepare_sqlite)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="clock-store")

    async def run(self, work: Work[T]) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, self._run, work)
        except SQLAlchemyError as error:
            raise _unreachable(error) from None

    async def close(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, self._engine.dispose)
        self._thread.shutdown()

    def _run(self, work: Work[T]) -> T:
        with self._engine.begin() as connection:
            return work(connection)


class PostgresDatabase:
    """A small pool of connections; a statement that takes too long is given up."""

    def __init__(self, url: str) -> None:
        self._engine = open_engine(
            url,
            connect={"timeout": _STATEMENT_LIMIT_S, "command_timeout": _STATEMENT_LIMIT_S},
            pool_size=2,
            max_overflow=0,
            pool_pre_ping=True,
            pool_timeout=_STATEMENT_LIMIT_S,
        )

    async def run(self, work: Work[T]) -> T:
        try:
            async with self._engine.begin() as connection:
                return await connection.run_sync(work)
        except (SQLAlchemyError, OSError, TimeoutError) as error:
            raise _unreachable(error) from None

    async def close(self) -> None:
        await self._engine.dispose()


def now_ms(connection: sa.Connection, unix_ms: int) -> int:
    """The store's time, which all replicas share: that of Postgres, on SQLite the given one of this process."""
    if connection.dialect.name == "sqlite":
        return unix_ms
    moment = sa.text("SELECT CAST(EXTRACT(EPOCH FROM statement_timestamp()) * 1000 AS bigint)")
    return int(connection.execute(moment).scalar_one())


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.close()


def _unreachable(error: BaseException) -> ServiceError:
    cause = getattr(error, "orig", None) or error
    return ServiceError(
        grpc.StatusCode.UNAVAILABLE, "unreachable", f"the clock's store: {type(cause).__name__}: {cause}"
    )
