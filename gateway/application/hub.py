"""All watches of this gateway: one subscription to the event stream feeds them all, and none waits for another."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from google.protobuf.message import DecodeError
from magnate.table.v1 import table_pb2

from gateway.application import refusals
from gateway.application.feeds import Feed, has_game, may_watch
from gateway.application.filling import Filler
from gateway.application.frames import Frame, ended_frame, ended_frames, read_stream_message
from gateway.application.joining import Joiner, TooSlowError, reason_of
from gateway.application.ports import TableCalls
from gateway.application.watch import Target, Watch, WatchLimits
from gateway.domain.continuity import Place
from services.kit.calls import as_service_error
from services.kit.errors import ServiceError
from services.kit.logs import get_log

_log = get_log(__name__)


class Wish(NamedTuple):
    """A table to watch after a number of a history (empty: of any), or from a snapshot."""

    table_id: str
    after_seq: int | None
    history_id: str = ""


class Hub:
    """Feeds the watches. `on_probe` is told of every probe seen on the event stream."""

    def __init__(
        self,
        table: TableCalls,
        limits: WatchLimits,
        *,
        on_probe: Callable[[str], None],
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self.limits = limits
        self.watches: dict[str, Watch] = {}
        self.feeds: dict[str, Feed] = {}
        self.slow_cuts = 0
        self.draining = False
        self.on_touch: Callable[[Watch, str], None] = lambda watch, table_id: None
        self._filler = Filler(table, give=self._give, learn=self._on_table, on_fork=self._forked)
        self._joiner = Joiner(table, on_fork=self._forked, fill=self._filler.fill)
        self._on_probe = on_probe
        self._now_s = now_s
        self._heard_s = now_s()

    # ---- watches ----------------------------------------------------------------------------------------------

    def open(self, *, session: table_pb2.Session, token: str, wishes: Sequence[Wish]) -> Watch:
        """A new watch of these tables. RESOURCE_EXHAUSTED overloaded; UNAVAILABLE draining."""
        if self.draining:
            raise refusals.draining()
        own = sum(1 for watch in self.watches.values() if watch.session_id == session.session_id)
        if own >= self.limits.watches_per_session:
            raise refusals.overloaded("this session has too many watches open", self.limits.heartbeat_ms)
        watch = Watch(
            watch_id=secrets.token_urlsafe(12),
            session_id=session.session_id,
            token=token,
            expires_at_unix_ms=session.expires_at_unix_ms,
            limits=self.limits,
            on_overflow=self._cut,
        )
        self._check(watch, wishes)
        self.watches[watch.watch_id] = watch
        self._add(watch, wishes)
        return watch

    def change(self, watch: Watch, *, add: Sequence[Wish], remove: Sequence[str]) -> None:
        """Takes tables off a watch, then adds some; one that is there already begins anew as wished."""
        self._check(watch, add, remove)
        for table_id in {*remove, *(wish.table_id for wish in add)}:
            target = watch.targets.get(table_id)
            if target is not None:
                self._detach(target)
                watch.forget(table_id)
        self._add(watch, add)

    def close(self, watch: Watch) -> None:
        """The client has gone, or has got its end."""
        watch.end([], drop_waiting=True)
        self.watches.pop(watch.watch_id, None)
        if watch.joiner is not None:
            watch.joiner.cancel()
        for target in list(watch.targets.values()):
            self._detach(target)

    def end_watch(self, watch: Watch, reason: str) -> None:
        """Ends a watch after what waits for its client."""
        places = {target.table_id: target.sent_seq for target in watch.targets.values()}
        watch.end(ended_frames(reason, places), drop_waiting=False)
        for target in list(watch.targets.values()):
            self._detach(target)

    def end_session(self, session_id: str) -> None:
        """Ends all watches of a session."""
        for watch in [watch for watch in self.watches.values() if watch.session_id == session_id]:
            self.end_watch(watch, "no_session")

    def renew_session(self, session: table_pb2.Session, token: str) -> None:
        """Watches of a session go on under its new token and expiry."""
        for watch in self.watches.values():
            if watch.session_id == session.session_id:
                watch.token, watch.expires_at_unix_ms = token, session.expires_at_unix_ms

    def drain(self) -> None:
        """Ends all watches with `draining` and takes no more."""
        self.draining = True
        for watch in list(self.watches.values()):
            self.end_watch(watch, "draining")

    def _check(self, watch: Watch, wishes: Sequence[Wish], remove: Sequence[str] = ()) -> None:
        names = [wish.table_id for wish in wishes]
        if len(set(names)) != len(names):
            raise refusals.malformed("targets", "a table is named twice")
        if len((set(watch.targets) - set(remove)) | set(names)) > self.limits.tables_per_watch:
            raise refusals.overloaded("this watch has too many tables", self.limits.heartbeat_ms)

    def _add(self, watch: Watch, wishes: Sequence[Wish]) -> None:
        for table_id, after_seq, history_id in wishes:
            target = Target(watch, table_id, after_seq, history_id)
            watch.targets[table_id] = target
            feed = self.feeds.get(table_id)
            if feed is None:
                feed = self.feeds[table_id] = Feed(table_id, self._now_s())
            feed.targets[target] = None
            self._join_later(target)

    def _detach(self, target: Target) -> None:
        target.ended = True
        if target.watch.targets.get(target.table_id) is target:
            del target.watch.targets[target.table_id]
        feed = self.feeds.get(target.table_id)
        if feed is not None:
            feed.targets.pop(target, None)
            if not feed.targets:
                del self.feeds[target.table_id]
                self._filler.stop(feed)

    def _end_target(self, target: Target, reason: str) -> None:
        if not target.ended:
            self._detach(target)
            frame = ended_frame(reason, table_id=target.table_id, resume_after_seq=target.sent_seq)
            target.watch.put(frame)

    def _cut(self, watch: Watch) -> None:
        """The client reads too slowly: what waits is dropped, and it is told where to resume."""
        self.slow_cuts += 1
        places = {target.table_id: watch.delivered_seq(target) for target in watch.targets.values()}
        watch.end(ended_frames("slow_client", places), drop_waiting=True)
        for target in list(watch.targets.values()):
            self._detach(target)
        _log.info("slow_client_cut", watch=watch.watch_id, session=watch.session_id)
        # A client that does not even take its end within this time loses its stream.
        asyncio.get_running_loop().call_later(self.limits.slow_ms / 1000, self._kick, watch)

    def _kick(self, watch: Watch) -> None:
        if watch.watch_id in self.watches:
            watch.cut()

    # ---- joining ----------------------------------------------------------------------------------------------

    def _join_later(self, target: Target) -> None:
        watch = target.watch
        watch.to_join.append(target)
        if watch.joiner is None or watch.joiner.done():
            watch.joiner = asyncio.create_task(self._join_all(watch))

    async def _join_all(self, watch: Watch) -> None:
        while watch.to_join:
            target = watch.to_join.popleft()
            feed = self.feeds.get(target.table_id)
            if target.ended or feed is None:
                continue
            try:
                if target.joined:
                    await self._joiner.catch_up(feed, target)
                else:
                    await self._joiner.join(feed, target)
                    self.on_touch(watch, target.table_id)
            except ServiceError as error:
                self._end_target(target, reason_of(error))
            except TooSlowError:
                if not watch.over:
                    self._cut(watch)
            except Exception as error:
                self._end_target(target, reason_of(as_service_error(error, "watch") or refusals.unreachable("")))

    # ---- what comes over the event stream ------------------------------------------------------------------------

    def on_payload(self, payload: bytes) -> None:
        """Takes one message of the event stream in; one that does not parse is logged and passed over."""
        try:
            message = read_stream_message(payload)
        except DecodeError:
            _log.error("stream_message_unknown", bytes=len(payload))
            return
        if isinstance(message, Frame):
            self._heard_s = self._now_s()
            feed = self.feeds.get(message.table_id)
            if feed is not None:
                self._on_update(feed, message)
            return
        kind = message.WhichOneof("message")
        if kind == "table":
            self._on_table(message.table)
        elif kind == "probe":
            self._on_probe(message.probe.probe_id)

    def silence_ms(self) -> int:
        """Milliseconds in which no update came over the event stream: since the last one, before it since the start."""
        return int((self._now_s() - self._heard_s) * 1000)

    def on_lagged(self, shard: int | None) -> None:
        """The event stream may have lost something of a shard (None: of any): its tables are compared at once."""
        for feed in list(self.feeds.values()):
            if shard is None or feed.table is None or feed.table.shard == shard:
                self._filler.fill(feed)

    def reconcile(self) -> None:
        """Compares tables without news for a while with the table service: the event stream may lose anything."""
        before_s = self._now_s() - self.limits.reconcile_ms / 1000
        for feed in list(self.feeds.values()):
            if feed.heard_s < before_s and feed.last_seq is not None:
                feed.heard_s = self._now_s()
                self._filler.fill(feed)

    def _on_update(self, feed: Feed, frame: Frame) -> None:
        feed.heard_s = self._now_s()
        if not feed.is_of(frame.history_id):
            # Left over from before the store was restored, or we are: the table service knows.
            self._filler.fill(feed)
            return
        place = feed.place(frame)
        if place is Place.NEXT:
            self._give(feed, frame)
        elif place is Place.GAP and not feed.filling:
            self._filler.fill(feed)

    def _forked(self, feed: Feed) -> None:
        """The store was restored to a moment before what its watchers have seen: each begins anew with a snapshot."""
        _log.warning("history_changed", table=feed.table_id, after_seq=feed.last_seq)
        for target in tuple(feed.targets):
            self._end_target(target, "seq_ahead")

    def _give(self, feed: Feed, frame: Frame) -> None:
        """Gives an update to all who watch its table: the same bytes to everybody, nobody waits."""
        feed.last_seq = frame.last_seq
        for target in tuple(feed.targets):
            if target.live and not target.may_see:
                self._end_target(target, "no_spectators")
            elif target.receive(frame) is Place.GAP:
                self._join_later(target)

    def _on_table(self, table: table_pb2.Table) -> None:
        feed = self.feeds.get(table.table_id)
        if feed is None:
            return
        if not feed.is_of(table.history_id):
            self._filler.fill(feed)
            return
        frame = feed.learn(table)
        if feed.table is not table:
            return
        for target in tuple(feed.targets):
            if not target.joined:
                continue
            target.may_see = may_watch(table, target.watch.session_id)
            if has_game(table) and not target.may_see:
                self._end_target(target, "no_spectators")
            elif target.live:
                target.send_table(frame)
