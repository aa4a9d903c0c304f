"""Cards that move the drawer."""

import pytest

from services.rules.domain.chance import ChanceError
from services.rules.domain.events import CardDrawn, MoneyMoved, TokenMoved, TripRemembered
from services.rules.domain.moves.effects import draw_card
from services.rules.domain.parties import BANK, NONE
from services.rules.domain.play import Play
from services.rules.domain.state import RollFrame, TurnFrame
from tests.support.scenario import Game, a_game

#: card cells with the cell three before each
MARKET, SUPPORT = {7: 4, 25: 22, 38: 35}, {2: 39, 15: 12, 22: 19}


def before_drawing(*cards: str, cell: int = 7, seats: int = 3, deck: str = "market") -> Game:
    """Seat 0 is about to roll 1 and 2 to a card cell; these cards lie on top of its deck."""
    game = a_game(seats).top_cards(deck, *cards)
    return game.at(0, {**MARKET, **SUPPORT}[cell]).turn_of(0)


def drawn(*cards: str, cell: int = 7, seats: int = 3, deck: str = "market") -> Game:
    """Seat 0 has rolled 1 and 2 to a card cell."""
    return before_drawing(*cards, cell=cell, seats=seats, deck=deck).roll(0, 1, 2)


@pytest.mark.parametrize("cell", sorted(MARKET))
def test_new_contracts_go_to_start_for_one_salary(cell: int) -> None:
    """IND-CARD-21, IND-CARD-15, IND-CARD-06, IND-MOVE-02: 200 exactly once."""
    game = drawn("new_contracts", cell=cell)
    assert game.position(0) == 0
    assert game.money() == [(BANK, 0, 200, "salary")]
    assert game.events_of(TokenMoved)[-1] == TokenMoved(0, cell, 0, "card", passed_start=True)
    assert game.decision == ("manage", 0)


@pytest.mark.parametrize("cell", sorted(SUPPORT))
def test_the_annual_report_goes_to_start_for_one_salary(cell: int) -> None:
    """IND-CARD-39, IND-CARD-15: 200 for the card; the way to cell 2 crosses start and pays its own 200."""
    game = drawn("annual_report", cell=cell, deck="support")
    assert game.position(0) == 0
    assert [amount for *_, amount, _ in game.money()] == ([200, 200] if cell == 2 else [200])


@pytest.mark.parametrize(("cell", "logistics", "salary"), [(7, 18, 0), (25, 32, 0), (38, 5, 200)])
def test_an_urgent_shipment_goes_to_the_nearest_logistics_ahead(cell: int, logistics: int, salary: int) -> None:
    """IND-CARD-23, IND-CARD-11, IND-CARD-14, IND-CARD-06: forward, with the salary where start is passed."""
    game = drawn("urgent_shipment", cell=cell)
    assert game.position(0) == logistics
    assert game.cash(0) == 1500 + salary
    assert game.decision == ("purchase", 0)


@pytest.mark.parametrize(("cell", "logistics"), [(4, 5), (5, 18), (17, 18), (18, 32), (31, 32), (32, 5), (39, 5)])
def test_ahead_begins_with_the_cell_after_the_token(cell: int, logistics: int) -> None:
    """IND-CARD-14: the next cell counts, the own one only after a whole lap."""
    game = a_game(2).top_cards("market", "urgent_shipment").at(0, cell)
    game.state.agenda = [TurnFrame(0, "roll"), RollFrame(0, (1, 2), 0, from_jail=False, stage="landing")]
    play = Play(game.edition, game.state, 0)
    draw_card(play, 0, "market")
    assert game.position(0) == logistics


@pytest.mark.parametrize(("owned", "rent"), [((18,), 25), ((18, 5), 50), ((18, 5, 32), 120)])
def test_the_owner_of_the_logistics_gets_the_ordinary_rent(owned: tuple[int, ...], rent: int) -> None:
    """IND-CARD-11, IND-CARD-14, IND-RENT-05: 25, 50 or 120."""
    game = before_drawing("urgent_shipment").owning(1, *owned).roll(0, 1, 2)
    assert game.money() == [(0, 1, rent, "rent")]
    assert game.decision == ("manage", 0)


