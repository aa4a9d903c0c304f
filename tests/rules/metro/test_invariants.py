"""The invariants at the end of the ledger, after every event of random games."""

from random import Random

import pytest

from services.rules.domain import commands as c
from services.rules.domain.decide import advance
from services.rules.domain.edition import Edition
from services.rules.domain.events import CardDrawn, DiceRolled, Event, TurnStarted
from services.rules.domain.evolve import evolve
from services.rules.domain.invariants import broken, broken_step
from services.rules.domain.legal import legal_actions
from services.rules.domain.new_game import begin
from services.rules.domain.refusals import Refusal
from services.rules.domain.state import AuctionFrame, State, TradeFrame
from tests.rules.metro.games import METRO, SPEED
from tests.support.bot_games import bot_setup
from tests.support.play import random_command
from tests.support.positions import CATALOGUE

#: the clock of each decision
CLOCKS = {
    "roll": "turn",
    "bus_choice": "turn",
    "teleport_choice": "turn",
    "purchase": "turn",
    "payment": "payment",
    "auction_bid": "bid",
    "trade_answer": "answer",
}
#: what is chosen more often, so that games come to buildings and to an end
USEFUL = ("roll", "buy", "build", "pay", "bid")


class Watch:
    """What has happened in a game so far, and what may happen next."""

    def __init__(self, edition: str) -> None:
        self.edition = edition
        self.drawn = 0
        self.round = 0
        self.began: set[int] = set()

    def event(self, before: State, event: Event) -> None:
        """Invariants 4, 6 and 8: the order of the deck, one turn in a round, when the third die is thrown."""
        if isinstance(event, CardDrawn):
            assert event.card == self.drawn % 16
            self.drawn += 1
        elif isinstance(event, TurnStarted):
            assert event.round >= self.round
            self.began = self.began if event.round == self.round else set()
            assert event.seat not in self.began
            self.began.add(event.seat)
            self.round = event.round
        elif isinstance(event, DiceRolled):
            free = event.purpose == "move"
            assert free == (before.jail_tries[event.seat] < 0)
            assert bool(event.third) == (self.edition == SPEED and before.round >= 7 and free)

    def state(self, state: State) -> None:
        """Invariants 7 and 9, and one clock at a time, which is that of the open decision."""
        assert set(state.strikes) <= {0, 1, 2}
        for kind in (AuctionFrame, TradeFrame):
            assert sum(isinstance(frame, kind) for frame in state.agenda) <= 1
        decision = state.decision
        if decision is not None:
            (deadline,) = state.deadlines
            assert (deadline.id, deadline.kind) == (decision.deadline_id, CLOCKS[decision.kind])


def built_groups_are_whole(state: State, groups: list[tuple[int, ...]], *, even: bool) -> None:
    """Invariant 3: one owner, no mortgage, and in `metro` levels that differ by at most 1."""
    for cells in groups:
        levels = [state.levels[cell] for cell in cells]
        if any(levels):
            assert len({state.owners[cell] for cell in cells}) == 1
            assert not any(state.mortgaged_rounds[cell] for cell in cells)
            assert not even or max(levels) - min(levels) <= 1


def next_command(rng: Random, edition: Edition, state: State, now_ms: int) -> tuple[int, c.Command]:
    """(play time, command): a legal one in time, or sometimes word that time is up."""
    deadline = state.deadlines[0]
    if rng.random() < 0.1:
        return max(now_ms, deadline.due_at_ms), c.Command(-1, 0, c.Expire(deadline.id))
    options = [option for option in legal_actions(edition, state) if option.kind != "surrender"]
    useful = [option for option in options if option.kind in USEFUL and rng.random() < 0.8]
    then_ms = min(now_ms + rng.choice((0, 1_000, 5_000)), deadline.due_at_ms - 1)
    return then_ms, random_command(rng, state, useful or options, edition)


@pytest.mark.parametrize("edition", [METRO, SPEED])
@pytest.mark.parametrize("seed", range(4))
def test_random_games_keep_the_invariants(edition: str, seed: int) -> None:
    """MET-TIME-03, MET-SETUP-12, MET-CARD-01, MET-DICE-05: in whatever order things happen; nobody is ever stuck."""
    flat = CATALOGUE.get(edition).at("mixed")
    rng, watch = Random(seed), Watch(edition)
    state = begin(flat, bot_setup(flat, seats=2 + seed, seed=seed, people=2), 0).state
    watch.began, watch.round = {state.turn_seat}, 1
    groups = [cells for cells in flat.board.group_cells.values() if flat.board.is_street[cells[0]]]
    now_ms = 0
    for _ in range(1500):
        if state.ended:
            break
        now_ms, command = next_command(rng, flat, state, now_ms)
        result = advance(flat, state, command, now_ms)
        assert not isinstance(result, Refusal), (command, result)
        for event in result.events:
            after = evolve(flat, state, event)
            assert broken_step(flat, state, event, after) == []
            watch.event(state, event)
            state = after
        assert state == result.state
        assert broken(flat, state) == []
        watch.state(state)
        built_groups_are_whole(state, groups, even=edition == METRO)
