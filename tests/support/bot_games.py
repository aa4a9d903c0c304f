"""Whole games of bots by the core alone: no services, no clock."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from services.bots.domain.roster import LEVELS, STANDARD
from services.rules.domain.commands import Action, Command
from services.rules.domain.decide import advance
from services.rules.domain.edition import Edition
from services.rules.domain.legal import legal_actions
from services.rules.domain.new_game import Setup, begin
from services.rules.domain.options import Option
from services.rules.domain.refusals import Refusal
from services.rules.domain.state import SeatSetup, State
from services.rules.domain.view import view
from services.rules.editions.loader import EDITIONS, load_catalogue

#: (state, options, seat, the bot's action): called before each command
Watcher = Callable[[State, tuple[Option, ...], int, Action], None]


class GameFailedError(Exception):
    """A game that cannot go on: what happened, in words."""


@dataclass(slots=True)
class GameRun:
    """A game played so far."""

    state: State
    commands: list[Command] = field(default_factory=list)
    events: int = 0
    core_seconds: float = 0.0
    bot_seconds: float = 0.0

    @property
    def winner(self) -> int | None:
        """The seat that won, None while the game runs."""
        return self.state.places[0].seat if self.state.ended else None


def flat_edition(edition_id: str = "industry") -> Edition:
    """An edition for a table of bots alone."""
    return load_catalogue(EDITIONS).get(edition_id).at("bots")


def new_bot_game(edition: Edition, *, seats: int, seed: int) -> State:
    """A game that waits for its first roll."""
    setup = Setup(
        seating="bots",
        seats=tuple(SeatSetup("bot", team) for team in range(seats)),
        server_seed=hashlib.sha256(f"game {seed}".encode()).digest(),
    )
    return begin(edition, setup, 0).state


def play_bots(
    edition: Edition,
    *,
    seats: int,
    seed: int,
    max_rounds: int = 1000,
    watch: Watcher | None = None,
    level: str = STANDARD,
    through_view: bool = False,
) -> GameRun:
    """Plays until there is a winner or the round limit is passed. Raises GameFailedError.

    With `through_view` the bots get a view made by the core, as they do at a table; else the state itself, which is
    faster and must make no difference.
    """
    bot = LEVELS[level].bot
    run = GameRun(new_bot_game(edition, seats=seats, seed=seed))
    clock = time.perf_counter
    while not run.state.ended and run.state.round <= max_rounds:
        state = run.state
        decision = state.decision
        if decision is None:
            raise GameFailedError(f"game {seed}: round {state.round} waits for nothing")
        began = clock()
        options = legal_actions(edition, state)
        listed = clock()
        seat = decision.seats[0]
        action = bot.choose(edition, view(state) if through_view else state, options, seat, seed * 8 + seat)
        chosen = clock()
        if action is None:
            raise GameFailedError(f"game {seed}: seat {seat} stays silent at {decision.kind}")
        if watch is not None:
            watch(state, options, seat, action)
        command = Command(seat, decision.id, action)
        result = advance(edition, state, command, 0)
        done = clock()
        if isinstance(result, Refusal):
            raise GameFailedError(f"game {seed}: {action} of seat {seat} at {decision.kind}: {result.message}")
        run.state = result.state
        run.events += len(result.events)
        run.commands.append(command)
        run.core_seconds += listed - began + done - chosen
        run.bot_seconds += chosen - listed
    return run
