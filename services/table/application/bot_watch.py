"""Bots that were asked and have not answered: asked again once, then played by the table itself [IND-BOT-09]."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from magnate.game.v1 import command_pb2, update_pb2
from magnate.table.v1 import table_pb2

from services.kit.errors import ServiceError
from services.kit.logs import get_log
from services.table.application.last_updates import read_update
from services.table.application.options import Options
from services.table.application.outbox import Outbox
from services.table.application.ports import Meter, Store, TableKey, Wall
from services.table.application.turns import turns_of
from services.table.domain.fallback import least_spending
from services.table.domain.refusals import RefusalError
from services.table.domain.table import Status

_log = get_log(__name__)
_TICK_S = 0.25
_SCAN_EVERY_S = 5.0
_PAGE = 500
# These mean that the game has gone on without us.
_TOO_LATE = ("stale_decision", "not_asked", "game_over", "seat_out", "table_paused", "table_stopped")


class Plays(Protocol):
    """Does a command in a bot's name."""

    async def for_bot(self, key: TableKey, command: command_pb2.Command) -> object: ...


@dataclass(slots=True)
class _Asked:
    due_s: float
    seq: int
    turns: tuple[table_pb2.BotTurn, ...]
    again: bool = False


class BotWatch:
    """One small entry for each running table whose bots are asked."""

    def __init__(self, store: Store, outbox: Outbox, wall: Wall, meter: Meter, options: Options) -> None:
        self._store = store
        self._outbox = outbox
        self._wall = wall
        self._meter = meter
        self._half_s = options.bot_answer_ms / 2000
        self._quiet_ms = 2 * options.bot_answer_ms
        # In the order in which they fall due, for every entry waits equally long.
        self._asked: dict[TableKey, _Asked] = {}
        # How far the look at games that nobody watches has come.
        self._scanned: tuple[int, str] | None = None

    def game_moved(self, key: TableKey, seq: int, turns: Sequence[table_pb2.BotTurn]) -> None:
        """A command was done; these bots are asked after it."""
        self._asked.pop(key, None)
        if turns:
            self._asked[key] = _Asked(self._wall.monotonic_s() + self._half_s, seq, tuple(turns))

    def forget_all(self) -> None:
        """The store holds another history; its games are found by the next scan."""
        self._asked.clear()

    async def run(self, plays: Plays) -> None:
        """Watches for ever; for one background task."""
        scanned_s = 0.0
        is_first = True
        while True:
            try:
                if is_first or self._wall.monotonic_s() - scanned_s >= _SCAN_EVERY_S:
                    scanned_s = self._wall.monotonic_s()
                    is_first = await self.scan() and is_first
                await self.play_due(plays)
            except ServiceError as error:
                _log.warning("bot_watch_failed", reason=error.reason)
            await asyncio.sleep(_TICK_S)

    async def play_due(self, plays: Plays) -> None:
        """Asks again, or plays, what is due now."""
        now_s = self._wall.monotonic_s()
        while self._asked:
            key, asked = next(iter(self._asked.items()))
            if asked.due_s > now_s:
                return
            del self._asked[key]
            if asked.again:
                await self._play(plays, key, asked)
                continue
            for turn in asked.turns:
                self._outbox.bot_asked(turn)
            asked.again = True
            asked.due_s = now_s + self._half_s
            self._asked[key] = asked

    async def scan(self) -> bool:
        """Takes up games that nobody watches, such as after a restart: some each time, so that it costs the same
        however many there are. False when it has come to the last one, and will begin anew."""
        before_ms = self._wall.unix_ms() - self._quiet_ms
        games = await self._store.list_quiet(before_ms, self._scanned, _PAGE)
        for live in games:
            key = TableKey(live.shard, live.table_id)
            if key not in self._asked:
                update = read_update(live.table_id, live.last_update)
                if update is not None:
                    self.game_moved(key, update.last_seq, turns_of(key, live.bot_levels, update))
        is_more = len(games) == _PAGE
        self._scanned = (games[-1].shard, games[-1].table_id) if is_more else None
        return is_more

    async def _play(self, plays: Plays, key: TableKey, asked: _Asked) -> None:
        try:
            game = await self._store.load_game(key)
            if game is None or game.table.status != Status.RUNNING or game.table.is_paused:
                return
            update = read_update(key.table_id, game.last_update)
            if update is None or update.last_seq != asked.seq:
                return
            played = [await self._play_turn(plays, key, update, turn) for turn in asked.turns]
            if not any(played):
                self.game_moved(key, asked.seq, asked.turns)
        except (ServiceError, RefusalError) as error:
            _log.warning("bot_not_played", table_id=key.table_id, reason=str(error.reason))
            # The rules or the store are away: try again as if the bot had just been asked.
            self.game_moved(key, asked.seq, asked.turns)

    async def _play_turn(self, plays: Plays, key: TableKey, update: update_pb2.Update, turn: table_pb2.BotTurn) -> bool:
        """Whether the game has gone on."""
        command_id = f"magnate:bot:{turn.decision_id}:{turn.seat}"
        for command in least_spending(update.decision, turn.seat, command_id):
            try:
                await plays.for_bot(key, command)
            except ServiceError as error:
                if error.code.name in ("UNAVAILABLE", "DEADLINE_EXCEEDED", "INTERNAL", "ABORTED"):
                    raise
                if error.reason in _TOO_LATE:
                    return True
                continue
            self._meter.fallback_played()
            _log.warning("bot_played_by_table", table_id=key.table_id, seat=turn.seat, decision_id=turn.decision_id)
            return True
        return False
