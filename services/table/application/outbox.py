"""The way from the log to the event stream: at least once, and in order for each table.

There is no table of messages: the log is the outbox, and each game has a mark of how far it is published. What has
been committed here goes out at once, from memory; the marks follow in bulk. What the marks do not cover after a
while (a crash, a stream that was away for too long) is read from the log again.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

import grpc
from magnate.table.v1 import table_pb2

from services.kit.errors import ServiceError
from services.kit.logs import get_log
from services.table.application.last_updates import read_update
from services.table.application.messages import table_message
from services.table.application.options import Options
from services.table.application.ports import (
    Game,
    LoggedUpdate,
    Message,
    Meter,
    OwnTime,
    Publisher,
    Store,
    TableKey,
    Wall,
)
from services.table.application.turns import turns_of
from services.table.domain.table import Status, Table

_log = get_log(__name__)
_MAX_BATCH = 256
_FIRST_BACKOFF_S = 0.05
# Probes come this way too: a long wait after the stream is back would be play time that nobody gets to play.
_LAST_BACKOFF_S = 0.25
_LAST_S = 2.0
_LAST_MARKS_S = 1.0
_RECOVERED_PER_PASS = 200
_UPDATES_PER_PASS = 1_000
_LOBBY_SUFFIX = ":lobby"
_BOT_SUFFIX = ":bot"
# One probe stands for all shards that share a database; its answer is looked for on the first one.
PROBE_SHARD = 0


@dataclass(frozen=True, slots=True)
class _Queued:
    message: Message
    since_s: float
    key: TableKey | None = None
    is_lobby: bool = False
    is_probe: bool = False


class Outbox:
    """Takes what has been committed and brings it to the event stream."""

    def __init__(self, store: Store, publisher: Publisher, wall: Wall, meter: Meter, options: Options) -> None:
        self._store = store
        self._publisher = publisher
        self._wall = wall
        self._meter = meter
        self._options = options
        self._queue: deque[_Queued] = deque()
        self._wake = asyncio.Event()
        # The event stream has refused the last attempts.
        self._failures = 0
        self._game_marks: dict[TableKey, int] = {}
        self._lobby_marks: dict[TableKey, int] = {}
        # Tables whose messages did not fit; they are read from the log when the stream takes messages again.
        self._behind: set[TableKey] = set()
        # Tables that are being read from the log, and whether something came meanwhile.
        self._meanwhile: dict[TableKey, bool] = {}
        # Tables with a commit whose answer got lost, and the number before it; and that the store answers again.
        self._unknown: dict[TableKey, int] = {}
        self._answers = asyncio.Event()
        # How far the search for what was not published has come.
        self._looked_at: tuple[int, str] | None = None

    def update_committed(
        self,
        key: TableKey,
        last_seq: int,
        update: bytes,
        own_time: OwnTime,
        turns: Sequence[table_pb2.BotTurn] = (),
    ) -> None:
        """An update is on disk; the turns of bots that it brings go out right behind it. The last one may come again:
        then the clock arms its deadlines anew."""
        if key in self._meanwhile:
            self._meanwhile[key] = True
            return
        if key in self._behind:
            return
        if self._is_full:
            self._behind.add(key)
            return
        payload = table_pb2.StreamMessage(
            update=update,
            history_id=self._store.history_id,
            held_ms=own_time.held_ms,
            grace_ms=own_time.grace_ms,
        ).SerializeToString()
        # The last of what belongs together carries the mark: whoever finds it has nothing to ask again.
        self._push(Message(key.shard, key.table_id, last_seq, payload), None if turns else key)
        for number, turn in enumerate(turns, start=1):
            self._push_turn(turn, key if number == len(turns) else None)

    def outcome_unknown(self, key: TableKey, first_seq: int) -> None:
        """The store did not say whether an update is on disk. It is looked for as soon as the store answers."""
        self._unknown[key] = min(first_seq - 1, self._unknown.get(key, first_seq))

    def bot_asked(self, turn: table_pb2.BotTurn) -> None:
        """A bot is asked again; where too much waits it is not, and the table plays for it."""
        if not self._is_full:
            self._push_turn(turn)

    def table_changed(self, table: Table) -> None:
        """A table has changed outside its game. Where too much waits, `recover` finds it by its mark."""
        if self._is_full:
            return
        payload = table_pb2.StreamMessage(table=table_message(table)).SerializeToString()
        message = Message(table.shard, table.table_id + _LOBBY_SUFFIX, table.lobby_version, payload)
        self._push(message, TableKey(table.shard, table.table_id), is_lobby=True)

    def probe_committed(self, probe_id: str) -> None:
        """A probe is on disk. ServiceError while the event stream does not take what waits: one that came out after an
        outage would say that the site can be played, when another part may have failed meanwhile.

        What nobody knows of is looked for now: play time goes on, and people wait for it."""
        if self._failures and self._queue:
            raise ServiceError(grpc.StatusCode.UNAVAILABLE, "unreachable", "the event stream takes nothing")
        if self._unknown:
            self._answers.set()
        payload = table_pb2.StreamMessage(probe=table_pb2.ProbeSeen(probe_id=probe_id)).SerializeToString()
        self._queue.append(
            _Queued(Message(PROBE_SHARD, "probe:" + probe_id, 1, payload), self._wall.monotonic_s(), is_probe=True)
        )
        self._wake.set()

    def forget_all(self) -> None:
        """The store holds another history: what waits here belongs to the one before."""
        self._queue.clear()
        self._game_marks.clear()
        self._lobby_marks.clear()
        self._behind.clear()
        self._meanwhile.clear()
        self._unknown.clear()

    async def run(self) -> None:
        """Publishes for ever; for one background task."""
        backoff_s = _FIRST_BACKOFF_S
        while True:
            if not self._queue:
                self._wake.clear()
                await self._wake.wait()
            try:
                await self._publish_batch()
            except ServiceError as error:
                if backoff_s == _FIRST_BACKOFF_S:
                    _log.warning("publish_failed", reason=error.reason, waiting=len(self._queue))
                self._failures += 1
                if self._failures > 1:
                    self._drop_probes()
                self._report()
                await asyncio.sleep(backoff_s)
                backoff_s = min(backoff_s * 2, _LAST_BACKOFF_S)
                continue
            backoff_s, self._failures = _FIRST_BACKOFF_S, 0

    async def finish(self) -> None:
        """Publishes what still waits, for two seconds at most, and notes how far it came; for when `run` has ended."""
        try:
            async with asyncio.timeout(_LAST_S):
                while self._queue:
                    await self._publish_batch()
        except (TimeoutError, ServiceError):
            # Nothing is lost: the next one to look at the marks finds it.
            _log.warning("outbox_left", messages=len(self._queue))
        try:
            async with asyncio.timeout(_LAST_MARKS_S):
                await self.write_marks()
        except (TimeoutError, ServiceError):
            _log.warning("marks_left", tables=len(self._game_marks))

    async def run_upkeep(self) -> None:
        """Writes the marks, and reads again what they do not cover; for one background task."""
        since_s = 0.0
        while True:
            self._answers.clear()
            self._report()
            await _attempt(self.look_for_unknown)
            is_marked, now_s = await _attempt(self.write_marks), self._wall.monotonic_s()
            if is_marked and now_s - since_s >= self._options.recover_after_ms / 1000:
                since_s = now_s
                await _attempt(self.recover)
            await self._until_next()

    async def _until_next(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(self._options.mark_every_ms / 1000):
                await self._answers.wait()

    async def write_marks(self) -> None:
        """Notes in the store what the stream has taken since the last time."""
        games, self._game_marks = self._game_marks, {}
        lobbies, self._lobby_marks = self._lobby_marks, {}
        if games:
            for key, seq in await self._store.mark_published(list(games.items())):
                self._game_marks[key] = max(self._game_marks.get(key, 0), seq)
        if lobbies:
            await self._store.mark_lobby_published(list(lobbies.items()))

    async def look_for_unknown(self) -> None:
        """Publishes what is on disk though nobody heard so."""
        for key in list(self._unknown):
            after_seq = self._unknown.pop(key, None)
            if after_seq is None:
                continue
            try:
                await self._publish_again(key, after_seq)
            except ServiceError:
                self.outcome_unknown(key, after_seq + 1)
                raise

    async def recover(self) -> None:
        """Publishes from the store what was committed a while ago and is not marked; unless a backlog explains it.
        Where there are very many games it looks at some of them, and at the next ones the next time."""
        if self._queue:
            return
        before_ms = self._wall.unix_ms() - self._options.recover_after_ms
        for table in await self._store.unpublished_lobbies(before_ms, _RECOVERED_PER_PASS):
            self.table_changed(table)
        games = await self._store.unpublished(before_ms, _RECOVERED_PER_PASS, after=self._looked_at)
        for game in games:
            key = TableKey(game.shard, game.table_id)
            if game.published_seq < self._game_marks.get(key, 0):
                continue
            await self._publish_again(key, game.published_seq)
        if len(games) < _RECOVERED_PER_PASS:
            self._looked_at = await self._store.live_edge(self._looked_at)

    async def _publish_again(self, key: TableKey, after_seq: int) -> None:
        rows, game = await self._read_again(key, after_seq)
        self._behind.discard(key)
        if game is None:
            return
        for row in rows:
            self.update_committed(key, row.last_seq, row.update, OwnTime.of(game.table))
        update = read_update(key.table_id, game.last_update)
        if not rows and update is not None:
            # The last one was to come again.
            self.update_committed(key, update.last_seq, game.last_update, OwnTime.of(game.table))
        # Whoever committed may have died before he told the bots.
        if game.table.status == Status.RUNNING and not game.table.is_paused:
            for turn in turns_of(key, game.table.bot_levels(), update) if update is not None else ():
                self._push_turn(turn)
        _log.info("published_again", table_id=key.table_id, after_seq=after_seq, updates=len(rows))

    async def _read_again(self, key: TableKey, after_seq: int) -> tuple[list[LoggedUpdate], Game | None]:
        """The updates after a number, with those that are committed while we read: they must neither overtake the
        others nor wait for the next pass; and their game, where there are any."""
        rows: list[LoggedUpdate] = []
        game: Game | None = None
        is_whole, came, came_last = False, False, False
        try:
            while not is_whole or came_last:
                self._meanwhile[key] = False
                more, _ = await self._store.read_log(key, rows[-1].last_seq if rows else after_seq, _UPDATES_PER_PASS)
                rows += more
                is_whole = len(more) < _UPDATES_PER_PASS
                game = await self._store.load_game(key) if is_whole and (rows or came) else None
                if key not in self._meanwhile:
                    # The store holds another history.
                    return [], None
                came_last = self._meanwhile[key]
                came = came or came_last
        except ServiceError:
            if came or self._meanwhile.get(key):
                self._behind.add(key)
            raise
        finally:
            self._meanwhile.pop(key, None)
        return rows, game

    def _drop_probes(self) -> None:
        """They are answered too late to say anything; the clock sends others."""
        self._queue = deque(queued for queued in self._queue if not queued.is_probe)

    async def _publish_batch(self) -> None:
        batch = list(islice(self._queue, _MAX_BATCH))
        await self._publisher.publish([queued.message for queued in batch])
        for queued in batch:
            if self._queue and self._queue[0] is queued:
                self._queue.popleft()
                self._mark(queued)
        self._meter.published(len(batch))

    def _report(self) -> None:
        lag_s = self._wall.monotonic_s() - self._queue[0].since_s if self._queue else 0.0
        self._meter.outbox_waits(len(self._queue), lag_s)

    @property
    def _is_full(self) -> bool:
        return len(self._queue) >= self._options.outbox_size

    def _push_turn(self, turn: table_pb2.BotTurn, marks: TableKey | None = None) -> None:
        """With it on the event stream, all up to it is there of the table `marks`."""
        payload = table_pb2.StreamMessage(bot_turn=turn).SerializeToString()
        self._push(Message(turn.shard, turn.table_id + _BOT_SUFFIX, turn.seq, payload), marks)

    def _push(self, message: Message, key: TableKey | None = None, *, is_lobby: bool = False) -> None:
        self._queue.append(_Queued(message, self._wall.monotonic_s(), key, is_lobby))
        self._wake.set()

    def _mark(self, queued: _Queued) -> None:
        if queued.key is None:
            return
        marks = self._lobby_marks if queued.is_lobby else self._game_marks
        marks[queued.key] = max(marks.get(queued.key, 0), queued.message.seq)


async def _attempt(work: Callable[[], Awaitable[None]]) -> bool:
    """Whether it succeeded: what is not marked is published once more when the store is back."""
    try:
        await work()
    except ServiceError as error:
        _log.warning("upkeep_failed", reason=error.reason)
        return False
    return True
