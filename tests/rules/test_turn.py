"""Turns, rounds and their order (IND-TURN)."""

from collections.abc import Callable

import pytest

from services.rules.domain import commands as c
from services.rules.domain.commands import Basket
from services.rules.domain.events import TurnEnded, TurnStarted
from services.rules.domain.moves.turn import _round_grows
from services.rules.domain.parties import BANK
from tests.support.scenario import Game, a_game


def test_a_turn_rolls_moves_carries_the_cell_out_and_is_closed() -> None:
    """IND-TURN-01: dice, token by their sum, purchase, then the end of the turn."""
    game = a_game(2).turn_of(0).roll(0, 2, 4)
    assert game.event_names() == ["DecisionClosed", "DiceRolled", "TokenMoved", "DeadlineSet", "DecisionOpened"]
    assert (game.position(0), game.decision) == (6, ("purchase", 0))
    game.do(0, c.Buy())
    assert (game.money(), game.decision) == ([(0, BANK, 100, "purchase")], ("manage", 0))
    game.end_turn(0)
    assert game.events_of(TurnEnded) == [TurnEnded(0, "done")]
    assert game.decision == ("roll", 1)


def test_after_the_roll_one_may_expand_trade_and_end() -> None:
    """IND-TURN-02: build, trade, own auction and «End turn» are open together after the roll."""
    game = a_game(2).owning_group(0, "bakery", 1, 1, 1).owning(0, "freight_station").owning(1, "river_port")
    game.at(0, 38).turn_of(0).roll(0, 1, 2)
    assert game.decision == ("manage", 0)
    assert game.option_kinds() == {"build", "sell_buildings", "offer_trade", "open_auction", "end_turn"}


def test_a_debtor_cannot_end_the_turn() -> None:
    """IND-TURN-03: first the debt is cleared, then the turn can be ended."""
    game = a_game(2).owning_group(0, "agro", 1, 1, 1).with_cash(0, 80).owing(0, 100)
    assert "end_turn" not in game.option_kinds()
    game.refused(0, c.EndTurn(), "wrong_decision", "IND-PHASE-07")
    game.do(0, c.SellBuildings((6,), 0))
    game.end_turn(0)
    assert game.decision == ("roll", 1)


def waiting_for_roll() -> Game:
    """Before the roll."""
    return a_game(3).turn_of(0)


def waiting_in_jail() -> Game:
    """Before the roll, in inspection."""
    return a_game(3).in_jail(0).turn_of(0)


def waiting_for_purchase() -> Game:
    """On a free cell."""
    return a_game(3).landing(0, 1)


def waiting_for_own_bid() -> Game:
    """In an auction, asked first."""
    return a_game(3).landing(0, 1).do(0, c.Decline())


@pytest.mark.parametrize(
    ("given", "statement"),
    [
        (waiting_for_roll, "IND-PHASE-01"),
        (waiting_in_jail, "IND-PHASE-02"),
        (waiting_for_purchase, "IND-PHASE-03"),
        (waiting_for_own_bid, "IND-PHASE-04"),
    ],
)
def test_end_turn_is_legal_only_in_manage(given: Callable[[], Game], statement: str) -> None:
    """IND-TURN-04: not before the roll, in a purchase or in an auction."""
    game = given()
    game.refused(0, c.EndTurn(), "wrong_decision", statement)


def test_end_turn_is_not_legal_while_others_are_asked() -> None:
    """IND-TURN-04: not with an unanswered offer, another's bid or anybody's debt."""
    game = a_game(3).owning(1, "freight_station").managing(0)
    game.do(0, c.OfferTrade(1, Basket(10), Basket(0, (5,))))
    game.refused(0, c.EndTurn(), "not_asked", "IND-PHASE-10", {"seat": 1})
    game = waiting_for_own_bid().do(0, c.Bid(45))
    game.refused(0, c.EndTurn(), "not_asked", "IND-PHASE-10", {"seat": 1})
    game = a_game(3).with_cash(2, 0).owing(2, 50, 0, turn=0)
    game.refused(0, c.EndTurn(), "not_asked", "IND-PHASE-10", {"seat": 2})


def test_everything_automatic_happens_in_one_step() -> None:
    """IND-TURN-05: one roll passes Start, draws a card, steps back onto another card cell, draws, and pays; then one
    decision is open."""
    game = a_game(3).at(0, 20).top_cards("market", "contract_lost").top_cards("support", "tender_won").turn_of(0)
    game.roll(0, 2, 3)
    assert game.event_names() == [
        "DecisionClosed",
        "DiceRolled",
        "TokenMoved",
        "CardDrawn",
        "TokenMoved",
        "CardDrawn",
        "MoneyMoved",
        "MoneyMoved",
        "DeadlineSet",
        "DecisionOpened",
    ]
    assert game.asked() == [("manage", 0)]
    assert game.money() == [(1, 0, 50, "card"), (2, 0, 50, "card")]


def test_automatic_order_is_salary_then_card_then_its_move_then_rent() -> None:
    """IND-TURN-05: money moves in the order of the resolution."""
    game = a_game(2).at(0, 39).top_cards("support", "annual_report").turn_of(0).roll(0, 1, 2)
    assert game.money() == [(BANK, 0, 200, "salary"), (BANK, 0, 200, "salary")]
    game = a_game(2).owning(1, "river_port").at(0, 37).top_cards("market", "urgent_shipment").turn_of(0).roll(0, 4, 6)
    assert game.position(0) == 18
    assert game.money() == [(BANK, 0, 200, "salary"), (0, 1, 25, "rent")]


