"""Random games for the property tests: many kinds of tables, moods of play and climates, all from one number."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from random import Random

from services.bots.domain.roster import LEVELS, STANDARD
from services.rules.domain import commands as c
from services.rules.domain.decide import advance
from services.rules.domain.edition import Edition
from services.rules.domain.events import BuildingBuilt, DeedMoved, Event
from services.rules.domain.evolve import evolve
from services.rules.domain.legal import legal_actions
from services.rules.domain.new_game import Setup, begin
from services.rules.domain.options import Option
from services.rules.domain.parameters import Supply
from services.rules.domain.parties import BANK
from services.rules.domain.refusals import Refusal
from services.rules.domain.replay import Entry
from services.rules.domain.state import Seating, SeatSetup, State
from services.rules.editions.loader import load_catalogue
from tests.support.play import action_of

SEATINGS: tuple[Seating, ...] = ("people", "solo", "bots")

#: start cash and supply; the scarce ones bring about debts, shortages and bankruptcies that a usual game seldom sees
CLIMATES: dict[str, tuple[int, Supply]] = {
    "usual": (1500, Supply(houses=32, hotels=12)),
    "poor": (260, Supply(houses=32, hotels=12)),
    "scarce": (4000, Supply(houses=9, hotels=2)),
    "rich": (9000, Supply(houses=32, hotels=12)),
}


@cache
def climate_edition(climate: str, seating: Seating) -> Edition:
    """The flagship for a table, with the start cash and the supply of a climate."""
    cash, supply = CLIMATES[climate]
    return replace(load_catalogue().get("industry").at(seating), start_cash=cash, supply=supply)


@dataclass(frozen=True, slots=True)
class Mood:
    """How a game is played. Shares are probabilities of each command."""

    #: the standard bot chooses; else anything legal
    bot: float
    #: a running deadline expires
    expire: float = 0.0
    #: the table takes a seat out
    withdraw: float = 0.0
    #: the game begins with deeds and buildings in many hands
    developed: bool = False


WILD = Mood(bot=0.0)
TIMED = Mood(bot=0.3, expire=0.03, withdraw=0.002)
SANE = Mood(bot=0.97)
BUILT = Mood(bot=0.6, expire=0.002, developed=True)
WILD_BUILT = Mood(bot=0.1, expire=0.01, withdraw=0.001, developed=True)
MOODS = (WILD, TIMED, SANE, BUILT, WILD_BUILT)


@dataclass(frozen=True, slots=True)
class Step:
    """One accepted command."""

    before: State
    options: tuple[Option, ...]
    command: c.Command
    play_time_ms: int
    events: tuple[Event, ...]
    after: State


@dataclass(slots=True)
class RandomGame:
    """A game that plays itself; all of it follows from `seed`."""

    seed: int
    mood: Mood
    edition: Edition = field(init=False)
    setup: Setup = field(init=False)
    state: State = field(init=False)
    entries: list[Entry] = field(init=False)
    now_ms: int = 0
    rng: Random = field(init=False)

    def __post_init__(self) -> None:
        rng = self.rng = Random(self.seed)
        seating = rng.choice(SEATINGS)
        seats = rng.randint(2, 6)
        climate = rng.choice(tuple(CLIMATES))
        self.edition = climate_edition(climate, seating)
        kinds = [
            "person" if seating == "people" or (seating == "solo" and seat == 0) else "bot" for seat in range(seats)
        ]
        self.setup = Setup(
            seating=seating,
            seats=tuple(
                SeatSetup("person" if kind == "person" else "bot", team, rng.choice(("", "00ff", f"{team:04x}")))
                for team, kind in enumerate(kinds)
            ),
            server_seed=rng.randbytes(32),
            grace_ms=rng.choice((0, 500)),
        )
        self.now_ms = rng.randrange(10**6)
        begun = begin(self.edition, self.setup, self.now_ms)
        self.state = begun.state
        self.entries = [Entry(None, self.now_ms, begun.events)]
        if self.mood.developed:
            self._develop()

    def _develop(self) -> None:
        """Deals deeds and builds evenly, by events like any others, as far as the supply goes."""
        rng, board = self.rng, self.edition.board
        for cells in board.group_cells.values():
            if rng.random() < 0.3:
                for cell in cells:
                    if rng.random() < 0.5:
                        self._tell(DeedMoved(cell, BANK, rng.randrange(len(self.state.in_play)), "trade"))
                continue
            owner = rng.randrange(len(self.state.in_play))
            for cell in cells:
                self._tell(DeedMoved(cell, BANK, owner, "trade"))
            for level in range(1, rng.choice((1, 2, 3, 5, 6)) if board.is_street[cells[0]] else 1):
                for cell in cells:
                    stock = self.state.supply_hotels if level == 5 else self.state.supply_houses
                    if stock and min(self.state.levels[other] for other in cells) >= level - 1:
                        self._tell(BuildingBuilt(cell, level))

    def _tell(self, event: Event) -> None:
        first = self.entries[0]
        self.entries[0] = Entry(None, first.play_time_ms, (*first.events, event))
        self.state = evolve(self.edition, self.state, event)

    def steps(self, limit: int) -> Iterator[Step]:
        """Plays on for so many commands, or to the end of the game."""
        for _ in range(limit):
            if self.state.ended:
                return
            before, options = self.state, legal_actions(self.edition, self.state)
            command = self._command(options)
            result = advance(self.edition, before, command, self.now_ms)
            assert not isinstance(result, Refusal), f"game {self.seed}: {command} is listed and refused: {result}"
            self.state = result.state
            self.entries.append(Entry(command, self.now_ms, result.events))
            yield Step(before, options, command, self.now_ms, result.events, result.state)

    def _command(self, options: tuple[Option, ...]) -> c.Command:
        rng, state, mood = self.rng, self.state, self.mood
        if state.deadlines and rng.random() < mood.expire:
            deadline = rng.choice(state.deadlines)
            self.now_ms = max(self.now_ms, deadline.due_at_ms + state.config.grace_ms) + rng.choice((0, 0, 700))
            return c.Command(-1, 0, c.Expire(deadline.id))
        if rng.random() < mood.withdraw:
            staying = [seat for seat, playing in enumerate(state.in_play) if playing and not state.leaving[seat]]
            return c.Command(-1, 0, c.Withdraw(rng.choice(staying)))
        self._let_time_pass()
        assert state.decision is not None
        seat = state.decision.seats[0]
        if rng.random() < mood.bot:
            action = LEVELS[STANDARD].bot.choose(self.edition, state, options, seat, self.seed)
            assert action is not None
        else:
            action = action_of(rng, self._option(options))
        return c.Command(seat, state.decision.id, action)

    def _option(self, options: tuple[Option, ...]) -> Option:
        """Any of them; giving up comes up less often, so that games go on."""
        option = self.rng.choice(options)
        return self.rng.choice(options) if option.kind == "declare_bankruptcy" else option

    def _let_time_pass(self) -> None:
        """Up to half a minute, but never to the moment at which a deadline would be missed."""
        grace_ms = self.state.config.grace_ms
        left_ms = [deadline.due_at_ms + grace_ms - self.now_ms for deadline in self.state.deadlines]
        self.now_ms += self.rng.randrange(min([30_000, *left_ms]))
