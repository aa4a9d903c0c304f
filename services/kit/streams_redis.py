"""The event stream over Redis Streams: capped in length, and allowed to lose everything at any moment."""

from __future__ import annotations

import asyncio
import contextlib
import random
import secrets
from collections.abc import AsyncIterator, Collection, Coroutine, Mapping, Sequence
from typing import Any, TypeVar, cast

import grpc
import hiredis
from redis.asyncio import Connection, Redis
from redis.exceptions import RedisError, ResponseError

from services.kit.ending import end_tasks
from services.kit.errors import ServiceError
from services.kit.logs import get_log
from services.kit.streams import Batch, Delivery, Entry, Lagged

T = TypeVar("T")

#: what a topic keeps by default; with 64 topics about 100 MB, which docs/operate.md reckons with
MAX_ENTRIES = 4_000

_log = get_log(__name__)
_GENERATION = "generation"
_BLOCK_MS = 1_000
_MAX_BATCH = 256
_FIRST_BACKOFF_S = 0.05
_LAST_BACKOFF_S = 2.0
_BEGINNING = b"0-0"
_CLAIM_EVERY_S = 1.0
_ALIVE_EVERY_S = 0.75
_LEAVE_S = 1.0
# So often it is looked whether members are left who ended without saying so.
_TIDY_EVERY_S = 600.0
# In one go, for what a member holds would be lost with it.
_REMOVE_IF_FREE = """
if #redis.call('XPENDING', KEYS[1], ARGV[1], '-', '+', 1, ARGV[2]) == 0 then
    return redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], ARGV[2])
end
return 0
"""

_TROUBLE = (RedisError, OSError)


class RedisStream:
    """EventStream over one Redis. All keys begin with `prefix`; a topic keeps about `max_entries` entries.

    What a member of a group has not acknowledged goes to another one when it has given no sign of life for
    `silent_ms`, and when it lives, after `claim_idle_ms`.
    """

    def __init__(
        self,
        url: str,
        *,
        prefix: str = "magnate:",
        max_entries: int = MAX_ENTRIES,
        claim_idle_ms: int = 30_000,
        silent_ms: int = 2_500,
    ) -> None:
        self._url = url
        self.prefix = prefix
        self.max_entries = max_entries
        self.claim_idle_ms = claim_idle_ms
        self.silent_ms = silent_ms
        self._publisher = self.connect()
        self._open: set[_Reader] = set()
        self._met = False

    def connect(self) -> Redis:
        """A connection pool; each reader has its own, since a blocking read holds a connection."""
        # Only the plain connection is ours: TLS and sockets of Unix keep the library's.
        kind: dict[str, Any] = {"connection_class": _QuickConnection} if self._url.startswith("redis://") else {}
        return Redis.from_url(self._url, socket_connect_timeout=2, socket_timeout=5 + _BLOCK_MS / 1000, **kind)

    async def publish(self, topic: str, items: Sequence[tuple[str, int, bytes]]) -> None:
        await self.publish_all({topic: items})

    async def publish_all(self, batches: Mapping[str, Sequence[tuple[str, int, bytes]]]) -> None:
        pipeline = self._publisher.pipeline(transaction=False)
        for topic, items in batches.items():
            for key, seq, payload in items:
                pipeline.xadd(
                    self.prefix + topic, {"k": key, "s": seq, "p": payload}, maxlen=self.max_entries, approximate=True
                )
        try:
            await pipeline.execute()
        except _TROUBLE as error:
            raise _unreachable(error) from None

    async def subscribe(
        self, topics: Sequence[str], *, cursors: Mapping[str, str] | None = None, gather_ms: int = 0
    ) -> RedisSubscription:
        subscription = RedisSubscription(self, topics, cursors or {}, gather_ms)
        self._open.add(subscription)
        with contextlib.suppress(*_TROUBLE):
            await subscription.resolve()
        return subscription

    async def join(
        self, group: str, consumer: str, topics: Sequence[str], *, gather_ms: int = 0
    ) -> RedisGroupSubscription:
        member = RedisGroupSubscription(self, topics, group, consumer, gather_ms)
        self._open.add(member)
        with contextlib.suppress(*_TROUBLE):
            await member.make_groups(b"$")
        member.show_life()
        return member

    async def met(self) -> None:
        if self._met:
            return
        try:
            await self._publisher.ping()
        except _TROUBLE as error:
            raise _unreachable(error) from None
        self._met = True

    def forget(self, reader: _Reader) -> None:
        self._open.discard(reader)

    async def close(self) -> None:
        for reader in list(self._open):
            await reader.close()
        await self._publisher.aclose()


