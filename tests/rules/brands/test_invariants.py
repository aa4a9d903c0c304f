"""The invariants at the end of the ledger, after every event of random games of all modes and of custom tables."""

import json
from random import Random

import pytest

from services.rules.application.new_games import real_changes, team_of
from services.rules.domain import commands as c
from services.rules.domain.decide import advance
from services.rules.domain.edition import Edition
from services.rules.domain.events import (
    BuildingBuilt,
    BuildingDestroyed,
    DeedMoved,
    DiceRolled,
    Event,
    MoneyMoved,
    PaymentDue,
    TurnStarted,
)
from services.rules.domain.evolve import evolve
from services.rules.domain.invariants import broken, broken_step, spoils
from services.rules.domain.legal import legal_actions
from services.rules.domain.moves.timing import game_ms
from services.rules.domain.new_game import Setup, begin
from services.rules.domain.options import Option
from services.rules.domain.parties import BANK, JACKPOT
from services.rules.domain.refusals import Refusal
from services.rules.domain.state import AuctionFrame, PauseFrame, RollFrame, SeatSetup, State, TradeFrame
from services.rules.editions.ports import Overrides
from services.rules.editions.shelf import with_overrides
from tests.rules.brands.games import MODES, SEATS
from tests.support.play import random_command
from tests.support.positions import CATALOGUE

#: the clocks that a decision may run on
CLOCKS = {
    "roll": {"turn"},
    "bus_choice": {"turn"},
    "teleport_choice": {"turn"},
    "purchase": {"turn"},
    "casino_bet": {"turn"},
    "demolition_choice": {"turn"},
    "payment": {"turn", "payment"},
    "auction_bid": {"bid"},
    "trade_answer": {"answer"},
    "paused": {"pause_max", "countdown"},
}
#: what is chosen more often, so that games come to buildings and to an end
USEFUL = ("roll", "buy", "build", "pay", "bid", "confirm_return")
#: what is chosen seldom, because it ends games or holds them up
SELDOM = {"surrender": 0.004, "ask_pause": 0.03, "declare_bankruptcy": 0.3}

#: amounts that a reason always has; (from, to) as in the ledger's table of events
AMOUNTS: dict[str, set[int]] = {
    "salary": {2000},
    "landing_bonus": {1000},
    "fine": {500},
    "stake": {1000},
    "casino_win": {6000, 3000, 2000},
}


class Watch:
    """What has happened in a game so far, and what may happen next."""

    def __init__(self, edition: Edition) -> None:
        self.edition = edition
        self.round = 1
        self.built: set[int] = set()
        self.clock_ms = 0

    def event(self, before: State, event: Event) -> None:
        """Invariants 1, 5, 6, 7, 9 and 11."""
        if isinstance(event, TurnStarted):
            assert event.round in (self.round, self.round + 1)
            self.round = event.round
            self.built = set()
        elif isinstance(event, MoneyMoved):
            self.money(event)
        elif isinstance(event, PaymentDue) and event.reason == "rent":
            self.rent(before, event)
        elif isinstance(event, BuildingBuilt):
            group = self.edition.board.group_of_cell[event.cell][0]
            assert self.edition.build_limit is None or group not in self.built
            self.built.add(group)
            assert before.decision is not None
            assert before.decision.kind == "roll"
        elif isinstance(event, DiceRolled):
            start = self.edition.third_die_from_round
            free = event.purpose == "move"
            assert free == (before.jail_tries[event.seat] < 0)
            assert bool(event.third) == (start is not None and before.round >= start and free)
        elif isinstance(event, DeedMoved) and event.reason == "estate" and event.to_party != BANK:
            after = evolve(self.edition, before, event)
            assert (after.levels, after.mortgaged_rounds) == (before.levels, before.mortgaged_rounds)

    def money(self, event: MoneyMoved) -> None:
        """Invariant 1: the amounts of the ledger's table."""
        if event.reason in AMOUNTS:
            assert event.amount in AMOUNTS[event.reason]
        if event.reason == "jackpot":
            assert event.amount % 500 == 0
            assert (event.payer, event.amount) == (BANK, 500) or event.payer == JACKPOT
        elif event.reason == "redemption":
            assert event.amount * 10 == self.edition.board.price[event.cell] * 6
        elif event.reason == "mortgage":
            assert event.amount * 2 == self.edition.board.price[event.cell]

    def rent(self, before: State, event: PaymentDue) -> None:
        """Invariant 5: none for a mortgaged property, a jailed owner, or an ally."""
        owner = before.owners[event.cell]
        seats = before.config.seats
        assert not before.mortgaged_rounds[event.cell]
        assert before.jail_tries[owner] < 0
        assert seats[owner].team != seats[event.payer].team

    def state(self, state: State, now_ms: int) -> None:
        """Invariants 2, 4, 6, 8 and 10, and the clocks that run."""
        cards = self.edition.decks["chance"]
        lying = sorted((*state.decks["chance"], *state.discards["chance"]))
        held = sum(len(held) for held in state.release_cards)
        missing = sorted(set(range(len(cards))) - set(lying))
        assert len(lying) == len(set(lying))
        assert [cards[number].effect for number in missing] == ["release_card"] * held
        assert set(state.strikes) <= {0, 1, 2}
        assert state.jackpot % 500 == 0
        for kind in (AuctionFrame, TradeFrame, RollFrame, PauseFrame):
            assert sum(isinstance(frame, kind) for frame in state.agenda) <= 1
        for cell in self.edition.board.deeds:
            assert state.owners[cell] == BANK or state.in_play[state.owners[cell]]
        clock_ms = game_ms(state, now_ms)
        assert clock_ms >= self.clock_ms
        self.clock_ms = clock_ms
        self.clocks(state, now_ms)

    def clocks(self, state: State, now_ms: int) -> None:
        """One clock runs, that of the open decision, beside that of a vote; those that stand are others."""
        decision = state.decision
        if decision is None:
            return
        running = [item for item in state.deadlines if item.kind != "pause_vote"]
        assert [item.id for item in running] == [decision.deadline_id]
        assert running[0].kind in CLOCKS[decision.kind]
        assert len(state.deadlines) - len(running) == int(state.vote is not None)
        assert not {item.kind for item in running} & set(state.clocks)
        assert running[0].due_at_ms + state.config.grace_ms >= now_ms