def test_own_logistics_cost_nothing() -> None:
    """IND-CARD-14."""
    game = before_drawing("urgent_shipment").owning(0, 18).roll(0, 1, 2)
    assert game.money() == []
    assert game.decision == ("manage", 0)


@pytest.mark.parametrize(
    ("card", "deck", "cell"), [("unscheduled_audit", "market", 38), ("competitor_complaint", "support", 22)]
)
def test_audits_and_complaints_lead_to_inspection_without_salary(card: str, deck: str, cell: int) -> None:
    """IND-CARD-24, IND-CARD-38, IND-CARD-06, IND-JAIL-01, IND-JAIL-02."""
    game = drawn(card, cell=cell, deck=deck)
    assert game.money() == []
    assert (game.position(0), game.jail_tries(0)) == (10, 0)
    assert game.decision == ("manage", 0)


@pytest.mark.parametrize(("cell", "target"), [(7, 4), (25, 22), (38, 35)])
def test_a_lost_contract_goes_three_steps_back(cell: int, target: int) -> None:
    """IND-CARD-26, IND-CARD-06, IND-MOVE-05: no salary on the way."""
    game = drawn("contract_lost", cell=cell)
    back = TokenMoved(0, cell, target, "card_back", passed_start=False)
    assert back in game.events_of(TokenMoved)
    assert all(event.reason != "salary" for event in game.events_of(MoneyMoved))


def test_the_cell_three_steps_back_has_its_effect() -> None:
    """IND-CARD-09, IND-CARD-26, IND-TAX-01, IND-MOVE-07: the excise duty behind the last market cell."""
    game = drawn("contract_lost", cell=38)
    assert game.money() == [(0, BANK, 100, "tax")]
    assert drawn("contract_lost", cell=7).decision == ("purchase", 0)
    game = before_drawing("contract_lost").owning(1, 4).roll(0, 1, 2)
    assert game.money() == [(0, 1, 10, "rent")]


def test_a_card_draws_a_card() -> None:
    """IND-CARD-16: three steps back from 25 is a state support cell, which draws in the same step."""
    game = before_drawing("contract_lost", cell=25).top_cards("support", "state_grant").roll(0, 1, 2)
    assert game.events_of(CardDrawn) == [CardDrawn(0, "market", 5), CardDrawn(0, "support", 1)]
    assert game.money() == [(BANK, 0, 100, "card")]
    assert game.decision == ("manage", 0)


def trip(to: int, cell: int = 7, owner: int = BANK) -> Game:
    """Seat 0 rolls to a market cell and its trip leads to a cell of some owner."""
    game = before_drawing("unexpected_trip", cell=cell).top_cards("support", "state_grant")
    if owner != BANK:
        game.owning(owner, to)
    return game.roll(0, 1, 2, [other for other in range(40) if other != cell].index(to))


def test_a_trip_leads_anywhere_and_is_remembered() -> None:
    """IND-CARD-22, IND-CARD-12: the memory comes before the rules of the cell."""
    game = trip(22)
    assert game.state.trip_memory == 22
    assert game.event_names()[4:8] == ["TripRemembered", "TokenMoved", "CardDrawn", "MoneyMoved"]
    assert game.events_of(TokenMoved)[-1] == TokenMoved(0, 7, 22, "trip", passed_start=False)
    assert [event.deck for event in game.events_of(CardDrawn)] == ["market", "support"]


def test_a_trip_never_crosses_start_for_a_salary() -> None:
    """IND-CARD-08, IND-MOVE-04, IND-CARD-22: from 38 to 1 nothing is paid."""
    game = trip(1, cell=38)
    assert (game.position(0), game.money()) == (1, [])
    assert game.decision == ("purchase", 0)


def test_a_trip_straight_to_start_pays_the_salary() -> None:
    """IND-CARD-08, IND-CARD-22, IND-MOVE-04: a direct landing."""
    game = trip(0)
    assert game.money() == [(BANK, 0, 200, "salary")]
    assert game.decision == ("manage", 0)


