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
from services.rules.domain.parties import BANK, NONE
from services.rules.domain.refusals import Refusal
from services.rules.domain.replay import Entry
from services.rules.domain.state import Seating, SeatKind, SeatSetup, State
from services.rules.editions.loader import load_catalogue
from services.rules.editions.shelf import with_overrides
from tests.support.bot_games import askable
from tests.support.overrides import random_overrides
from tests.support.play import Seen, action_of

FLAGSHIP = "industry"
EDITIONS = {edition.id: edition for edition in load_catalogue().newest()}
#: the flagship first
EDITION_IDS = (FLAGSHIP, *(name for name in EDITIONS if name != FLAGSHIP))
#: editions that let a table change something
CUSTOM_IDS = tuple(name for name in EDITION_IDS if EDITIONS[name].overrides)

#: (edition, custom): the kinds of tables, the flagship's first
TABLES = [*((name, False) for name in EDITION_IDS), *((name, True) for name in CUSTOM_IDS)]
OTHER_TABLES = TABLES[1:]

#: start cash in percent of the edition's, and supply where it has one; the scarce ones bring about debts, shortages and
#: bankruptcies that a usual game seldom sees
CLIMATES: dict[str, tuple[int, Supply]] = {
    "usual": (100, Supply(houses=32, hotels=12)),
    "poor": (17, Supply(houses=32, hotels=12)),
    "scarce": (270, Supply(houses=9, hotels=2)),
    "rich": (600, Supply(houses=32, hotels=12)),
}
#: options by which a seat leaves of its own will, and how often another one is drawn in their place
_REDRAWS = {"declare_bankruptcy": 1, "surrender": 12}