def test_an_extra_roll_is_a_further_turn_with_fresh_allowances() -> None:
    """IND-TURN-06: trade and own auctions are fresh, the count of doubles goes on, the round stays."""
    game = a_game(2).owning(0, "freight_station").owning(1, "river_port").turn_of(0)
    game.roll(0, 5, 5)
    assert game.decision == ("manage", 0)
    offer = c.OfferTrade(1, Basket(10), Basket(0, (18,)))
    game.do(0, c.OpenAuction(5, 100)).do(1, c.Pass()).do(0, offer).do(1, c.RefuseTrade())
    assert "open_auction" not in game.option_kinds()
    game.refused(0, offer, "trade_limit_used", "IND-TRADE-01")
    game.end_turn(0)
    assert game.events_of(TurnStarted) == [TurnStarted(0, 1, True)]
    assert game.state.doubles == 1
    game.roll(0, 4, 6)
    assert game.position(0) == 20
    game.do(0, c.OpenAuction(5, 100)).do(1, c.Pass())
    game.do(0, offer)
    assert game.decision == ("trade_answer", 1)


def test_the_turn_passes_clockwise_with_the_doubles_at_0() -> None:
    """IND-TURN-07: to the next in play, over those who are out, and round the table."""
    game = a_game(4).out(2).doubles(0).managing(1).end_turn(1)
    assert game.events_of(TurnStarted) == [TurnStarted(3, 1, False)]
    game = a_game(4).out(0).doubles(2).managing(3).end_turn(3)
    assert (game.decision, game.state.doubles) == (("roll", 1), 0)


def test_before_the_roll_only_rolling_and_collapsing_are_legal() -> None:
    """IND-TURN-08: no building, trade, own auction before the roll; buildings may be collapsed."""
    game = a_game(2).owning_group(0, "bakery", 1, 0, 0).owning(0, "freight_station").owning(1, "river_port")
    game.at(0, 3).turn_of(0)
    assert game.option_kinds() == {"roll", "sell_buildings"}
    game.refused(0, c.Build((3,)), "wrong_decision", "IND-PHASE-01")
    game.refused(0, c.OpenAuction(5, 100), "wrong_decision", "IND-PHASE-01")
    game.refused(0, c.OfferTrade(1, Basket(1), Basket(0, (18,))), "wrong_decision", "IND-PHASE-01")
    game.refused(0, c.PayFine(), "not_in_jail", "IND-PHASE-02")
    game.do(0, c.SellBuildings((1,), 0))
    assert (game.decision, game.level(1)) == (("roll", 0), 0)


def test_before_the_roll_in_inspection_there_is_its_choice_too() -> None:
    """IND-TURN-08: roll, pay, use a card or collapse."""
    game = a_game(2).owning_group(0, "bakery", 1, 0, 0).in_jail(0).holding_release_cards(0, "market").turn_of(0)
    assert game.option_kinds() == {"roll", "pay_fine", "use_release_card", "sell_buildings"}
    game.refused(0, c.Build((3,)), "wrong_decision", "IND-PHASE-02")


def test_rounds_are_counted_from_the_starting_seat() -> None:
    """IND-TURN-09: round 1 at the start; it grows when the turn comes back to the starter."""
    game = a_game(3, first=1)
    seen = []
    for _ in range(7):
        assert game.decision is not None
        seat = game.decision[1]
        seen.append((seat, game.state.round))
        game.managing(seat).end_turn(seat)
    assert seen == [(1, 1), (2, 1), (0, 1), (1, 2), (2, 2), (0, 2), (1, 3)]


def test_rounds_are_exact_when_the_starter_is_out() -> None:
    """IND-TURN-09: the place in the order counts from the starting seat, though nobody sits there any more."""
    game = a_game(4, first=1).out(1)
    seen = []
    game.managing(0)
    for _ in range(6):
        assert game.decision is not None
        seat = game.decision[1]
        seen.append((seat, game.state.round))
        game.managing(seat).end_turn(seat)
    assert seen == [(0, 1), (2, 2), (3, 2), (0, 2), (2, 3), (3, 3)]


@pytest.mark.parametrize(("seat", "following", "grows"), [(1, 2, 0), (2, 0, 0), (0, 1, 1), (0, 2, 1), (2, 2, 1)])
def test_a_round_grows_at_a_place_not_after_the_last_one(seat: int, following: int, grows: int) -> None:
    """IND-TURN-09: counted from the starting seat 1; the same place is not after itself."""
    assert _round_grows(a_game(3, first=1).state, seat, following) == grows


def test_an_extra_roll_starts_no_round() -> None:
    """IND-TURN-09: the round grows only when the turn passes to another player."""
    game = a_game(2).extra_roll_owed().in_round(7).managing(0).end_turn(0)
    assert (game.decision, game.state.round) == (("roll", 0), 7)
    game.managing(1).end_turn(1)
    assert game.state.round == 8


def test_the_turn_of_a_player_who_goes_out_passes_at_once() -> None:
    """IND-TURN-10: clockwise, and an owed extra roll is lost."""
    game = a_game(3).with_cash(0, 0).extra_roll_owed().owing(0, 100)
    game.do(0, c.DeclareBankruptcy())
    assert game.events_of(TurnEnded) == [TurnEnded(0, "out")]
    assert game.events_of(TurnStarted) == [TurnStarted(1, 1, False)]
    assert (game.decision, game.state.extra_owed) == (("roll", 1), False)


def test_the_turn_goes_on_when_another_goes_out() -> None:
    """IND-TURN-10: the turn player stays in his turn and keeps his extra roll."""
    game = a_game(3).with_cash(2, 0).extra_roll_owed().owing(2, 50, 0, turn=0)
    game.do(2, c.DeclareBankruptcy())
    assert (game.decision, game.events_of(TurnEnded)) == (("manage", 0), [])
    game.end_turn(0)
    assert game.events_of(TurnStarted) == [TurnStarted(0, 1, True)]
