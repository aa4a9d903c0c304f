"""Debts: when they arise, how they are paid, and whose they are."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.commands import Basket
from services.rules.domain.events import PaymentClosed, PaymentDue
from services.rules.domain.parties import BANK
from services.rules.domain.state import Claim, PaymentFrame
from tests.support.scenario import Game, a_game


def test_rent_that_is_not_covered_is_a_debt_of_the_whole() -> None:
    """IND-DEBT-01, IND-RENT-09, IND-DEBT-04: the cash is not touched until then."""
    game = a_game().owning(1, 39).with_cash(0, 63).at(0, 36).turn_of(0).roll(0, 1, 2)
    assert game.money() == []
    (due,) = game.events_of(PaymentDue)
    assert (due.payer, due.claims, due.reason, due.cell) == (0, (Claim(1, 64),), "rent", 39)
    assert (game.cash(0), game.cash(1), game.decision) == (63, 1500, ("payment", 0))
    game = a_game().owning(1, 39).with_cash(0, 64).at(0, 36).turn_of(0).roll(0, 1, 2)
    assert game.money() == [(0, 1, 64, "rent")]
    assert game.decision == ("manage", 0)


def test_the_excise_duty_can_be_a_debt() -> None:
    """IND-DEBT-01, IND-TAX-02: 100 to the bank."""
    game = a_game().with_cash(0, 99).at(0, 32).turn_of(0).roll(0, 1, 2)
    assert game.events_of(PaymentDue)[0].claims == (Claim(BANK, 100),)
    assert a_game().with_cash(0, 100).at(0, 32).turn_of(0).roll(0, 1, 2).money() == [(0, BANK, 100, "tax")]


def test_a_card_can_make_a_debt() -> None:
    """IND-DEBT-01: rent, tax or a card."""
    game = a_game().top_cards("support", "audit_fee").with_cash(0, 49).at(0, 12).turn_of(0).roll(0, 1, 2)
    assert game.decision == ("payment", 0)


def test_a_forced_fee_can_be_a_debt() -> None:
    """IND-DEBT-03, IND-JAIL-06: 50 to the bank."""
    game = a_game().with_cash(0, 49).in_jail(0, 2).turn_of(0).roll(0, 1, 2)
    assert game.events_of(PaymentDue)[0].claims == (Claim(BANK, 50),)
    assert game.decision == ("payment", 0)


def indebted(amount: int = 100, cash: int = 70, *creditors: int, seats: int = 3) -> Game:
    """Seat 0 owes, and has a branch (refund 25) on each bakery and the freight station."""
    game = a_game(seats).with_cash(0, cash).owning_group(0, "bakery", 1, 1, 1).owning(0, 5)
    return game.owing(0, amount, *creditors)


def test_a_debtor_cannot_end_his_turn() -> None:
    """IND-DEBT-02, IND-TURN-03, IND-DEBT-26."""
    indebted().refused(0, c.EndTurn(), "wrong_decision", "IND-PHASE-07")


def test_a_debt_is_paid_by_itself_as_soon_as_the_money_suffices() -> None:
    """IND-DEBT-02, IND-DEBT-04: in full, in the same step; a unit short is not enough, and the rest is kept."""
    game = indebted(96, 70).do(0, c.SellBuildings((1,), 0))
    assert game.money() == [(BANK, 0, 25, "building_sale")]
    assert (game.cash(0), game.decision) == (95, ("payment", 0))
    game.do(0, c.SellBuildings((3,), 0))
    assert game.money() == [(BANK, 0, 25, "building_sale"), (0, BANK, 96, "card")]
    assert (game.cash(0), game.decision) == (24, ("manage", 0))
    assert game.events_of(PaymentClosed)[0].outcome == "paid"
    game = indebted(95, 70).do(0, c.SellBuildings((1,), 0))
    assert (game.cash(0), game.decision) == (0, ("manage", 0))


def test_a_debt_to_a_player_is_paid_to_him() -> None:
    """IND-DEBT-22, IND-DEBT-04: the creditor is the bank, one player, or several."""
    game = indebted(90, 70, 2).do(0, c.SellBuildings((1,), 0))
    assert game.money() == [(BANK, 0, 25, "building_sale"), (0, 2, 90, "card")]
    game = indebted(90, 70, 1, 2).do(0, c.SellBuildings((1,), 0))
    assert game.money() == [(BANK, 0, 25, "building_sale"), (0, 1, 45, "card"), (0, 2, 45, "card")]


def test_the_ways_out_of_a_debt() -> None:
    """IND-DEBT-05, IND-DEBT-13, IND-DEBT-14, IND-DEBT-26: collapse, auction, direct sale, giving up."""
    game = indebted()
    assert game.option_kinds() == {"sell_buildings", "open_auction", "offer_trade", "declare_bankruptcy"}
    assert [lot.cell for lot in game.option("open_auction").lots] == [5]
    assert [choice.cell for choice in game.option("sell_buildings").buildings] == [1, 3, 4]


@pytest.mark.parametrize("action", [c.Roll(), c.Build((1,)), c.EndTurn(), c.Buy(), c.Decline(), c.PayFine(), c.Pass()])
def test_nothing_else_is_legal_in_a_debt(action: c.Action) -> None:
    """IND-DEBT-26: neither building, nor rolling, nor ending the turn."""
    indebted().refused(0, action, "wrong_decision", "IND-PHASE-07")


def test_no_exchange_in_a_debt() -> None:
    """IND-DEBT-26, IND-TRADE-08: only the direct sale."""
    game = indebted().owning(1, 6)
    wants = c.OfferTrade(1, Basket(10), Basket(cells=(6,)))
    swaps = c.OfferTrade(1, Basket(0, (5,)), Basket(cells=(6,)))
    game.refused(0, wants, "wrong_shape", "IND-DEBT-26")
    game.refused(0, swaps, "wrong_shape", "IND-DEBT-26")
    trade = game.options("offer_trade")[0].trade
    assert trade is not None
    assert (trade.get_cells, trade.exchange_cash) == ((), None)


def test_only_the_debtor_acts() -> None:
    """IND-DEBT-22, IND-INV-08: one actor, neither creditor nor anybody else."""
    game = indebted(100, 70, 1)
    for seat in (1, 2):
        game.refused(seat, c.DeclareBankruptcy(), "not_asked", "IND-PHASE-10", {"seat": 0})


def tender(*cash: int) -> Game:
    """Seat 1 has drawn `tender_won` in its own turn; everybody has some cash."""
    game = a_game(len(cash)).top_cards("support", "tender_won").cash_of_all(*cash).owning(2, 5)
    return game.at(1, 12).turn_of(1).roll(1, 1, 2)


def test_a_debtor_out_of_turn_has_the_rights_of_any_debtor() -> None:
    """IND-DEBT-23, IND-OWNAUC-05: auction, direct sale, giving up; then the game goes on where it stopped."""
    game = tender(500, 500, 10)
    assert game.decision == ("payment", 2)
    assert game.state.turn_seat == 1
    assert game.option_kinds() == {"open_auction", "offer_trade", "declare_bankruptcy"}
    game.do(2, c.OfferTrade(0, Basket(cells=(5,)), Basket(100))).do(0, c.AcceptTrade())
    assert game.money() == [(0, 2, 100, "trade"), (2, 1, 50, "card"), (0, 1, 50, "card")]
    assert game.decision == ("manage", 1)


def test_there_is_one_debt_at_a_time() -> None:
    """IND-DEBT-22, IND-CARD-19: further payers of the same card wait."""
    game = tender(20, 500, 10)
    assert game.decision == ("payment", 2)
    assert sum(isinstance(frame, PaymentFrame) for frame in game.state.agenda) == 1
    game.do(2, c.DeclareBankruptcy())
    assert game.decision == ("payment", 0)
    assert sum(isinstance(frame, PaymentFrame) for frame in game.state.agenda) == 1


def test_the_part_of_a_creditor_who_is_out_is_owed_to_the_bank() -> None:
    """IND-DEBT-24: the sum stays the same."""
    game = indebted(90, 70, 1, 2).withdraw(1)
    (frame,) = [frame for frame in game.state.agenda if isinstance(frame, PaymentFrame)]
    assert frame.claims == (Claim(BANK, 45), Claim(2, 45))
    assert game.decision == ("payment", 0)
    game.do(0, c.SellBuildings((1,), 0))
    assert game.money() == [(BANK, 0, 25, "building_sale"), (0, BANK, 45, "card"), (0, 2, 45, "card")]


def test_giving_up_is_for_debtors_only() -> None:
    """IND-DEBT-14, IND-DEBT-25: never outside a debt."""
    a_game(3).turn_of(0).refused(0, c.DeclareBankruptcy(), "wrong_decision", "IND-PHASE-01")
    a_game(3).managing(0).refused(0, c.DeclareBankruptcy(), "wrong_decision", "IND-PHASE-05")
    a_game(3).turn_of(0).refused(0, c.Surrender(), "wrong_decision", "IND-PHASE-01")


def test_giving_up_is_possible_at_any_time_in_a_debt() -> None:
    """IND-DEBT-14, IND-DEBT-25: though other ways are open."""
    game = indebted(100, 70, 1).do(0, c.DeclareBankruptcy())
    assert game.money() == [(0, 1, 70, "estate")]
    assert game.events_of(PaymentClosed)[0].outcome == "bankrupt"
    assert game.state.in_play == [False, True, True]
    assert game.decision == ("roll", 1)


def test_giving_up_is_never_done_for_a_player() -> None:
    """IND-DEBT-25, IND-TIME-06: even when he has nothing left."""
    game = a_game(3).with_cash(0, 0).owing(0, 2000, 1)
    assert game.decision == ("payment", 0)
    assert game.option_kinds() == {"declare_bankruptcy"}


def test_a_debt_in_the_turn_of_another_does_not_end_that_turn() -> None:
    """IND-DEBT-23, IND-TURN-10: the turn player goes on after the debtor has given up."""
    game = tender(500, 500, 10).do(2, c.DeclareBankruptcy())
    assert game.money() == [(2, 1, 10, "estate"), (0, 1, 50, "card")]
    assert game.decision == ("manage", 1)