def pick(rng: Random, options: list[Option]) -> list[Option]:
    """Options to choose among: useful ones more often, some seldom."""
    usual = [option for option in options if rng.random() < SELDOM.get(option.kind, 1.0)]
    useful = [option for option in usual if option.kind in USEFUL and rng.random() < 0.8]
    # An offer may have no fair form within reach.
    return useful or (usual if {option.kind for option in usual} - {"offer_trade"} else options)


def next_command(rng: Random, edition: Edition, state: State, now_ms: int) -> tuple[int, c.Command]:
    """(play time, command): a legal one in time, or sometimes word that time is up."""
    due_at_ms = min(item.due_at_ms for item in state.deadlines) + state.config.grace_ms
    if due_at_ms <= now_ms or rng.random() < 0.08:
        deadline = min(state.deadlines, key=lambda item: item.due_at_ms)
        return max(now_ms, due_at_ms), c.Command(-1, 0, c.Expire(deadline.id))
    then_ms = min(now_ms + rng.choice((0, 1_000, 9_000)), due_at_ms - 1)
    options = pick(rng, list(legal_actions(edition, state, then_ms)))
    return then_ms, random_command(rng, state, options, edition)


def custom(rng: Random, edition: str) -> Overrides:
    """Some overrides within their ranges."""
    chosen = []
    for item in CATALOGUE.get(edition).overrides:
        if rng.random() < 0.5:
            steps: list[object] = [*item.choices, *([None] if item.never else [])]
            if item.least is not None and item.most is not None:
                steps += [item.least, item.most, item.least + item.step * rng.randrange(5)]
            chosen.append((item.parameter, json.dumps(rng.choice(steps))))
    return tuple(chosen)


def set_up(rng: Random, edition: str, *, changed: bool) -> tuple[Edition, Setup]:
    base = CATALOGUE.get(edition).at("mixed")
    overrides = custom(rng, edition) if changed else ()
    flat = with_overrides(base, overrides)
    seats = tuple(
        SeatSetup("bot" if rng.random() < 0.2 else "person", team_of(flat, seat), "", 0)
        for seat in range(SEATS[edition])
    )
    return flat, Setup(
        seating="mixed",
        seats=seats,
        server_seed=rng.randbytes(32),
        grace_ms=rng.choice((0, 700)),
        overrides=real_changes(base, flat, overrides),
    )


@pytest.mark.parametrize("changed", [False, True], ids=["plain", "custom"])
@pytest.mark.parametrize("edition", MODES)
@pytest.mark.parametrize("seed", range(5))
def test_random_games_keep_the_invariants(edition: str, seed: int, changed: bool) -> None:
    """BRA-TIME-03, BRA-TIME-10, BRA-CARD-08, BRA-RENT-07, BRA-BUILD-05, BRA-DICE-06: in whatever order things happen;
    nobody is ever stuck."""
    rng = Random(f"{edition} {seed} {changed}")
    flat, setup = set_up(rng, edition, changed=changed)
    state = begin(flat, setup, 0).state
    watch = Watch(flat)
    spoiled: frozenset[str] = frozenset()
    now_ms = 0
    for _ in range(1200):
        if state.ended:
            break
        now_ms, command = next_command(rng, flat, state, now_ms)
        before = state.copy()
        result = advance(flat, state, command, now_ms)
        assert not isinstance(result, Refusal), (command, result)
        assert state == before
        for event in result.events:
            after = evolve(flat, state, event)
            assert broken_step(flat, state, event, after) == []
            watch.event(state, event)
            if isinstance(event, BuildingDestroyed):
                spoiled |= {spoils(flat, state, event) or ""}
            state = after
        assert state == result.state
        assert broken(flat, state, spoiled) == []
        watch.state(state, now_ms)
        assert bool(state.ended) != bool(legal_actions(flat, state))
