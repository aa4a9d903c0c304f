"""What the clock needs of the world. Failures of others are ServiceError unless said otherwise."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Collection, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from services.clock.domain.deadlines import Deadline
from services.clock.domain.play_time import Cause, Checkpoint, Instant, Start


class Timepiece(Protocol):
    """Tells the present moment."""

    def now(self) -> Instant: ...


# Where the system has a monotonic clock that goes on while the machine is suspended, leases run out in that time too.
_MONOTONIC = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class SystemTime:
    """The machine's clocks."""

    def now(self) -> Instant:
        return Instant(mono_ns=time.clock_gettime_ns(_MONOTONIC), unix_ms=time.time_ns() // 1_000_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outage:
    """A stretch that did not count, on record once for all shards that it concerned, in milliseconds of Unix time of
    the store. While it lasts its id is 0, and so are its end and what it has given back."""

    outage_id: int
    from_unix_ms: int
    to_unix_ms: int
    cause: Cause
    given_back_ms: int
    shards: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """Shards that this replica holds from now on, under an epoch that is higher than any before."""

    shards: tuple[int, ...]
    epoch: int
    start: Start


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What a replica stores of shards that it holds, whose counters are the same."""

    shards: tuple[int, ...]
    epoch: int
    checkpoint: Checkpoint


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """An operator's order that play time of shards stands still, by the store's Unix time."""

    hold_id: str
    shards: tuple[int, ...]
    reason: str
    begins_at_ms: int
    ends_at_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How the shards are shared: what was taken now, how many this replica may hold, the store's Unix time, and the
    holds that have not ended, by their begin."""

    taken: tuple[Taken, ...]
    share: int
    unix_ms: int
    holds: tuple[Hold, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """`lease_ms`: a replica that was not heard for so long holds nothing any more; `join_ms`: so long after its first
    look others begin to give shards back to it."""

    lease_ms: int
    join_ms: int

    @property
    def seen_ms(self) -> int:
        """A replica that gave no sign of life for so long is left no shards that are free: it would let them stand."""
        return self.lease_ms // 3


class Leases(Protocol):
    """Who may move the play time of a shard. Whoever takes a shard raises its epoch, and so fences the one before."""

    async def look(self, held: Collection[int], expected_unix_ms: int | None) -> Look:
        """Says that this replica lives, and takes shards that nobody holds, up to its share. Leases are taken for over
        only where the store's clock shows about what is expected; None: nothing can be expected yet."""
        ...

    async def save(self, kept: Sequence[Kept], ended: Sequence[Outage]) -> frozenset[int]:
        """Stores both at once and renews the leases; returns the shards that are still held. Outages that are stored
        already are left as they are; some that ended long ago may go."""
        ...

    async def give_back(self, kept: Sequence[Kept]) -> None:
        """Stores for the last time and lets others have the shards."""
        ...

    async def leave(self) -> None:
        """This replica holds nothing any more and is no longer counted."""
        ...


class HoldBook(Protocol):
    """What operators have ordered. Times that are told are of the store's clock, with its present moment."""

    async def hold(
        self, hold_id: str, shards: Collection[int], reason: str, *, begins_in_ms: int, lasts_ms: int
    ) -> int:
        """Announces a hold, once under an id; returns the store's Unix time."""
        ...

    async def release(self, shards: Collection[int]) -> tuple[int, ...]:
        """Ends the holds of these shards; returns those that there was one of."""
        ...

    async def list_holds(self) -> tuple[tuple[Hold, ...], int]:
        """Holds that have not ended, by their begin, and the store's Unix time."""
        ...


class Outages(Protocol):
    """The record of what did not count."""

    async def list_outages(self, *, before_id: int | None, limit: int) -> list[Outage]:
        """Newest first: ended ones before an id; without one, those that last before all others."""
        ...


class Probes(Protocol):
    """Sends probes the whole way that a player's command goes."""

    async def probe(self, probe_id: str, shard: int) -> None:
        """Returns when the probe came back, through a table that hears the play time of this shard."""
        ...


@dataclass(frozen=True, slots=True)
class InForce:
    """All deadlines in force at a table of a shard after event `seq`; no grace: the usual one."""

    shard: int
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

    async def list_deadlines(self, shards: Collection[int], page_token: str) -> DeadlinePage: ...

    async def expire(self, table_id: str, deadline_id: int) -> Expiry: ...


@dataclass(frozen=True, slots=True)
class Gap:
    """Updates of a shard may be missing before what comes next. The first news of all is one without a shard, once
    every later update of all those followed comes."""

    shard: int | None
    reason: str


class Updates(Protocol):
    """What tables have committed, at least once and in order for each table."""

    def follow(self, shards: Collection[int]) -> AsyncGenerator[InForce | Gap, None]: ...
