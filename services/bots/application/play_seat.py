"""Plays one turn of a bot: looks at the position, chooses, submits."""

from __future__ import annotations

import asyncio
import hashlib
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

import grpc

from services.bots.application.instruments import Instruments
from services.bots.application.ports import Position, Tables, Turn
from services.bots.application.positions import Positions
from services.bots.domain.roster import LEVELS, STANDARD, level_named
from services.kit.errors import ServiceError
from services.kit.logs import get_log
from services.rules.domain.commands import Action

T = TypeVar("T")

_log = get_log(__name__)
_FIRST_BACKOFF_S = 0.05
_LAST_BACKOFF_S = 2.0

#: another try may succeed: the table was away, or has too much to do
_PASSING = frozenset(
    {
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        grpc.StatusCode.ABORTED,
    }
)
#: the turn is over already, whoever played it
_OVER = frozenset(
    ("stale_decision", "not_asked", "game_over", "seat_out", "not_started", "no_table", "table_paused", "table_stopped")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Manners:
    """How bots behave: the pause before an action, and how often a call that failed is tried again."""

    think_ms: int = 0
    tries: int = 6


class PlaySeat:
    """Plays turns; one that is over, or refused, is done: the table service plays what no bot answers."""

    def __init__(self, tables: Tables, positions: Positions, instruments: Instruments, manners: Manners) -> None:
        self._tables = tables
        self._positions = positions
        self._instruments = instruments
        self._manners = manners

    async def play(self, turn: Turn) -> None:
        """Submits an action for the turn if it is still open. Raises ServiceError when the table stays away."""
        began = time.perf_counter()
        if self._manners.think_ms:
            await asyncio.sleep(self._manners.think_ms / 1000)
        position = await self._position(turn)
        if position is None or not _is_open(position, turn):
            self._instruments.turn_done("stale", began)
            return
        action = self._choose(turn, position)
        if action is None:
            self._instruments.turn_done("silent", began)
            return
        self._instruments.turn_done(await self._submit(turn, action, position.seq), began)

    async def _position(self, turn: Turn) -> Position | None:
        known = self._positions.find(turn.table_id)
        if known is not None and known.seq >= turn.seq:
            return known
        position = await self._try(lambda: self._tables.position(turn.table_id))
        if position is not None:
            self._positions.keep(turn.table_id, position)
        return position

    def _choose(self, turn: Turn, position: Position) -> Action | None:
        level = level_named(turn.level) or LEVELS[STANDARD]
        began = time.perf_counter()
        action = level.bot.choose(
            position.edition,
            position.view,
            position.options,
            turn.seat,
            seed_of(position.view.config.seed_hash, turn.seat),
        )
        self._instruments.chosen(level.name, time.perf_counter() - began)
        return action

    async def _submit(self, turn: Turn, action: Action, seq: int) -> str:
        # The same for every replica that finds the seat asked here: a repeat does nothing.
        command_id = f"bot.{turn.seat}.{turn.decision_id}.{seq}"
        try:
            await self._try(lambda: self._tables.submit(turn, action, command_id))
        except ServiceError as error:
            if error.code in _PASSING:
                raise
            if error.reason.lower() in _OVER:
                return "stale"
            self._positions.forget(turn.table_id)
            _log.warning(
                "bot_refused",
                table=turn.table_id,
                seat=turn.seat,
                decision=turn.decision_id,
                action=type(action).__name__,
                reason=error.reason,
            )
            return "refused"
        return "played"

    async def _try(self, call: Callable[[], Awaitable[T]]) -> T:
        backoff_s = _FIRST_BACKOFF_S
        left = self._manners.tries
        while True:
            left -= 1
            try:
                return await call()
            except ServiceError as error:
                if error.code not in _PASSING or not left:
                    raise
                wanted_s = (error.retry_after_ms or 0) / 1000
            await asyncio.sleep(max(wanted_s, backoff_s * random.uniform(0.5, 1.0)))
            backoff_s = min(backoff_s * 2, _LAST_BACKOFF_S)


def _is_open(position: Position, turn: Turn) -> bool:
    decision = position.view.decision
    return (
        decision is not None
        and decision.id == turn.decision_id
        and any(option.seat == turn.seat for option in position.options)
    )


def seed_of(seed_hash: str, seat: int) -> int:
    """The bot's own seed: lasting for its seat, the same in every replica and in every game of one seed."""
    return int.from_bytes(hashlib.sha256(f"{seed_hash}/{seat}".encode()).digest()[:8], "big")
