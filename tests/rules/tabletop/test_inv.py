"""Invariants (TAB-INV), over random games of the five editions, and the table of money by event."""

from collections.abc import Iterator

import pytest

from services.rules.domain import commands as c
from services.rules.domain.events import MoneyMoved, TurnStarted
from services.rules.domain.evolve import fold
from services.rules.domain.moves.timing import game_minute
from services.rules.domain.parties import BANK, NONE
from services.rules.domain.state import AuctionFrame, TradeFrame
from tests.rules.tabletop.random_games import SEEDS, Step, steps_of
from tests.rules.tabletop.tables import FIVE, a_table

NO_SALARY = 46

#: reason -> ways in which its money may go: into the players' hands, out of them, or between them
WAYS = {
    "salary": "+",
    "purchase": "-",
    "auction": "-",
    "rent": "0-",
    "rent_tax": "-",
    "tax": "-",
    "fine": "-",
    "card": "+-0",
    "build": "-",
    "building_sale": "+",
    "mortgage": "+",
    "redemption": "-",
    "transfer_fee": "-",
    "trade": "0",
    "settlement": "0",
    "estate": "0-",
}


def all_steps(edition: str) -> Iterator[Step]:
    for seed in SEEDS:
        yield from steps_of(edition, seed)


def money_of(step: Step) -> list[MoneyMoved]:
    return [event for event in step.events if isinstance(event, MoneyMoved)]


@pytest.mark.parametrize("edition", FIVE)
def test_cash_is_whole_and_never_negative(edition: str) -> None:
    """TAB-INV-01: after every event, not only at rest."""
    for step in all_steps(edition):
        state = step.before
        for event in step.events:
            state = fold(step.edition, state, (event,))
            assert all(type(cash) is int and cash >= 0 for cash in state.cash)


@pytest.mark.parametrize("edition", FIVE)
def test_the_sum_of_all_cash(edition: str) -> None:
    """TAB-INV-02: it changes by the events of the table alone, each in its direction."""
    for step in all_steps(edition):
        change = 0
        for event in money_of(step):
            way = "0" if BANK not in (event.payer, event.payee) else "+" if event.payer == BANK else "-"
            allowed = WAYS[event.reason] if (edition, event.reason) != ("online-classic", "estate") else "+-"
            assert way in allowed, event
            change += {"0": 0, "+": event.amount, "-": -event.amount}[way]
        assert sum(step.after.cash) - sum(step.before.cash) == change