@cache
def climate_edition(climate: str, edition: Edition, overrides: tuple[tuple[str, str], ...] = ()) -> Edition:
    """An edition for a table, with its overrides, and with the start cash and the supply of a climate."""
    percent, supply = CLIMATES[climate]
    changed = with_overrides(edition, overrides) if overrides else edition
    dealt = sorted((changed.board.price[cell] for cell in changed.board.deeds), reverse=True)[: changed.deal_deeds]
    cash = max(changed.start_cash * percent // 100, sum(dealt) * (changed.deal_price or 0) // 100)
    return replace(changed, start_cash=cash, supply=None if changed.supply is None else supply)


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
    #: a seat that is not asked uses a standing right
    unasked: float = 0.15


WILD = Mood(bot=0.0)
TIMED = Mood(bot=0.3, expire=0.03, withdraw=0.002)
SANE = Mood(bot=0.97, unasked=0.01)
BUILT = Mood(bot=0.6, expire=0.002, developed=True, unasked=0.05)
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
    """A game that plays itself; all of it follows from `seed`.

    A `custom` one is of a table that changes some of what its edition lets it change; a `plain` one keeps the edition's
    own start cash and supply.
    """

    seed: int
    mood: Mood
    edition_id: str = FLAGSHIP
    custom: bool = False
    plain: bool = False
    edition: Edition = field(init=False)
    setup: Setup = field(init=False)
    state: State = field(init=False)
    entries: list[Entry] = field(init=False)
    now_ms: int = 0
    rng: Random = field(init=False)

    def __post_init__(self) -> None:
        rng = self.rng = Random(f"{self.edition_id} {self.seed}" if self.edition_id != FLAGSHIP else self.seed)
        seating = rng.choice(EDITIONS[self.edition_id].seating)
        flat = EDITIONS[self.edition_id].at(seating)
        seats = rng.randint(flat.seats.least, flat.seats.most)
        climate = "usual" if self.plain else rng.choice(tuple(CLIMATES))
        overrides = random_overrides(rng, flat) if self.custom else ()
        self.edition = climate_edition(climate, flat, overrides)
        kinds = self._kinds(seating, seats)
        teams = list(range(seats))
        for team, members in enumerate(flat.teams or ()):
            for seat in members:
                teams[seat] = team
        self.setup = Setup(
            seating=seating,
            seats=tuple(
                SeatSetup(kind, teams[seat], rng.choice(("", "00ff", f"{seat:04x}"))) for seat, kind in enumerate(kinds)
            ),
            server_seed=rng.randbytes(32),
            grace_ms=rng.choice((0, 500)),
            overrides=overrides,
        )
        self.now_ms = rng.randrange(10**6)
        begun = begin(self.edition, self.setup, self.now_ms)
        self.state = begun.state
        self.entries = [Entry(None, self.now_ms, begun.events)]
        if self.mood.developed:
            self._develop()

    def _kinds(self, seating: Seating, seats: int) -> list[SeatKind]:
        if seating == "mixed":
            people = self.rng.randint(0, seats)
            return ["person" if seat < people else "bot" for seat in range(seats)]
        return [
            "person" if seating == "people" or (seating == "solo" and seat == 0) else "bot" for seat in range(seats)
        ]

    def _develop(self) -> None:
        """Deals deeds and builds evenly, by events like any others, as far as the supply goes."""
        rng, board = self.rng, self.edition.board
        top = self.edition.houses_under_hotel + 1
        for cells in board.group_cells.values():
            free = [cell for cell in cells if self.state.owners[cell] == BANK]
            if rng.random() < 0.3 or len(free) < len(cells):
                for cell in free:
                    if rng.random() < 0.5:
                        self._tell(DeedMoved(cell, BANK, rng.randrange(len(self.state.in_play)), "trade"))
                continue
            owner = rng.randrange(len(self.state.in_play))
            for cell in cells:
                self._tell(DeedMoved(cell, BANK, owner, "trade"))
            for level in range(1, rng.choice((1, 2, 3, top, top + 1)) if board.is_street[cells[0]] else 1):
                for cell in cells:
                    stock = self.state.supply_hotels if level == top else self.state.supply_houses
                    if stock and min(self.state.levels[other] for other in cells) >= level - 1:
                        self._tell(BuildingBuilt(cell, level))

    def _tell(self, event: Event) -> None:
        first = self.entries[0]
        self.entries[0] = Entry(None, first.play_time_ms, (*first.events, event))
        self.state = evolve(self.edition, self.state, event)

    @property
    def options(self) -> tuple[Option, ...]:
        """What may be done now."""
        return legal_actions(self.edition, self.state, self.now_ms)

    def steps(self, limit: int) -> Iterator[Step]:
        """Plays on for so many commands, or to the end of the game."""
        for _ in range(limit):
            if self.state.ended:
                return
            command = self._service_command()
            if command is None:
                self._let_time_pass()
            before, options = self.state, self.options
            if command is None:
                command = self._command(options)
            result = advance(self.edition, before, command, self.now_ms)
            assert not isinstance(result, Refusal), f"game {self.seed}: {command} is listed and refused: {result}"
            self.state = result.state
            self.entries.append(Entry(command, self.now_ms, result.events))
            yield Step(before, options, command, self.now_ms, result.events, result.state)

    def _service_command(self) -> c.Command | None:
        rng, state, mood = self.rng, self.state, self.mood
        for deadline in state.deadlines:
            if deadline.due_at_ms + state.config.grace_ms <= self.now_ms:
                return self._expire(deadline.id)
        if state.deadlines and rng.random() < mood.expire:
            return self._expire(rng.choice(state.deadlines).id)
        if rng.random() < mood.withdraw:
            staying = [seat for seat, playing in enumerate(state.in_play) if playing and not state.leaving[seat]]
            return c.Command(NONE, 0, c.Withdraw(rng.choice(staying))) if staying else None
        return None

    def _expire(self, deadline_id: int) -> c.Command:
        due_ms = next(item.due_at_ms for item in self.state.deadlines if item.id == deadline_id)
        self.now_ms = max(self.now_ms, due_ms + self.state.config.grace_ms) + self.rng.choice((0, 0, 700))
        return c.Command(NONE, 0, c.Expire(deadline_id))

    def _command(self, options: tuple[Option, ...]) -> c.Command:
        """Of a seat; of the clock where all that is asked may stay silent and does."""
        rng, state = self.rng, self.state
        assert state.decision is not None
        if rng.random() < self.mood.bot:
            for seat in askable(state, options):
                action = LEVELS[STANDARD].bot.choose(self.edition, state, options, seat, self.seed)
                if action is not None:
                    return c.Command(seat, state.decision.id, action)
            if state.deadlines:
                return self._expire(min(state.deadlines, key=lambda item: item.due_at_ms).id)
        if state.deadlines and all(option.kind in _REDRAWS for option in options):
            # Only time goes on: in the countdown of a pause, and in an open lot for which nobody has the money.
            return self._expire(min(state.deadlines, key=lambda item: item.due_at_ms).id)
        asked = [option for option in options if option.seat in state.decision.seats]
        pool = options if rng.random() < self.mood.unasked or not asked else tuple(asked)
        seen = Seen(self.edition, state)
        for _ in range(50):
            option = self._option(pool)
            action = action_of(rng, option, seen)
            if action is not None:
                return c.Command(option.seat, state.decision.id, action)
        raise AssertionError(f"game {self.seed}: nothing can be drawn from {pool}")

    def _option(self, options: tuple[Option, ...]) -> Option:
        """Any of them; giving up comes up less often, and surrender, which is always legal, seldom."""
        option = self.rng.choice(options)
        for _ in range(_REDRAWS.get(option.kind, 0)):
            option = self.rng.choice(options)
            if option.kind not in _REDRAWS:
                break
        return option

    def _let_time_pass(self) -> None:
        """Up to half a minute, but never to the moment at which a deadline would be missed."""
        grace_ms = self.state.config.grace_ms
        left_ms = [deadline.due_at_ms + grace_ms - self.now_ms for deadline in self.state.deadlines]
        self.now_ms += self.rng.randrange(max(1, min([30_000, *left_ms])))
