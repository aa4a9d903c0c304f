"""The event stream: what one service has committed, for whoever wants to follow.

A topic is a sequence of entries; an entry carries a key, the key's own sequence number, and bytes. Delivery is at
least once and in order for each key; a reader drops what it has seen by `(key, seq)`. A stream may lose entries: a
reader is then told by `Lagged` and asks the owner of the data for what it lacks. Every subscription reads for itself
and is bounded, so that a slow one never holds up another.

Two ways to read: a *subscription* gets everything (each replica of a gateway), a *group* shares the work (a replica
of a worker gets a part; what a dead one had not acknowledged goes to another).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that happened: `seq` numbers the entries of a key."""

    key: str
    seq: int
    payload: bytes


@dataclass(frozen=True, slots=True)
class Batch:
    """Entries of one topic that came together; `cursor` is the place after the last of them."""

    topic: str
    entries: tuple[Entry, ...]
    cursor: str


@dataclass(frozen=True, slots=True)
class Lagged:
    """Entries of a topic may be missing before whatever comes next; reading goes on."""

    topic: str
    reason: str


async def _nothing() -> None:
    return None


@dataclass(frozen=True, slots=True)
class Delivery:
    """A share of a group's work. Without `await ack()` it goes to another consumer after a while."""

    topic: str
    entries: tuple[Entry, ...]
    ack: Callable[[], Awaitable[None]] = field(default=_nothing, compare=False, repr=False)


class Subscription(Protocol):
    """Iterate it for batches; it ends when it is closed."""

    def __aiter__(self) -> AsyncIterator[Batch | Lagged]: ...

    async def close(self) -> None: ...


class GroupSubscription(Protocol):
    """Iterate it for this consumer's share; it ends when it is closed."""

    def __aiter__(self) -> AsyncIterator[Delivery | Lagged]: ...

    async def close(self) -> None: ...


class EventStream(Protocol):
    """See the module."""

    async def publish(self, topic: str, items: Sequence[tuple[str, int, bytes]]) -> None:
        """Appends (key, seq, payload) in this order. ServiceError UNAVAILABLE: some or none were appended."""
        ...

    async def publish_all(self, batches: Mapping[str, Sequence[tuple[str, int, bytes]]]) -> None:
        """`publish` for several topics at once."""
        ...

    async def subscribe(
        self, topics: Sequence[str], *, cursors: Mapping[str, str] | None = None, gather_ms: int = 0
    ) -> Subscription:
        """Everything published to these topics from now on; a topic with a cursor is read from there.

        A reader that is in no hurry lets so much time pass after each read: what comes meanwhile comes together,
        which is much cheaper.
        """
        ...

    async def join(self, group: str, consumer: str, topics: Sequence[str], *, gather_ms: int = 0) -> GroupSubscription:
        """A share of what is published to these topics since the group's first member joined."""
        ...

    async def met(self) -> None:
        """Returns when what carries the stream answers; once it has, at once, whatever becomes of it. For readiness, as
        `Pool.met`. ServiceError UNAVAILABLE: it has never answered, nor does it now."""
        ...

    async def close(self) -> None:
        """Ends all subscriptions."""
        ...
