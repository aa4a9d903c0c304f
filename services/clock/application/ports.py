"""What the clock needs of the world. Failures of others are ServiceError unless said otherwise."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from services.clock.domain.deadlines import Deadline
from services.clock.domain.play_time import Checkpoint, Instant, Outage


class Timepiece(Protocol):
    """Tells the present moment."""

    def now(self) -> Instant: ...


class SystemTime:
    """The machine's clocks."""

    def now(self) -> Instant:
        return Instant(mono_ns=time.monotonic_ns(), unix_ms=time.time_ns() // 1_000_000)


class FencedError(Exception):
    """Somebody else holds the shards now, under a higher epoch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """What the holder of the shards begins with: its epoch, and the last checkpoint of any epoch before."""

    epoch: int
    checkpoint: Checkpoint


class Lease(Protocol):
    """The right to move play time. Taking over raises the epoch, and refuses whatever an older one still writes."""

    async def take_over(self) -> Held: ...


class Store(Protocol):
    """What outlives the process."""

    async def save(self, *, epoch: int, checkpoint: Checkpoint, ended: Sequence[Outage]) -> None:
        """Stores both at once; outages that are stored already are left as they are. Raises FencedError."""
        ...

    async def list_outages(self, *, before_id: int | None, limit: int) -> list[Outage]:
        """Ended outages, newest first, those before an id."""
        ...


class Probes(Protocol):
    """Sends probes the whole way that a player's command goes."""

    async def probe(self, probe_id: str) -> None:
        """Returns when the probe came back."""
        ...


@dataclass(frozen=True, slots=True)
class InForce:
    """All deadlines in force at a table after event `seq`; no grace: the usual one."""

    table_id: str
    seq: int
    deadlines: tuple[Deadline, ...]
    grace_ms: int | None = None


@dataclass(frozen=True, slots=True)
class DeadlinePage:
    """A part of what is in force at all tables; an empty token: it was the last."""

    tables: tuple[InForce, ...]
    next_page_token: str


class Expiry(Enum):
    """What a table answers to the end of a deadline."""

    DONE = "done"
    STALE = "stale"
    NOT_DUE = "not_due"


class Tables(Protocol):
    """The table service."""

    async def list_deadlines(self, page_token: str) -> DeadlinePage: ...

    async def expire(self, table_id: str, deadline_id: int) -> Expiry: ...


@dataclass(frozen=True, slots=True)
class Gap:
    """Updates may be missing before what comes next. The first news of all is one, once every later update comes."""

    reason: str


class Updates(Protocol):
    """What tables have committed, at least once and in order for each table."""

    def follow(self) -> AsyncIterator[InForce | Gap]: ...
