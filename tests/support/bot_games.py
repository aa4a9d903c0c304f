"""Whole games of bots by the core alone: no services, no clock."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from services.bots.domain.roster import LEVELS, STANDARD
from services.rules.domain.commands import Action, Command, Expire
from services.rules.domain.decide import advance
from services.rules.domain.edition import Edition
from services.rules.domain.legal import legal_actions
from services.rules.domain.new_game import Setup, begin
from services.rules.domain.options import Option
from services.rules.domain.parties import NONE
from services.rules.domain.refusals import Refusal
from services.rules.domain.state import Seating, SeatSetup, State
from services.rules.domain.view import view
from services.rules.editions.loader import EDITIONS, load_catalogue

#: (state, options, seat, the bot's action): called before each command
Watcher = Callable[[State, tuple[Option, ...], int, Action], None]
#: play time that one command takes, in milliseconds
STEP_MS = 3_000


class GameFailedError(Exception):
    """A game that cannot go on: what happened, in words."""


@dataclass(slots=True)
class GameRun:
    """A game played so far. `times_ms` has the play time of each command."""

    state: State
    commands: list[Command] = field(default_factory=list)
    times_ms: list[int] = field(default_factory=list)
    now_ms: int = 0
    events: int = 0
    choices: int = 0
    core_seconds: float = 0.0
    bot_seconds: float = 0.0

    @property
    def winner(self) -> int | None:
        """The seat that won, None while the game runs."""
        return self.state.places[0].seat if self.state.ended else None


def seating_of_bots(edition: Edition) -> Seating:
    """The seating of a table of bots alone: its own, or that which mixes people and bots."""
    return "bots" if "bots" in edition.seating else "mixed"


def flat_edition(edition_id: str = "industry") -> Edition:
    """An edition for a table of bots alone."""
    edition = load_catalogue(EDITIONS).get(edition_id)
    return edition.at(seating_of_bots(edition))


def bot_setup(edition: Edition, *, seats: int, seed: int, people: int = 0) -> Setup:
    """A table of the flat edition; its first seats may be people's, whom bots play for."""
    teams = list(range(seats))
    for team, members in enumerate(edition.teams or ()):
        for seat in members:
            teams[seat] = team
    return Setup(
        seating=edition.seating[0],
        seats=tuple(SeatSetup("person" if seat < people else "bot", team) for seat, team in enumerate(teams)),
        server_seed=hashlib.sha256(f"game {seed}".encode()).digest(),
    )


def new_bot_game(edition: Edition, *, seats: int, seed: int, people: int = 0) -> State:
    """A game that waits for its first roll."""
    return begin(edition, bot_setup(edition, seats=seats, seed=seed, people=people), 0).state


def seats_of(edition: Edition, wanted: int) -> int:
    """The number of seats nearest to the wanted one that the edition allows."""
    return max(edition.seats.least, min(edition.seats.most, wanted))


@dataclass(slots=True)
class BotTable:
    """Bots at a table of the core; every command takes `step_ms` of play time."""

    edition: Edition
    seed: int
    run: GameRun
    watch: Watcher | None = None
    level: str = STANDARD
    through_view: bool = False
    step_ms: int = STEP_MS

    def step(self) -> None:
        """One command: of the first bot that wants to say something, or of the clock. Raises GameFailedError."""
        run, state = self.run, self.run.state
        clock = time.process_time
        began = clock()
        options = legal_actions(self.edition, state, run.now_ms)
        listed = clock()
        run.core_seconds += listed - began
        command = self._due() or self._chosen(options) or self._last_resort()
        decided = clock()
        run.bot_seconds += decided - listed
        result = advance(self.edition, state, command, run.now_ms)
        run.core_seconds += clock() - decided
        if isinstance(result, Refusal):
            raise GameFailedError(f"game {self.seed}: {command} at {state.decision}: {result.message}")
        run.state = result.state
        run.events += len(result.events)
        run.commands.append(command)
        run.times_ms.append(run.now_ms)
        run.now_ms += self.step_ms

    def _due(self) -> Command | None:
        state = self.run.state
        for deadline in state.deadlines:
            if deadline.due_at_ms + state.config.grace_ms <= self.run.now_ms:
                return Command(NONE, 0, Expire(deadline.id))
        return None

    def _chosen(self, options: tuple[Option, ...]) -> Command | None:
        run, state = self.run, self.run.state
        decision = state.decision
        if decision is None:
            raise GameFailedError(f"game {self.seed}: round {state.round} waits for nothing")
        seen = view(state) if self.through_view else state
        bot = LEVELS[self.level].bot
        for seat in askable(state, options):
            run.choices += 1
            action = bot.choose(self.edition, seen, options, seat, self.seed * 8 + seat)
            if action is not None:
                if self.watch is not None:
                    self.watch(state, options, seat, action)
                return Command(seat, decision.id, action)
        return None

    def _last_resort(self) -> Command:
        """Nobody wants to say anything: time passes until the next deadline."""
        run, state = self.run, self.run.state
        if not state.deadlines:
            raise GameFailedError(f"game {self.seed}: everybody stays silent at {state.decision}")
        deadline = min(state.deadlines, key=lambda item: item.due_at_ms)
        run.now_ms = max(run.now_ms, deadline.due_at_ms + state.config.grace_ms)
        return Command(NONE, 0, Expire(deadline.id))


def askable(state: State, options: tuple[Option, ...]) -> list[int]:
    """Seats that are asked and have an answer, then those that may claim rent without being asked."""
    seats = list(dict.fromkeys(option.seat for option in options if option.kind == "claim_rent"))
    if state.decision is not None:
        having = {option.seat for option in options}
        seats += [seat for seat in state.decision.seats if seat not in seats and seat in having]
    return seats


def play_bots(
    edition: Edition,
    *,
    seats: int,
    seed: int,
    max_rounds: int = 1000,
    watch: Watcher | None = None,
    level: str = STANDARD,
    through_view: bool = False,
    step_ms: int = STEP_MS,
    people: int = 0,
) -> GameRun:
    """Plays until there is a winner or the round limit is passed. Raises GameFailedError.

    With `through_view` the bots get a view made by the core, as they do at a table; else the state itself, which is
    faster and must make no difference. The first `people` seats are people's, for whom the bots play too.
    """
    run = GameRun(new_bot_game(edition, seats=seats, seed=seed, people=people))
    table = BotTable(edition, seed, run, watch, level, through_view, step_ms)
    while not run.state.ended and run.state.round <= max_rounds:
        table.step()
    return run