def test_a_trip_to_the_tax_service_ends_in_inspection_and_is_remembered_as_30() -> None:
    """IND-CARD-12, IND-JAIL-01, IND-DICE-05."""
    game = trip(30)
    assert (game.state.trip_memory, game.position(0), game.jail_tries(0)) == (30, 10, 0)
    assert game.money() == []


def test_a_trip_to_the_inspection_cell_is_a_visit() -> None:
    """IND-CARD-12, IND-JAIL-03."""
    game = trip(10)
    assert (game.position(0), game.jail_tries(0)) == (10, NONE)


@pytest.mark.parametrize(
    ("owner", "to", "money", "decision"),
    [
        (1, 39, [(0, 1, 64, "rent")], "manage"),
        (BANK, 39, [], "purchase"),
        (0, 39, [], "manage"),
        (1, 12, [(0, 1, 12, "rent")], "manage"),
    ],
)
def test_the_rules_of_the_destination_apply(owner: int, to: int, money: list[object], decision: str) -> None:
    """IND-CARD-09, IND-MOVE-07, IND-RENT-07: rent by the dice of the roll, a purchase, or nothing."""
    game = trip(to, owner=owner)
    assert game.money() == money
    assert game.decision == (decision, 0)


def test_without_a_memory_there_are_39_destinations() -> None:
    """IND-CARD-12, IND-CARD-07, IND-CARD-22: all but the cell one is on."""
    for index, cell in ((0, 0), (6, 6), (7, 8), (38, 39)):
        game = before_drawing("unexpected_trip").top_cards("support", "state_grant").roll(0, 1, 2, index)
        assert game.events_of(TripRemembered) == [TripRemembered(cell)]
    with pytest.raises(ChanceError):
        before_drawing("unexpected_trip").roll(0, 1, 2, 39)


def test_the_last_destination_of_anybody_is_left_out() -> None:
    """IND-CARD-07, IND-CARD-12, IND-INV-16: 38 destinations, whoever made the last trip."""
    for index, cell in ((6, 6), (7, 8), (18, 19), (19, 21), (37, 39)):
        game = before_drawing("unexpected_trip").trip_remembered(20).roll(0, 1, 2, index)
        assert game.events_of(TripRemembered) == [TripRemembered(cell)]
    with pytest.raises(ChanceError):
        before_drawing("unexpected_trip").trip_remembered(20).roll(0, 1, 2, 38)


def test_a_remembered_cell_that_one_stands_on_counts_once() -> None:
    """IND-CARD-12: 39 destinations when both are the same."""
    game = before_drawing("unexpected_trip").trip_remembered(7).roll(0, 1, 2, 38)
    assert game.events_of(TripRemembered) == [TripRemembered(39)]


def test_a_second_trip_in_one_roll_is_skipped() -> None:
    """IND-CARD-10, IND-CARD-13: it goes to the bottom, and the next card of the same deck acts."""
    game = a_game(3).top_cards("market", "unexpected_trip", "dividends")
    game.state.trip_taken = True
    game.landing(0, 7)
    assert game.events_of(CardDrawn) == [CardDrawn(0, "market", 1, skipped=True), CardDrawn(0, "market", 6)]
    assert game.money() == [(BANK, 0, 150, "card")]
    assert game.cards("market")[-2:] == ["unexpected_trip", "dividends"]
    assert not game.events_of(TripRemembered)


def test_the_next_roll_of_anybody_allows_a_trip_again() -> None:
    """IND-CARD-10, IND-CARD-13: within one roll, that is until the next roll by anyone."""
    game = trip(20).top_cards("market", "unexpected_trip").at(1, 4).end_turn(0)
    assert game.state.trip_taken
    game.roll(1, 1, 2, 0)
    assert game.events_of(TripRemembered) == [TripRemembered(0)]
    assert game.position(1) == 0


def test_a_trip_counts_for_the_whole_roll() -> None:
    """IND-CARD-10: a trip to a card cell whose next card is a trip again."""
    game = before_drawing("unexpected_trip", "dividends")
    order = game.state.decks["market"]
    game.state.decks["market"] = (order[0], *order)
    game.state.trip_taken = True
    game.landing(0, 7)
    assert [event.skipped for event in game.events_of(CardDrawn)] == [True, True, False]