def _unreachable(error: Exception) -> ServiceError:
    return ServiceError(grpc.StatusCode.UNAVAILABLE, "unreachable", f"the event stream: {error}", retry_after_ms=200)


class _QuickConnection(Connection):
    """Packs commands in C: one that reads a topic for each shard has more than a hundred arguments."""

    def pack_command(self, *args: Any) -> list[bytes]:
        name = args[0].decode() if isinstance(args[0], bytes) else str(args[0])
        # A name of two words stands for two arguments.
        return [hiredis.pack_command((*name.split(), *args[1:]))]


class _Reader:
    """What both kinds of reading share: their own connection, and coming back after trouble."""

    def __init__(self, stream: RedisStream, topics: Sequence[str], gather_ms: int) -> None:
        self._stream = stream
        self._gather_s = gather_ms / 1000
        self._topics = {(stream.prefix + topic).encode(): topic for topic in topics}
        self._redis = stream.connect()
        self._closed = asyncio.Event()
        self._reading: asyncio.Future[Any] | None = None
        self._backoff_s = _FIRST_BACKOFF_S

    async def close(self) -> None:
        """Ends the iteration, also one that is waiting."""
        self._closed.set()
        self._stream.forget(self)
        if self._reading is not None:
            self._reading.cancel()
        await self._redis.aclose()

    async def _unless_closed(self, read: Coroutine[Any, Any, T]) -> T | None:
        """The result of a read, None when the reader was closed meanwhile."""
        reading = self._reading = asyncio.ensure_future(read)
        try:
            await asyncio.wait((reading,))
            return None if self._closed.is_set() else reading.result()
        finally:
            self._reading = None
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)

    async def _was_trimmed(self, name: bytes, first_read: bytes) -> bool:
        """Whether nothing is left before this entry in a stream so long that entries have been removed."""
        pipeline = self._redis.pipeline(transaction=False)
        pipeline.xlen(name)
        pipeline.xrange(name, count=1)
        length, oldest = await pipeline.execute()
        return length >= self._stream.max_entries and _id_of(oldest[0][0]) >= _id_of(first_read)

    async def _rest(self, error: Exception) -> None:
        """Waits before the next try; longer each time."""
        _log.warning("event_stream_lost", error=str(error), retry_ms=int(self._backoff_s * 1000))
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._closed.wait(), self._backoff_s * random.uniform(0.5, 1.0))
        self._backoff_s = min(self._backoff_s * 2, _LAST_BACKOFF_S)

    async def _well(self) -> None:
        """A read has gone well; the reader that is in no hurry gathers now."""
        self._backoff_s = _FIRST_BACKOFF_S
        if self._gather_s:
            await asyncio.sleep(self._gather_s)


