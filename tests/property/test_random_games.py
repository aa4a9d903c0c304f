"""Whatever is played: the invariants hold, money is conserved, and the game always goes on."""

from typing import get_args

import pytest

from services.rules.domain import commands as c
from services.rules.domain.edition import Edition
from services.rules.domain.events import (
    AuctionClosed,
    AuctionOpened,
    BuildingBuilt,
    Event,
    Jailed,
    MoneyMoved,
    SeatOut,
    TokenMoved,
    TradeOffered,
    TripRemembered,
    TurnStarted,
)
from services.rules.domain.evolve import evolve
from services.rules.domain.folds.seats import debt_of
from services.rules.domain.invariants import OF_SEVERAL, broken, broken_step, spoils
from services.rules.domain.legal import legal_actions
from services.rules.domain.options import OptionKind
from services.rules.domain.parties import BANK
from services.rules.domain.state import DecisionKind, State
from tests.property.games import FLAGSHIP, MOODS, OTHER_TABLES, SANE, Mood, RandomGame, Step
from tests.support.amount import amount

GAMES_A_BLOCK = 50
BLOCKS = [(mood, block) for mood in range(len(MOODS)) for block in range(amount(1, 40))]
#: games of each other table and mood
OTHER_GAMES = amount(2, 400)


class Watch:
    """Follows a game event by event and says what does not hold."""

    def __init__(self, game: RandomGame) -> None:
        self.game = game
        self.spoiled: frozenset[str] = frozenset()
        #: play money outside the bank: every unit has come from it
        self.bank = sum(game.state.cash) + game.state.jackpot
        self.last_trip: int | None = None
        self.turn: list[tuple[State, Event]] = []

    def check(self, step: Step) -> None:
        """Everything about one command."""
        state = step.before
        for event in step.events:
            after = evolve(self.game.edition, state, event)
            self._check_event(state, event, after)
            state = after
        assert state == step.after, state.differences(step.after)
        assert broken(self.game.edition, state, self.spoiled) == []
        assert sum(state.cash) + state.jackpot == self.bank
        self._check_way_forward(state)
        if isinstance(step.command.action, c.Expire) and self.game.edition.on_timeout == "eliminate":
            _check_timeout(step, self.game.edition)

    def _check_event(self, state: State, event: Event, after: State) -> None:
        assert broken_step(self.game.edition, state, event, after) == []
        spoiled = spoils(self.game.edition, state, event)
        self.spoiled |= {spoiled} if spoiled else set()
        if isinstance(event, MoneyMoved):
            self.bank += event.amount * ((event.payer == BANK) - (event.payee == BANK))
        elif isinstance(event, TripRemembered):
            assert event.cell != self.last_trip
            self.last_trip = event.cell
        if isinstance(event, TurnStarted) and self.game.edition_id == FLAGSHIP:
            _check_turn(self.game, self.turn)
            self.turn = []
        self.turn.append((state, event))

    def _check_way_forward(self, state: State) -> None:
        """Somebody who is asked has an answer, or time brings one; and once the game is over nobody has anything."""
        options = legal_actions(self.game.edition, state, self.game.now_ms)
        if state.ended:
            assert (options, state.deadlines, state.decision) == ((), (), None)
            return
        assert state.decision is not None
        answers = [option.seat for option in options if option.seat in state.decision.seats]
        assert answers or state.deadlines
        assert all(state.in_play[option.seat] for option in options)
        if state.decision.kind not in OF_SEVERAL:
            (asked,) = state.decision.seats
            assert state.in_play[asked]
            assert any(option.kind != "surrender" for option in options if option.seat == asked)


def _check_timeout(step: Step, edition: Edition) -> None:
    """IND-INV-17: without an elimination only a bid that stood is paid for, and a debt that it covers."""
    if edition.auction_style != "in_turn" or any(isinstance(event, SeatOut) for event in step.events):
        return
    paid = [event for event in step.events if isinstance(event, MoneyMoved)]
    sold = [event for event in step.events if isinstance(event, AuctionClosed) and event.outcome == "sold"]
    assert bool(paid) == bool(sold)
    if sold:
        assert (paid[0].payer, paid[0].amount) == (sold[0].winner, sold[0].amount)


