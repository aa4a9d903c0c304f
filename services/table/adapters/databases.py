"""The two databases behind one small interface: transactions for everything, and a fast way for commands."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol, TypeVar

import grpc
import sqlalchemy as sa

from services.kit.errors import ServiceError
from services.table.application.ports import LogRow

T = TypeVar("T")
Work = Callable[[sa.Connection], T]


class Database(Protocol):
    """ServiceError UNAVAILABLE `unreachable` when it does not answer; then a write may or may not be done."""

    async def start(self) -> None:
        """Connects, and brings the tables up to date."""
        ...

    async def read(self, work: Work[T]) -> T:
        """Does work that changes nothing."""
        ...

    async def write(self, work: Work[T]) -> T:
        """Does the work in one transaction, which an exception of the work rolls back."""
        ...

    def append(self, row: LogRow) -> asyncio.Future[bool]:
        """Commits a command that does not end its game, together with others that wait; see `Store.append`."""
        ...

    async def commit_probe(self, shard: int, probe_id: str, now_ms: int) -> None:
        """Commits a probe on the way of `append`, and reads on the way of `read`: each may be broken where the other is
        not."""
        ...

    async def close(self) -> None:
        """Finishes what has begun."""
        ...


def unreachable(error: BaseException) -> ServiceError:
    """The error for a database that does not do what it should; the cause goes to the log, not to the caller."""
    cause = getattr(error, "orig", None) or error
    return ServiceError(
        grpc.StatusCode.UNAVAILABLE,
        "unreachable",
        f"the store of tables does not answer ({type(cause).__name__})",
        retry_after_ms=500,
    )