class RedisSubscription(_Reader):
    """Reads everything from its own cursors."""

    def __init__(self, stream: RedisStream, topics: Sequence[str], cursors: Mapping[str, str], gather_ms: int) -> None:
        super().__init__(stream, topics, gather_ms)
        self._cursors = {name: cursors[topic].encode() for name, topic in self._topics.items() if topic in cursors}
        self._generation: bytes | None = None
        self._check_cursors = bool(cursors)

    async def resolve(self) -> None:
        """Fixes "from now on" for topics without a cursor: the id of the last entry there is."""
        open_ones = [name for name in self._topics if name not in self._cursors]
        pipeline = self._redis.pipeline(transaction=False)
        for name in open_ones:
            pipeline.xrevrange(name, count=1)
        pipeline.set(self._stream.prefix + _GENERATION, secrets.token_hex(8), nx=True)
        pipeline.get(self._stream.prefix + _GENERATION)
        *lasts, _, generation = await pipeline.execute()
        for name, last in zip(open_ones, lasts, strict=True):
            self._cursors[name] = last[0][0] if last else _BEGINNING
        self._generation = generation

    async def __aiter__(self) -> AsyncIterator[Batch | Lagged]:
        while not self._closed.is_set():
            try:
                for found in await self._unless_closed(self._read()) or ():
                    yield found
                await self._well()
            except _TROUBLE as error:
                if not self._closed.is_set():
                    self._check_cursors = True
                    await self._rest(error)

    async def _read(self) -> list[Batch | Lagged]:
        found: list[Batch | Lagged] = []
        if len(self._cursors) < len(self._topics):
            late = [topic for name, topic in self._topics.items() if name not in self._cursors]
            await self.resolve()
            found += [Lagged(topic, "the event stream was away at the start") for topic in late]
        # Waits for news, and looks after that whether all has been lost; without waiting where that is the question.
        pipeline = self._redis.pipeline(transaction=False)
        pipeline.xread(self._streams(), count=_MAX_BATCH, block=1 if found or self._check_cursors else _BLOCK_MS)
        pipeline.get(self._stream.prefix + _GENERATION)
        answer, generation = await pipeline.execute()
        lost = await self._lost(generation)
        if lost or found:
            return found + [Lagged(self._topics[name], "the event stream has lost entries") for name in lost]
        for name, entries in _pairs(answer):
            if len(entries) >= _MAX_BATCH and await self._was_trimmed(name, entries[0][0]):
                found.append(Lagged(self._topics[name], "the reader was slower than the stream keeps entries"))
            self._cursors[name] = entries[-1][0]
            found.append(Batch(self._topics[name], _entries(entries), entries[-1][0].decode()))
        return found

    def _streams(self) -> Any:
        return dict(self._cursors)

    async def _lost(self, generation: Any) -> list[bytes]:
        """The topics whose cursor no longer stands for a place in the stream; they are read from their beginning.

        Seen at every turn by the one generation mark that vanishes with everything, and topic by topic after a
        lost connection, because an older copy of the data may have come back.
        """
        lost: list[bytes] = []
        if generation is None or generation != self._generation:
            await self._redis.set(self._stream.prefix + _GENERATION, secrets.token_hex(8), nx=True)
            self._generation = cast(bytes, await self._redis.get(self._stream.prefix + _GENERATION))
            lost = list(self._topics)
        elif self._check_cursors:
            for name, cursor in self._cursors.items():
                if cursor != _BEGINNING and not await self._redis.xrange(name, cursor, cursor):
                    lost.append(name)
        self._check_cursors = False
        for name in lost:
            self._cursors[name] = _BEGINNING
        return lost


