"""The event stream inside one process: a ring of entries for each topic, read by position."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field

from services.kit.streams import Batch, Delivery, Entry, Lagged

_MAX_BATCH = 256
_FIRST = 1


class _Topic:
    """The last `capacity` entries, numbered from 1."""

    def __init__(self, capacity: int) -> None:
        self.entries: deque[Entry] = deque(maxlen=capacity)
        self.next_number = _FIRST

    @property
    def first_number(self) -> int:
        return self.next_number - len(self.entries)

    def append(self, entry: Entry) -> None:
        self.entries.append(entry)
        self.next_number += 1

    def read(self, number: int) -> tuple[Entry, ...]:
        """Entries from this number on, at most a batch."""
        behind = self.next_number - number
        if behind == 1:
            return (self.entries[-1],)
        start = len(self.entries) - behind
        return tuple(self.entries[index] for index in range(start, min(start + _MAX_BATCH, len(self.entries))))


class MemoryStream:
    """EventStream for services of one process and loop. A reader that falls `capacity` entries behind has lagged."""

    def __init__(self, *, capacity: int = 1024, claim_idle_ms: int = 30_000) -> None:
        self._capacity = capacity
        self._claim_idle_s = claim_idle_ms / 1000
        self._topics: dict[str, _Topic] = {}
        self._groups: dict[str, _Group] = {}
        self._readers: dict[str, set[_Reader]] = {}
        self._open: set[_Reader] = set()

    async def publish(self, topic: str, items: Sequence[tuple[str, int, bytes]]) -> None:
        """Appends the items and wakes the readers of the topic."""
        ring = self.topic(topic)
        for key, seq, payload in items:
            ring.append(Entry(key, seq, payload))
        for reader in self._readers.get(topic, ()):
            reader.wake(topic)

    async def publish_all(self, batches: Mapping[str, Sequence[tuple[str, int, bytes]]]) -> None:
        """`publish` for several topics at once."""
        for topic, items in batches.items():
            await self.publish(topic, items)

    async def subscribe(
        self, topics: Sequence[str], *, cursors: Mapping[str, str] | None = None, gather_ms: int = 0
    ) -> MemorySubscription:
        positions = {
            topic: int(cursors[topic]) if cursors and topic in cursors else self.topic(topic).next_number
            for topic in topics
        }
        subscription = MemorySubscription(self, positions, gather_ms)
        self.attach(subscription, topics)
        return subscription

    async def join(
        self, group: str, consumer: str, topics: Sequence[str], *, gather_ms: int = 0
    ) -> MemoryGroupSubscription:
        shared = self._groups.setdefault(group, _Group())
        for topic in topics:
            shared.positions.setdefault(topic, self.topic(topic).next_number)
        member = MemoryGroupSubscription(self, shared, topics, self._claim_idle_s, gather_ms)
        self.attach(member, topics)
        return member

    async def met(self) -> None:
        """It is always there."""

    async def close(self) -> None:
        for reader in list(self._open):
            await reader.close()

    def topic(self, name: str) -> _Topic:
        """The ring of a topic, made when it is first named."""
        return self._topics.setdefault(name, _Topic(self._capacity))

    def attach(self, reader: _Reader, topics: Sequence[str]) -> None:
        self._open.add(reader)
        for topic in topics:
            self._readers.setdefault(topic, set()).add(reader)

    def detach(self, reader: _Reader) -> None:
        self._open.discard(reader)
        for readers in self._readers.values():
            readers.discard(reader)


class _Reader:
    """What both kinds of reading share: the topics that have news, and being woken."""

    def __init__(self, stream: MemoryStream, topics: Sequence[str], gather_ms: int) -> None:
        self._stream = stream
        self._gather_s = gather_ms / 1000
        # In the order in which they got news, each once: a busy topic does not starve the others.
        self._news: dict[str, None] = dict.fromkeys(topics)
        self._event = asyncio.Event()
        self._closed = False

    def wake(self, topic: str) -> None:
        """The topic has news."""
        self._news[topic] = None
        self._event.set()

    async def close(self) -> None:
        self._closed = True
        self._stream.detach(self)
        self._event.set()

    async def _wait(self, limit_s: float | None = None) -> None:
        if self._gather_s:
            await asyncio.sleep(self._gather_s)
        self._event.clear()
        if not self._news and not self._closed:
            try:
                async with asyncio.timeout(limit_s):
                    await self._event.wait()
            except TimeoutError:
                return

    def _next_topic(self) -> str:
        topic = next(iter(self._news))
        del self._news[topic]
        return topic


class MemorySubscription(_Reader):
    """Reads everything; each has its own positions."""

    def __init__(self, stream: MemoryStream, positions: dict[str, int], gather_ms: int) -> None:
        super().__init__(stream, list(positions), gather_ms)
        self._positions = positions

    async def __aiter__(self) -> AsyncIterator[Batch | Lagged]:
        while not self._closed:
            while self._news and not self._closed:
                topic = self._next_topic()
                ring, position = self._stream.topic(topic), self._positions[topic]
                if not ring.first_number <= position <= ring.next_number:
                    self._positions[topic] = position = ring.first_number
                    yield Lagged(topic, "the reader was slower than the stream keeps entries")
                if position < ring.next_number:
                    entries = ring.read(position)
                    self._positions[topic] = position + len(entries)
                    if self._positions[topic] < ring.next_number:
                        self.wake(topic)
                    yield Batch(topic, entries, str(self._positions[topic]))
            await self._wait()


@dataclass(slots=True)
class _Pending:
    topic: str
    entries: tuple[Entry, ...]
    since_s: float


@dataclass(slots=True)
class _Group:
    """The place of a group in each topic, and what its members have not acknowledged yet."""

    positions: dict[str, int] = field(default_factory=dict)
    pending: dict[int, _Pending] = field(default_factory=dict)
    next_id: int = 1


class MemoryGroupSubscription(_Reader):
    """Reads a share: whoever comes first takes what is new, or what has been pending for too long."""

    def __init__(
        self, stream: MemoryStream, group: _Group, topics: Sequence[str], claim_idle_s: float, gather_ms: int
    ) -> None:
        super().__init__(stream, topics, gather_ms)
        self._group = group
        self._topics = frozenset(topics)
        self._claim_idle_s = claim_idle_s

    async def __aiter__(self) -> AsyncIterator[Delivery | Lagged]:
        while not self._closed:
            for number in self._stale():
                yield self._deliver(number)
            while self._news and not self._closed:
                for found in self._take(self._next_topic()):
                    yield found
            await self._wait(self._claim_idle_s / 2)

    def _take(self, topic: str) -> list[Delivery | Lagged]:
        ring, group = self._stream.topic(topic), self._group
        found: list[Delivery | Lagged] = []
        if group.positions[topic] < ring.first_number:
            group.positions[topic] = ring.first_number
            found.append(Lagged(topic, "the group was slower than the stream keeps entries"))
        entries = ring.read(group.positions[topic]) if group.positions[topic] < ring.next_number else ()
        if entries:
            group.positions[topic] += len(entries)
            if group.positions[topic] < ring.next_number:
                self.wake(topic)
            number = group.next_id
            group.next_id += 1
            group.pending[number] = _Pending(topic, entries, 0.0)
            found.append(self._deliver(number))
        return found

    def _stale(self) -> list[int]:
        limit = asyncio.get_running_loop().time() - self._claim_idle_s
        return [
            number
            for number, pending in self._group.pending.items()
            if pending.since_s <= limit and pending.topic in self._topics
        ]

    def _deliver(self, number: int) -> Delivery:
        pending = self._group.pending[number]
        pending.since_s = asyncio.get_running_loop().time()

        async def ack() -> None:
            self._group.pending.pop(number, None)

        return Delivery(pending.topic, pending.entries, ack)