def _check_turn(game: RandomGame, turn: list[tuple[State, Event]]) -> None:
    """IND-INV-15: what one turn may hold."""
    seat = game.state.turn_seat if not turn else turn[-1][0].turn_seat
    events = [event for _, event in turn]
    arrivals = sum(isinstance(event, TokenMoved | Jailed) and event.seat == seat for event in events)
    assert sum(isinstance(event, BuildingBuilt) for event in events) <= max(arrivals, 1)
    offers = [
        event for state, event in turn if isinstance(event, TradeOffered) and debt_of(state, event.from_seat) is None
    ]
    if game.setup.seating != "solo":
        assert len(offers) <= 1
    lots = [
        event.cell
        for state, event in turn
        if isinstance(event, AuctionOpened) and event.kind == "own" and debt_of(state, event.seller) is None
    ]
    assert len(lots) == len(set(lots))


@pytest.mark.parametrize(("mood", "block"), BLOCKS)
def test_nothing_breaks_in_random_games(mood: int, block: int) -> None:
    """IND-INV-01 to IND-INV-17, as far as a state or an event shows them: IND-INV-02, IND-INV-03, IND-INV-04,
    IND-INV-05, IND-INV-06, IND-INV-07, IND-INV-08, IND-INV-09, IND-INV-10, IND-INV-11, IND-INV-12, IND-INV-14,
    IND-INV-15, IND-INV-16 and IND-INV-17."""
    for seed in range(block * GAMES_A_BLOCK, (block + 1) * GAMES_A_BLOCK):
        game = RandomGame(seed * len(MOODS) + mood, MOODS[mood])
        watch = Watch(game)
        for step in game.steps(200):
            watch.check(step)


@pytest.mark.parametrize("mood", range(len(MOODS)))
@pytest.mark.parametrize(("edition_id", "custom"), OTHER_TABLES)
def test_nothing_breaks_in_random_games_of_any_edition(edition_id: str, custom: bool, mood: int) -> None:
    """IND-INV-01 to IND-INV-14 by the parameters of every edition, and of custom tables within its overrides."""
    for seed in range(OTHER_GAMES):
        game = RandomGame(seed * len(MOODS) + mood, MOODS[mood], edition_id, custom)
        watch = Watch(game)
        for step in game.steps(150):
            watch.check(step)


@pytest.mark.parametrize(("edition_id", "custom"), OTHER_TABLES)
def test_nothing_breaks_in_long_games_of_any_edition(edition_id: str, custom: bool) -> None:
    """IND-INV-02, IND-INV-08: as a rule they go on until they end."""
    for seed in range(amount(1, 60)):
        game = RandomGame(10**6 + seed, SANE, edition_id, custom)
        watch = Watch(game)
        for step in game.steps(amount(700, 4000)):
            watch.check(step)


@pytest.mark.parametrize(("mood", "seed"), [(SANE, seed) for seed in range(amount(3, 150))])
def test_nothing_breaks_in_long_games(mood: Mood, seed: int) -> None:
    """IND-INV-02, IND-INV-08: games that go on until they end."""
    game = RandomGame(10**6 + seed, mood)
    watch = Watch(game)
    for step in game.steps(4000):
        watch.check(step)


def test_the_games_reach_every_kind_of_situation() -> None:
    """The random games are worth something only if they get around."""
    decisions: set[str] = set()
    kinds: set[str] = set()
    ended: set[str] = set()
    for seed in range(60):
        game = RandomGame(seed, MOODS[seed % len(MOODS)])
        for step in game.steps(300):
            kinds |= {option.kind for option in step.options}
            decisions |= {step.before.decision.kind} if step.before.decision else set()
        ended |= {game.state.ended}
    assert decisions == {"roll", "purchase", "auction_bid", "manage", "trade_answer", "payment"}
    assert kinds >= {"build", "sell_buildings", "open_auction", "offer_trade", "sell_to_bank", "declare_bankruptcy"}
    assert kinds >= {"pay_fine", "use_release_card", "buy", "decline", "bid", "pass"}
    assert ended == {"", "last_left", "last_person_out"}


def test_the_games_of_all_editions_reach_every_decision_and_command() -> None:
    """Together the random games of all tables know every kind of decision, of option and of command."""
    decisions: set[str] = set()
    kinds: set[str] = set()
    commands: set[type] = set()
    for edition_id, custom in OTHER_TABLES:
        for seed in range(10):
            game = RandomGame(seed, MOODS[seed % len(MOODS)], edition_id, custom)
            for step in game.steps(150):
                kinds |= {option.kind for option in step.options}
                decisions |= {step.before.decision.kind} if step.before.decision else set()
                commands.add(step.command.action.__class__)
    assert decisions == set(get_args(DecisionKind)) - {"pause_vote"}, "a vote on a pause stands beside the decision"
    assert kinds == set(get_args(OptionKind)) - {"sell_to_bank"}, "the bank buys deeds in the flagship alone"
    assert commands == set(get_args(c.Action)) - {c.SellToBank}