@pytest.mark.parametrize("edition", FIVE)
def test_amounts_of_the_table(edition: str) -> None:
    """TAB-INV-02: salaries, mortgages and redemptions are the amounts that they should be."""
    seen = set()
    for step in all_steps(edition):
        board, levels = step.edition.board, step.edition.houses_under_hotel + 1
        for event in money_of(step):
            seen.add(event.reason)
            if event.reason == "salary":
                assert event.amount == step.edition.salary
            elif event.reason == "mortgage":
                assert event.amount == board.price[event.cell] // 2
            elif event.reason == "redemption":
                value = board.price[event.cell] // 2
                tenth = -(-value // 10)
                full = -(-board.price[event.cell] * 11 // 10) if edition == "online-classic" else value + tenth
                assert event.amount in (full, value)
            elif event.reason == "building_sale":
                unit = board.build_cost[event.cell] * step.edition.building_refund // 100
                assert event.amount in [unit * number for number in range(1, levels + 1)]
            elif event.reason == "build":
                assert event.amount >= board.build_cost[event.cell]
    assert {"rent", "mortgage", "building_sale", "build"} <= seen


@pytest.mark.parametrize("edition", FIVE)
def test_owners(edition: str) -> None:
    """TAB-INV-03, -09: 28 deeds, each free or of one solvent player; a free one is bare and not mortgaged."""
    for step in all_steps(edition):
        state, board = step.after, step.edition.board
        for cell in range(40):
            owner = state.owners[cell]
            if owner == BANK:
                assert (state.levels[cell], state.mortgaged_rounds[cell]) == (0, 0)
            else:
                assert board.is_deed[cell]
                assert state.in_play[owner]
        assert len(board.deeds) == 28


@pytest.mark.parametrize("edition", FIVE)
def test_pieces(edition: str) -> None:
    """TAB-INV-04, -05: 32 houses and 12 hotels in all; a street has 0 to H houses or one hotel."""
    for step in all_steps(edition):
        state, houses = step.after, step.edition.houses_under_hotel
        assert all(0 <= level <= houses + 1 for level in state.levels)
        assert state.supply_houses + sum(level for level in state.levels if level <= houses) == 32
        assert state.supply_hotels + state.levels.count(houses + 1) == 12
        assert min(state.supply_houses, state.supply_hotels) >= 0


@pytest.mark.parametrize("edition", FIVE)
def test_built_groups(edition: str) -> None:
    """TAB-INV-06, -07, -08: a built street is of a whole group and not mortgaged; levels are even, except online,
    where no street of a built group is mortgaged."""
    for step in all_steps(edition):
        state = step.after
        for cells in step.edition.board.group_cells.values():
            levels = [state.levels[cell] for cell in cells]
            if not any(levels):
                continue
            assert len({state.owners[cell] for cell in cells}) == 1
            mortgaged = [cell for cell in cells if state.mortgaged_rounds[cell]]
            assert not [cell for cell in mortgaged if state.levels[cell]]
            if edition == "online-classic":
                assert mortgaged == []
            else:
                assert max(levels) - min(levels) <= 1


@pytest.mark.parametrize("edition", FIVE)
def test_decks(edition: str) -> None:
    """TAB-INV-10: 16 cards, in the pile or held."""
    for step in all_steps(edition):
        for deck, cards in step.edition.decks.items():
            pile = step.after.decks[deck]
            held = sum(cards_held.count(deck) for cards_held in step.after.release_cards)
            assert len(set(pile)) == len(pile)
            assert len(pile) + held == len(cards) == 16


@pytest.mark.parametrize("edition", FIVE)
def test_the_bankrupt_have_nothing(edition: str) -> None:
    """TAB-INV-11: no cash, deeds, cards or offers, and never have to act."""
    for step in all_steps(edition):
        state = step.after
        for seat, in_play in enumerate(state.in_play):
            if in_play:
                continue
            assert (state.cash[seat], state.release_cards[seat], seat in state.owners) == (0, (), False)
            for frame in state.agenda:
                assert not (isinstance(frame, TradeFrame) and seat in (frame.from_seat, frame.to_seat))
            assert state.decision is None or state.decision.seats != (seat,)


@pytest.mark.parametrize("edition", FIVE)
def test_every_phase_has_a_deadline_and_an_actor(edition: str) -> None:
    """TAB-INV-12: except when the game is over."""
    for step in all_steps(edition):
        state = step.after
        if state.ended:
            assert (state.decision, state.deadlines) == (None, ())
            continue
        assert state.decision is not None
        assert any(state.in_play[seat] for seat in state.decision.seats)
        assert state.decision.deadline_id in {deadline.id for deadline in state.deadlines}


@pytest.mark.parametrize("edition", FIVE)
def test_a_refused_command_changes_nothing(edition: str) -> None:
    """TAB-INV-13: the builder compares the whole state; there are no events."""
    game = a_table(edition).owning(0, 39).turn_of(0)
    events = game.events
    game.refused(0, c.Build((39,)), "group_incomplete", "TAB-BUILD-01")
    game.refused(1, c.Roll(), "not_asked", "TAB-PHASE-04")
    assert game.events == events


@pytest.mark.parametrize("edition", FIVE)
def test_the_log_gives_the_state(edition: str) -> None:
    """TAB-INV-14: folding the events of a command over the state before it."""
    for step in all_steps(edition):
        assert fold(step.edition, step.before, step.events) == step.after


@pytest.mark.parametrize("edition", FIVE)
def test_standing_bids_are_covered(edition: str) -> None:
    """TAB-INV-15: in every ordinary auction."""
    seen = 0
    for step in all_steps(edition):
        for frame in step.after.agenda:
            if isinstance(frame, AuctionFrame) and frame.leader != NONE and frame.kind != "open_lot":
                seen += 1
                assert frame.amount <= step.after.cash[frame.leader]
    assert seen


def test_money_of_rent_tax_comes_to_an_end() -> None:
    """TAB-INV-16: from minute 46 on only cards, mortgages and sales bring any."""
    sources = set()
    for step in all_steps("rent-tax"):
        if game_minute(step.before, step.play_time_ms) >= NO_SALARY:
            sources |= {event.reason for event in money_of(step) if event.payer == BANK}
    assert sources
    assert sources <= {"card", "mortgage", "building_sale"}


@pytest.mark.parametrize("edition", FIVE)
def test_whose_turn_it_is(edition: str) -> None:
    """TAB-INV-17: a solvent player's; a prisoner begins with 0, 1 or 2 failed tries."""
    for step in all_steps(edition):
        state = step.before
        for event in step.events:
            state = fold(step.edition, state, (event,))
            if isinstance(event, TurnStarted):
                assert state.in_play[event.seat]
                assert state.jail_tries[event.seat] in (NONE, 0, 1, 2)
