"""One open watch: the bounded queue of its client, and how far each of its tables has come."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from gateway.application.frames import Frame
from gateway.domain.continuity import Place, place_of


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchLimits:
    """Bounds of a watch. Times in milliseconds."""

    heartbeat_ms: int = 5_000
    # Frames and bytes that may wait for a client before it is cut.
    queue_frames: int = 512
    queue_bytes: int = 4 * 1024 * 1024
    # How long a client that catches up may take for half a queue, and how long a cut one may take to leave.
    slow_ms: int = 10_000
    tables_per_watch: int = 64
    watches_per_session: int = 8
    # How often a table without news is compared with the table service.
    reconcile_ms: int = 15_000


class Target:
    """One table of one watch.

    It is `live` when everything up to `sent_seq` is in the client's queue; until then what comes live waits in
    `buffer`, and when there is too much of it (`overflowed`) it is read again from the table service.
    """

    __slots__ = (
        "after_seq",
        "buffer",
        "ended",
        "history_id",
        "joined",
        "live",
        "lobby_version",
        "may_see",
        "overflowed",
        "sent_seq",
        "table_id",
        "watch",
    )

    def __init__(self, watch: Watch, table_id: str, after_seq: int | None, history_id: str = "") -> None:
        self.watch = watch
        self.table_id = table_id
        self.history_id = history_id
        self.after_seq = after_seq
        self.sent_seq = after_seq or 0
        self.lobby_version = 0
        self.live = False
        self.joined = False
        self.ended = False
        self.may_see = False
        self.overflowed = False
        self.buffer: deque[Frame] = deque()

    def receive(self, frame: Frame) -> Place:
        """Takes an update in: into the queue when it is the next one, into the buffer while joining. GAP: catch up."""
        if not self.live:
            self._keep(frame)
            return Place.SEEN
        place = place_of(self.sent_seq, frame.first_seq, frame.last_seq)
        if place is Place.NEXT:
            self.send(frame)
        elif place is Place.GAP:
            self.live = False
            self._keep(frame)
        return place

    def send(self, frame: Frame) -> None:
        """Puts an update or a snapshot into the client's queue, unless the table has been taken off meanwhile."""
        if self.ended:
            return
        self.sent_seq = frame.last_seq
        self.watch.put(frame)

    def send_table(self, frame: Frame) -> None:
        """Puts a table into the client's queue, unless the client has had this or a newer one."""
        if not self.ended and (frame.lobby_version > self.lobby_version or not self.lobby_version):
            self.lobby_version = frame.lobby_version
            self.watch.put(frame)

    def drain_buffer(self) -> bool:
        """Sends what has been waiting and follows on. False: something is missing before it or was dropped."""
        while self.buffer:
            frame = self.buffer[0]
            place = place_of(self.sent_seq, frame.first_seq, frame.last_seq)
            if place is Place.GAP:
                return False
            self.buffer.popleft()
            if place is Place.NEXT:
                self.send(frame)
        return not self.overflowed

    def _keep(self, frame: Frame) -> None:
        if len(self.buffer) < self.watch.limits.queue_frames // 4:
            self.buffer.append(frame)
        else:
            self.overflowed = True


class Watch:
    """The frames that wait for one client. `on_overflow` is called when there are more than it may leave waiting."""

    def __init__(
        self,
        *,
        watch_id: str,
        session_id: str,
        token: str,
        expires_at_unix_ms: int,
        limits: WatchLimits,
        on_overflow: Callable[[Watch], None],
    ) -> None:
        self.watch_id = watch_id
        self.session_id = session_id
        self.token = token
        self.expires_at_unix_ms = expires_at_unix_ms
        self.limits = limits
        self.targets: dict[str, Target] = {}
        self.to_join: deque[Target] = deque()
        self.joiner: asyncio.Task[None] | None = None
        # Ends the stream to a client who does not even take its end.
        self.cut: Callable[[], object] = lambda: None
        self.over = False
        self._delivered: dict[str, int] = {}
        self._queue: deque[Frame] = deque()
        self._bytes = 0
        self._on_overflow = on_overflow
        self._news: asyncio.Future[None] | None = None
        self._room: asyncio.Future[None] | None = None

    @property
    def waiting(self) -> int:
        """Frames in the queue."""
        return len(self._queue)

    def delivered_seq(self, target: Target) -> int:
        """The last number of a table that has left the queue; before any has, where the client began."""
        return self._delivered.get(target.table_id, target.after_seq or 0)

    def put(self, frame: Frame) -> None:
        """Adds a frame; nothing once the watch is over."""
        if self.over:
            return
        self._queue.append(frame)
        self._bytes += len(frame.data)
        if len(self._queue) > self.limits.queue_frames or self._bytes > self.limits.queue_bytes:
            self._on_overflow(self)
        else:
            _wake(self._news)

    async def next(self) -> bytes | None:
        """The next frame's bytes; None at the end."""
        while not self._queue:
            if self.over:
                return None
            self._news = asyncio.get_running_loop().create_future()
            try:
                await self._news
            finally:
                self._news = None
        frame = self._queue.popleft()
        self._bytes -= len(frame.data)
        if frame.last_seq:
            self._delivered[frame.table_id] = frame.last_seq
        if self._room is not None and self._has_room():
            _wake(self._room)
        return frame.data

    async def room(self) -> bool:
        """Waits until half the queue is free; False when the client was too slow for that, or the watch is over."""
        if self._has_room():
            return not self.over
        self._room = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(self.limits.slow_ms / 1000):
                await self._room
        except TimeoutError:
            return False
        finally:
            self._room = None
        return not self.over

    def forget(self, table_id: str) -> None:
        """Drops what waits of a table that was taken off."""
        self._queue = deque(frame for frame in self._queue if frame.table_id != table_id)
        self._bytes = sum(len(frame.data) for frame in self._queue)
        self._delivered.pop(table_id, None)
        if self._room is not None and self._has_room():
            _wake(self._room)

    def end(self, frames: list[Frame], *, drop_waiting: bool) -> None:
        """Lets these frames be the last; what waits before them is dropped or still delivered."""
        if self.over:
            return
        if drop_waiting:
            self._queue.clear()
            self._bytes = 0
        self._queue.extend(frames)
        self.over = True
        _wake(self._news)
        _wake(self._room)

    def _has_room(self) -> bool:
        return len(self._queue) <= self.limits.queue_frames // 2 and self._bytes <= self.limits.queue_bytes // 2


def _wake(waiter: asyncio.Future[None] | None) -> None:
    if waiter is not None and not waiter.done():
        waiter.set_result(None)