class RedisGroupSubscription(_Reader):
    """Reads a share through a consumer group; claims what a dead member left."""

    def __init__(self, stream: RedisStream, topics: Sequence[str], group: str, consumer: str, gather_ms: int) -> None:
        super().__init__(stream, topics, gather_ms)
        self._group = group
        self._consumer = consumer
        self._next_claim_s = self._next_look_s = self._next_tidy_s = 0.0
        self._living: asyncio.Task[None] | None = None
        self._made = False
        self._acks: list[tuple[bytes, list[bytes]]] = []
        self._is_waiting = False

    async def close(self) -> None:
        await self._send_acks()
        if self._living is not None:
            await end_tasks([self._living])
            with contextlib.suppress(*_TROUBLE):
                await self._redis.delete(self._life_of(self._consumer))
        await super().close()
        await self._leave()

    async def _leave(self) -> None:
        # Over a connection of its own: until the other one was closed its read may have been given something.
        redis = self._stream.connect()
        try:
            async with asyncio.timeout(_LEAVE_S):
                await self._remove(redis, [(name, self._consumer) for name in self._topics])
        except (TimeoutError, *_TROUBLE):
            _log.info("membership_left", group=self._group, consumer=self._consumer)
        finally:
            await redis.aclose()

    def show_life(self) -> None:
        """Begins to tell the other members that this one lives, however long it works on what it has read."""
        self._living = asyncio.create_task(self._live())

    async def _live(self) -> None:
        while True:
            with contextlib.suppress(*_TROUBLE):
                await self._redis.set(self._life_of(self._consumer), "", px=self._stream.silent_ms)
            await asyncio.sleep(min(_ALIVE_EVERY_S, self._stream.silent_ms / 4000))

    def _life_of(self, consumer: str) -> str:
        return f"{self._stream.prefix}alive:{self._group}:{consumer}"

    async def make_groups(self, start: bytes) -> list[str]:
        """Makes the groups that are missing, at `start`; returns their topics."""
        made: list[str] = []
        for name, topic in self._topics.items():
            try:
                await self._redis.xgroup_create(name, self._group, id=start, mkstream=True)
                made.append(topic)
            except ResponseError as error:
                if "BUSYGROUP" not in str(error):
                    raise
        self._made = True
        return made

    async def __aiter__(self) -> AsyncIterator[Delivery | Lagged]:
        while not self._closed.is_set():
            try:
                for found in await self._unless_closed(self._read()) or ():
                    yield found
                await self._well()
            except _TROUBLE as error:
                if not self._closed.is_set():
                    await self._rest(error)

    async def _read(self) -> list[Delivery | Lagged]:
        if not self._made:
            lost = await self.make_groups(_BEGINNING)
            if lost:
                return [Lagged(topic, "the event stream has lost entries") for topic in lost]
        try:
            await self._send_acks()
            claimed = await self._claim()
            if claimed:
                return claimed
            self._is_waiting = True
            answer = await self._redis.xreadgroup(
                self._group,
                self._consumer,
                cast(Any, dict.fromkeys(self._topics, ">")),
                count=_MAX_BATCH,
                block=min(_BLOCK_MS, max(1, self._stream.claim_idle_ms // 2)),
            )
        except ResponseError as error:
            if "NOGROUP" not in str(error):
                raise
            self._made = False
            return []
        finally:
            self._is_waiting = False
        found: list[Delivery | Lagged] = []
        for name, entries in _pairs(answer):
            # A full answer that begins with the oldest entry there is: older ones may have gone unread.
            if len(entries) >= _MAX_BATCH and await self._was_trimmed(name, entries[0][0]):
                found.append(Lagged(self._topics[name], "the group was slower than the stream keeps entries"))
            found += self._deliveries(name, entries)
        return found

    async def _claim(self) -> list[Delivery | Lagged]:
        """What others have left: those who died at once, those who live when it has taken them too long."""
        now = asyncio.get_running_loop().time()
        found: list[Delivery | Lagged] = []
        if now >= self._next_look_s:
            self._next_look_s = now + min(_CLAIM_EVERY_S, self._stream.silent_ms / 2000)
            found += await self._claim_of_the_dead()
        if now >= self._next_tidy_s:
            self._next_tidy_s = now + _TIDY_EVERY_S * random.uniform(0.5, 1.0)
            await self._tidy()
        if now >= self._next_claim_s:
            self._next_claim_s = now + self._stream.claim_idle_ms / 2000
            pipeline = self._redis.pipeline(transaction=False)
            for name in self._topics:
                pipeline.xautoclaim(name, self._group, self._consumer, self._stream.claim_idle_ms, count=_MAX_BATCH)
            for name, answer in zip(self._topics, await pipeline.execute(), strict=True):
                found += self._claimed(name, answer[1])
        return found

    async def _tidy(self) -> None:
        """Removes members that ended without saying so: they have long been silent, show no life and hold nothing."""
        pipeline = self._redis.pipeline(transaction=False)
        for name in self._topics:
            pipeline.xinfo_consumers(name, self._group)
        silent = [
            (name, consumer["name"].decode())
            for name, consumers in zip(self._topics, await pipeline.execute(), strict=True)
            for consumer in consumers
            if consumer["idle"] >= self._stream.claim_idle_ms
        ]
        dead = await self._dead({consumer for _, consumer in silent})
        await self._remove(self._redis, [(name, consumer) for name, consumer in silent if consumer in dead])

    async def _remove(self, redis: Redis, members: Sequence[tuple[bytes, str]]) -> None:
        if members:
            pipeline = redis.pipeline(transaction=False)
            for name, consumer in members:
                pipeline.eval(_REMOVE_IF_FREE, 1, cast(Any, name), self._group, consumer)
            await pipeline.execute()

    async def _dead(self, consumers: Collection[str]) -> set[str]:
        """Those of them that show no life; never ourselves."""
        others = sorted({*consumers} - {self._consumer})
        if not others:
            return set()
        lives = await self._redis.mget([self._life_of(consumer) for consumer in others])
        return {consumer for consumer, life in zip(others, lives, strict=True) if life is None}

    async def _claim_of_the_dead(self) -> list[Delivery | Lagged]:
        pipeline = self._redis.pipeline(transaction=False)
        for name in self._topics:
            pipeline.xpending(name, self._group)
        held = [
            (name, consumer["name"].decode())
            for name, pending in zip(self._topics, await pipeline.execute(), strict=True)
            for consumer in pending["consumers"]
        ]
        dead = await self._dead({consumer for _, consumer in held})
        found: list[Delivery | Lagged] = []
        for name, consumer in held:
            if consumer in dead:
                found += await self._claim_from(name, consumer)
        return found

    async def _claim_from(self, name: bytes, consumer: str) -> list[Delivery]:
        # Whoever claims them first makes them young again: nobody else gets them.
        pending = await self._redis.xpending_range(
            name, self._group, "-", "+", _MAX_BATCH, consumername=consumer, idle=self._stream.silent_ms
        )
        if not pending:
            return []
        ids: list[Any] = [one["message_id"] for one in pending]
        claimed: Any = await self._redis.xclaim(name, self._group, self._consumer, self._stream.silent_ms, ids)
        return self._claimed(name, claimed)

    def _claimed(self, name: bytes, entries: Sequence[tuple[bytes, Any]]) -> list[Delivery]:
        """Of those that are still there."""
        return self._deliveries(name, [(entry_id, fields) for entry_id, fields in entries if fields])

    def _deliveries(self, name: bytes, entries: Sequence[tuple[bytes, Any]]) -> list[Delivery]:
        if not entries:
            return []
        ids = [entry_id for entry_id, _ in entries]
        parsed = _entries(entries)

        async def ack() -> None:
            self._acks.append((name, ids))
            if self._is_waiting or self._closed.is_set():
                await self._send_acks()

        return [Delivery(self._topics[name], parsed, ack)]

    async def _send_acks(self) -> None:
        """Sends what has been acknowledged since the last read, together."""
        acks, self._acks = self._acks, []
        if not acks:
            return
        pipeline = self._redis.pipeline(transaction=False)
        for name, ids in acks:
            pipeline.xack(name, self._group, *ids)
        # Lost acknowledgements only mean that the work comes again.
        with contextlib.suppress(*_TROUBLE):
            await pipeline.execute()


def _pairs(answer: Any) -> list[tuple[bytes, list[tuple[bytes, Any]]]]:
    """The streams of an answer of XREAD, in either of the protocol's forms."""
    if isinstance(answer, dict):
        return [(name, [entry for part in parts for entry in part]) for name, parts in answer.items()]
    return [(name, entries) for name, entries in answer or ()]


def _entries(raw: Sequence[tuple[bytes, Any]]) -> tuple[Entry, ...]:
    return tuple(entry for entry in map(_entry, raw) if entry is not None)


def _entry(raw: tuple[bytes, Mapping[bytes, bytes]]) -> Entry | None:
    """The entry, or None for one that somebody else wrote."""
    fields = raw[1]
    try:
        return Entry(fields[b"k"].decode(), int(fields[b"s"]), fields[b"p"])
    except (KeyError, ValueError):
        return None


def _id_of(raw: bytes) -> tuple[int, int]:
    milliseconds, _, number = raw.partition(b"-")
    return int(milliseconds), int(number)
