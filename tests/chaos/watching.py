"""A watch that goes on over all losses of its connection, each time after the number that it came to."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable, Mapping

from magnate.game.v1 import decision_pb2
from magnate.gateway.v1 import gateway_service_pb2 as pb

from services.kit.ending import end_tasks
from services.kit.errors import ServiceError
from tests.chaos import journal as j
from tests.chaos.clients import ANSWER_S, Client
from tests.chaos.journal import now_ns

#: the site is told to let something be heard this often; three times without is a dead connection
HEARTBEAT_MS = 1_000
_DEAD_S = 3 * HEARTBEAT_MS / 1000
_REST_S = 0.2
_ADD_AGAIN_S = 0.5
_UPDATE_TAG = 0x1A


class Place:
    """How far a client has been shown a table, and what the game waits for there."""

    def __init__(self, *, from_start: bool) -> None:
        self.seq = 0 if from_start else -1
        self.decision: decision_pb2.Decision | None = None
        self.is_over = False


class Watching:
    """The watch of one client, of any number of tables. `on_news` hears of each table that has moved;
    `moves` counts."""

    def __init__(self, client: Client, on_news: Callable[[str], None]) -> None:
        self.places: dict[str, Place] = {}
        self.moves = 0
        self._client = client
        self._on_news = on_news
        self._watch_id = ""
        self._changes: asyncio.Queue[str] = asyncio.Queue()

    def add(self, table_id: str) -> Place:
        """Watches one more table, from its first event or from a snapshot."""
        place = self.places[table_id] = Place(from_start=self._client.rng.random() < 0.5)
        self._changes.put_nowait(table_id)
        return place

    def forget(self, table_id: str) -> None:
        """A table whose game is over need not be asked for again."""
        self.places.pop(table_id, None)

    def behind(self, seqs: Mapping[str, int]) -> int:
        """How many of its tables have not come to these numbers."""
        return sum(place.seq < seqs.get(table_id, 0) for table_id, place in self.places.items())

    async def run(self) -> None:
        """Watches until it is cancelled."""
        while True:
            if not self.places:
                await self._changes.get()
            wanted = list(self.places)
            reason = "closed"
            try:
                reason = await self._watch(wanted)
            except ServiceError as error:
                reason = error.reason
            except TimeoutError:
                reason = "silence"
            finally:
                self._watch_id = ""
                for table_id in wanted:
                    self._client.journal.note(j.Cut(now_ns(), table_id, reason))
            self._client.move()
            await asyncio.sleep(_REST_S * self._client.rng.random())

    async def _watch(self, table_ids: list[str]) -> str:
        """One connection; the reason for its end."""
        while not self._changes.empty():
            self._changes.get_nowait()
        targets = [self._target(table_id) for table_id in table_ids]
        async with self._client.line.watch(pb.WatchRequest(targets=targets), self._client.token) as messages:
            changing = asyncio.create_task(self._change(table_ids))
            try:
                return await self._read(messages, changing, table_ids)
            finally:
                await end_tasks([changing])

    async def _read(self, messages: AsyncIterator[bytes], changing: asyncio.Task[None], table_ids: list[str]) -> str:
        while not changing.done():
            async with asyncio.timeout(_DEAD_S):
                raw = await anext(messages, None)
            if raw is None:
                return "end"
            message = pb.WatchResponse.FromString(raw)
            if not message.HasField("ended"):
                self._take(message, raw)
            elif message.ended.table_id:
                self._ended(message.ended, table_ids)
            else:
                return message.ended.reason
        return "not changed"

    def _ended(self, ended: pb.WatchEnded, table_ids: list[str]) -> None:
        """One table is off the watch, whose rest goes on: it is added again a little later."""
        self._client.journal.note(j.Cut(now_ns(), ended.table_id, ended.reason))
        if ended.table_id in table_ids:
            table_ids.remove(ended.table_id)
        asyncio.get_running_loop().call_later(_ADD_AGAIN_S, self._changes.put_nowait, ended.table_id)

    def _target(self, table_id: str) -> pb.WatchTarget:
        seq = self.places[table_id].seq
        self._client.journal.note(j.Opened(now_ns(), table_id, seq))
        return pb.WatchTarget(table_id=table_id, after_seq=None if seq < 0 else seq)

    async def _change(self, table_ids: list[str]) -> None:
        """Takes up the tables that are added while the watch is open; returns when that did not work."""
        while True:
            table_id = await self._changes.get()
            if table_id in table_ids or table_id not in self.places:
                continue
            table_ids.append(table_id)
            over = [name for name in table_ids if name not in self.places]
            request = pb.ChangeWatchRequest(watch_id=self._watch_id, add=[self._target(table_id)], remove=over)
            try:
                await self._client.line.ask(request, self._client.token, ANSWER_S)
            except ServiceError:
                return

    def _take(self, message: pb.WatchResponse, raw: bytes) -> None:
        kind = message.WhichOneof("message")
        if kind == "opened":
            self._watch_id = message.opened.watch_id
        elif kind == "table":
            self._client.journal.note(j.Joined(now_ns(), message.table.table_id))
        elif kind == "snapshot":
            snapshot = message.snapshot
            self._client.journal.note(j.Began(now_ns(), snapshot.table_id, snapshot.seq))
            over = snapshot.view.ended != 0
            self._moved(snapshot.table_id, snapshot.seq, snapshot.decision, over=over)
        elif kind == "update":
            update = message.update
            digest = hashlib.sha256(update_bytes(raw)).hexdigest()
            self._client.journal.note(
                j.Seen(now_ns(), update.table_id, update.first_seq, update.last_seq, digest, update.game_over)
            )
            self._moved(update.table_id, update.last_seq, update.decision, over=update.game_over)

    def _moved(self, table_id: str, seq: int, decision: decision_pb2.Decision, *, over: bool) -> None:
        place = self.places.get(table_id)
        if place is not None:
            place.seq, place.decision, place.is_over = max(place.seq, seq), decision, over
            self.moves += 1
            self._on_news(table_id)


def update_bytes(raw: bytes) -> bytes:
    """The bytes of the update in a message of a watch. ValueError if it is not the message's only field."""
    if raw[0] != _UPDATE_TAG:
        raise ValueError("the message does not begin with an update")
    size, shift, at = 0, 0, 1
    while True:
        size |= (raw[at] & 0x7F) << shift
        at += 1
        if raw[at - 1] < 0x80:
            break
        shift += 7
    if at + size != len(raw):
        raise ValueError("the message holds more than an update")
    return raw[at:]
