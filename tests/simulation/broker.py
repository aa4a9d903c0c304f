"""The server of the event stream: each process reads what reaches it through a shipped stream in memory of its own."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass

import grpc

from services.kit.errors import ServiceError
from services.kit.streams import Batch, GroupSubscription, Lagged, Subscription
from services.kit.streams_memory import MemoryStream
from tests.simulation.loop import NOBODY, Process, VirtualLoop

Items = Sequence[tuple[str, int, bytes]]
_QUICK_S = (0.0003, 0.002)
_LAGGED = "\0lagged"
REJOIN_S = (0.0, 0.6)
AGAIN_S = (0.0, 1.0)


@dataclass(slots=True)
class Conditions:
    """What happens to entries on the way to a reader; shares of the deliveries."""

    latency_s: tuple[float, float] = _QUICK_S
    loss: float = 0.0
    repeat: float = 0.0


class Broker:
    """Takes entries and delivers them to all its readers, in order for each key."""

    def __init__(self, loop: VirtualLoop, rng: random.Random) -> None:
        self.loop = loop
        self.conditions = Conditions()
        self.is_away = False
        self.readers: list[ProcessStream] = []
        self._rng = rng

    def stream(self, process: Process) -> ProcessStream:
        """The event stream as a process sees it."""
        reader = ProcessStream(self, process)
        self.readers.append(reader)
        return reader

    def died(self, process: Process) -> None:
        self.readers = [reader for reader in self.readers if reader.process is not process]

    def leave(self) -> None:
        """It cannot be reached; what was under way is lost."""
        self.is_away = True

    def come_back(self) -> None:
        """With nothing of what it knew."""
        self.is_away = False
        for reader in self.readers:
            self.loop.call_later(self._rng.uniform(*REJOIN_S), reader.lag, context=NOBODY)

    async def take(self, batches: Mapping[str, Items]) -> None:
        """Publishes. ServiceError while the broker is away."""
        await asyncio.sleep(self._rng.uniform(*_QUICK_S))
        if self.is_away:
            await asyncio.sleep(self._rng.uniform(0.0, 0.3))
            raise ServiceError(grpc.StatusCode.UNAVAILABLE, "unreachable", "the event stream is away")
        for topic, items in batches.items():
            for reader in self.readers:
                self._send(reader, topic, items)
        await asyncio.sleep(self._rng.uniform(*_QUICK_S))

    def _send(self, reader: ProcessStream, topic: str, items: Items) -> None:
        conditions = self.conditions
        if self._drawn(conditions.loss):
            self.loop.call_later(self._rng.uniform(*REJOIN_S), reader.lag, topic, context=NOBODY)
            return
        if conditions.latency_s == _QUICK_S and not conditions.repeat:
            reader.expect(topic, items, self._rng.uniform(*_QUICK_S))
            return
        for item in items:
            reader.expect(topic, [item], self._rng.uniform(*conditions.latency_s))
            if self._drawn(conditions.repeat):
                reader.expect(topic, [item], self._rng.uniform(*AGAIN_S), again=True)

    def _drawn(self, share: float) -> bool:
        return share > 0.0 and self._rng.random() < share


class ProcessStream:
    """`EventStream` of one process."""

    def __init__(self, broker: Broker, process: Process) -> None:
        self.process = process
        self._broker = broker
        self._inbox = MemoryStream()
        self._met = False
        self._arrives_s: dict[str, float] = {}

    async def publish(self, topic: str, items: Items) -> None:
        await self._broker.take({topic: items})

    async def publish_all(self, batches: Mapping[str, Items]) -> None:
        await self._broker.take(batches)

    async def subscribe(
        self, topics: Sequence[str], *, cursors: Mapping[str, str] | None = None, gather_ms: int = 0
    ) -> Subscription:
        return _Reading(await self._inbox.subscribe(topics, cursors=cursors, gather_ms=gather_ms))

    async def join(self, group: str, consumer: str, topics: Sequence[str], *, gather_ms: int = 0) -> GroupSubscription:
        raise NotImplementedError("nobody shares work here")

    async def met(self) -> None:
        if self._broker.is_away and not self._met:
            raise ServiceError(grpc.StatusCode.UNAVAILABLE, "unreachable", "the event stream is away")
        self._met = True

    async def close(self) -> None:
        await self._inbox.close()

    def expect(self, topic: str, items: Items, latency_s: float, *, again: bool = False) -> None:
        """Entries are on their way; those of one key do not overtake each other, unless they come again."""
        loop = self._broker.loop
        at_s = loop.now_s + latency_s
        if not again:
            at_s = max([at_s, *(self._arrives_s.get(key, 0.0) for key, _, _ in items)])
            for key, _, _ in items:
                self._arrives_s[key] = at_s + 1e-6
        loop.call_later(at_s - loop.now_s, self._arrive, topic, items, context=NOBODY)

    def lag(self, topic: str | None = None) -> None:
        """The reader is told that entries of a topic (None: of all) may be missing."""
        for name in [topic] if topic is not None else sorted(self._inbox._readers):
            self._put(name, [(_LAGGED, 0, b"")])

    def _arrive(self, topic: str, items: Items) -> None:
        if not self._broker.is_away:
            self._put(topic, items)

    def _put(self, topic: str, items: Items) -> None:
        # It never waits, so that one step does all of it.
        publishing = self._inbox.publish(topic, items)
        try:
            publishing.send(None)
        except StopIteration:
            return
        raise RuntimeError("the stream in memory waited")


class _Reading:
    """A subscription that tells of losses as a real one does."""

    def __init__(self, inner: Subscription) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[Batch | Lagged]:
        async for item in self._inner:
            if isinstance(item, Lagged):
                yield item
                continue
            entries = tuple(entry for entry in item.entries if entry.key != _LAGGED)
            if len(entries) < len(item.entries):
                yield Lagged(item.topic, "entries were lost")
            if entries:
                yield Batch(item.topic, entries, item.cursor)

    async def close(self) -> None:
        await self._inner.close()
