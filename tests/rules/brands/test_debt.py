"""Awaited payments and debts (BRA-DEBT)."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.events import DeedMoved, MoneyMoved, PaymentClosed, PaymentDue, SeatOut
from services.rules.domain.parties import BANK
from services.rules.domain.state import Claim
from tests.rules.brands.games import (
    BRANDS,
    INCOME_TAX,
    MINUTE_MS,
    TURN_MS,
    brands,
    drawing,
    every_mode,
    in_minute,
    offer,
)
from tests.support.scenario import Game


def in_debt(edition: str = BRANDS, cash: int = 1999) -> Game:
    """Seat 0 has 37 and 39 and lands on the income tax of 2000."""
    return brands(edition).owning(0, 37, 39).with_cash(0, cash).landing(0, INCOME_TAX)


@every_mode
def test_the_timer_of_a_debt(edition: str) -> None:
    """BRA-DEBT-01: 60 seconds, for rent, tax and the cost of a card."""
    assert in_debt(edition).deadline == ("payment", 60_000)
    game = brands(edition).owning(1, 39).owning(0, 37).with_cash(0, 499).landing(0, 39)
    assert (game.decision, game.deadline) == (("payment", 0), ("payment", 60_000))
    game = drawing("product_recall", edition).owning(0, 37).with_cash(0, 1499).roll(0, 3, 4)
    assert (game.decision, game.deadline) == (("payment", 0), ("payment", 60_000))


@every_mode
def test_a_won_auction_is_an_obligation_too(edition: str) -> None:
    """BRA-DEBT-01: with the same timer."""
    game = brands(edition).owning(1, 37).with_cash(1, 4000).landing(0, 39).do(0, c.Decline()).do(1, c.Bid(5000))
    for seat in range(2, len(game.state.cash)):
        game.do(seat, c.Pass())
    assert (game.decision, game.deadline) == (("payment", 1), ("payment", 60_000))


@every_mode
def test_what_a_debtor_does(edition: str) -> None:
    """BRA-DEBT-02: sells buildings, mortgages properties, offers other players trades."""
    game = brands(edition).owning_group(0, "drinks", 1, 1, 1).owning(0, 39).with_cash(0, 100)
    game.landing(0, INCOME_TAX)
    assert game.option_kinds() == {"sell_buildings", "mortgage", "offer_trade", "surrender", "ask_pause"}
    game.do(0, c.SellBuildings((6,), 0)).do(0, c.Mortgage(39))
    assert {"pay"} < game.option_kinds()
    game.do(0, c.Pay())
    assert game.decision == ("roll", 1)


def test_a_trade_may_settle_a_debt() -> None:
    """BRA-DEBT-02: its cash counts, and then `pay`."""
    game = in_debt().do(0, offer(1, 0, (37,), for_cash=3500)).do(1, c.AcceptTrade())
    assert (game.decision, game.cash(0)) == (("payment", 0), 1999 + 3500)
    assert game.do(0, c.Pay()).cash(0) == 3499


def test_giving_up() -> None:
    """BRA-DEBT-03: the debtor can surrender."""
    game = in_debt().do(0, c.Surrender())
    assert not game.state.in_play[0]


@pytest.mark.parametrize(("cash", "clock"), [(2000, "turn"), (1999, "payment")])
def test_pay_and_debt(cash: int, clock: str) -> None:
    """BRA-DEBT-04: with enough cash rent and tax wait on the turn clock, with too little it is a debt."""
    game = brands().owning(0, 37, 39).with_cash(0, cash).at(0, 1).turn_of(0).roll(0, 1, 2, after_ms=20_000)
    left = TURN_MS[BRANDS] - 20_000 if clock == "turn" else 60_000
    assert (game.decision, game.deadline) == (("payment", 0), (clock, left))


def test_other_payments_are_debited_at_once() -> None:
    """BRA-DEBT-04: cards, fines and won auctions, when the cash suffices."""
    game = drawing("product_recall").with_cash(0, 1500).roll(0, 3, 4)
    assert (game.cash(0), game.decision) == (0, ("roll", 1))
    game = brands().owning(0, 13).with_cash(0, 500).in_jail(0, tries=2).turn_of(0).roll(0, 1, 2)
    assert (game.cash(0), game.decision) == (0, ("roll", 1))


def test_an_awaited_payment_turns_into_a_debt() -> None:
    """BRA-DEBT-04: if a trade lowers the cash below the sum; then it has 60 seconds and stays a debt."""
    game = in_debt(cash=2000).owning(1, 34).with_cash(1, 5000)
    game.do(0, offer(1, 2000, for_cash=1999), after_ms=1000).do(1, c.AcceptTrade())
    assert (game.cash(0), game.deadline) == (1999, ("payment", 60_000))
    game.do(0, offer(1, 1, for_cash=2), after_ms=10_000).do(1, c.AcceptTrade(), after_ms=5000)
    assert (game.cash(0), game.deadline) == (2000, ("payment", 50_000))


def test_a_trade_that_leaves_enough() -> None:
    """BRA-DEBT-04: the payment goes on waiting on the turn's clock."""
    game = in_debt(cash=3000).do(0, offer(1, 1000, for_cash=500), after_ms=1000).do(1, c.AcceptTrade())
    assert (game.cash(0), game.deadline) == (2500, ("turn", TURN_MS[BRANDS] - 1000))


def test_a_debt_is_paid_whole_and_by_an_action() -> None:
    """BRA-DEBT-05: not by itself when the cash suffices."""
    game = in_debt()
    game.refused(0, c.Pay(), "not_enough_cash", "BRA-DEBT-05", {"least": 2000})
    game.do(0, c.Mortgage(37))
    assert (game.cash(0), game.decision) == (1999 + 1750, ("payment", 0))
    game.do(0, c.Pay())
    assert game.events_of(PaymentClosed) == [PaymentClosed(1, "paid")]
    assert game.money() == [(0, BANK, 2000, "tax")]


def test_time_pays_a_covered_debt() -> None:
    """BRA-DEBT-05, BRA-DEBT-06: without selling anything more."""
    game = in_debt().do(0, c.Mortgage(37)).expire("payment")
    assert game.money() == [(0, BANK, 2000, "tax")]
    assert game.decision == ("roll", 1)


def test_time_raises_the_money() -> None:
    """BRA-DEBT-06, BRA-AUTO-07: the game mortgages as far as needed and pays."""
    game = in_debt().expire("payment")
    assert game.money() == [(BANK, 0, 1750, "mortgage"), (0, BANK, 2000, "tax")]
    assert game.state.in_play[0]


@pytest.mark.parametrize(("cash", "bankrupt"), [(249, True), (250, False)])
def test_time_bankrupts_whom_nothing_would_save(cash: int, bankrupt: bool) -> None:
    """BRA-DEBT-06, BRA-BANK-06: only if raisable is too low; 250 + 1750 is exactly enough."""
    game = brands().owning(0, 37).with_cash(0, cash).landing(0, INCOME_TAX).expire("payment")
    assert game.state.in_play[0] == (not bankrupt)
    if bankrupt:
        assert game.money() == [(0, BANK, 249, "estate")]


def test_a_creditor_who_leaves() -> None:
    """BRA-DEBT-07: the sum stays the same and goes to the bank, free of rent tax."""
    game = in_minute(brands(), 61).owning(1, 39).landing(0, 39).do(1, c.Surrender())
    assert (game.decision, game.option("pay").amount) == (("payment", 0), 500)
    assert game.do(0, c.Pay()).money() == [(0, BANK, 500, "rent")]
    game = drawing("joint_exhibition").owning(0, 39).with_cash(0, 999).roll(0, 3, 4).do(2, c.Surrender())
    assert game.do(0, c.Mortgage(39)).do(0, c.Pay()).money() == [(0, 1, 500, "card"), (0, BANK, 500, "card")]


def test_a_collector_who_leaves() -> None:
    """BRA-DEBT-07, BRA-BANK-12: players whom the card has not reached yet pay the bank; then the turn ends."""
    game = drawing("licence_fees", BRANDS, 4).owning(1, 39).with_cash(1, 0).roll(0, 3, 4)
    assert game.decision == ("payment", 1)
    game.do(0, c.Surrender())
    assert (game.state.in_play[0], game.decision) == (False, ("payment", 1))
    game.do(1, c.Mortgage(39)).do(1, c.Pay())
    assert game.money() == [(1, BANK, 500, "card"), (2, BANK, 500, "card"), (3, BANK, 500, "card")]
    assert game.decision == ("roll", 1)


@every_mode
def test_the_compulsory_fine_is_an_obligation(edition: str) -> None:
    """BRA-DEBT-08: like those listed."""
    game = brands(edition).owning(0, 39).with_cash(0, 499).in_jail(0, tries=2).turn_of(0).roll(0, 1, 2)
    assert game.events_of(PaymentDue) == [PaymentDue(1, 0, (Claim(BANK, 500),), "fine", 10)]
    assert game.expire("payment").state.in_play[0]
    assert [event.reason for event in game.events_of(MoneyMoved)] == ["mortgage", "fine"]


def test_debts_of_others_stop_the_turns_clock() -> None:
    """BRA-DEBT-01, BRA-TIME-03: it goes on with exactly what was left."""
    game = drawing("licence_fees").owning(1, 39).with_cash(1, 0).at(0, 6).turn_of(0)
    game.at(0, 5).roll(0, 1, 1, after_ms=7000)
    assert (game.decision, game.deadline) == (("payment", 1), ("payment", 60_000))
    game.do(1, c.Mortgage(39), after_ms=30_000).do(1, c.Pay(), after_ms=20_000)
    assert (game.decision, game.deadline) == (("roll", 0), ("turn", TURN_MS[BRANDS]))
    game.owning(1, 1).at(0, 3).landing(0, 1)
    assert game.now_ms == 57_000 < MINUTE_MS


def test_a_bankrupts_deeds_move_before_the_next_debt() -> None:
    """BRA-DEBT-05, BRA-CARD-10: one obligation waits at a time."""
    game = drawing("licence_fees", BRANDS, 4).with_cash(1, 0).owning(1, 3).mortgaged(3).with_cash(2, 0).owning(2, 39)
    game.roll(0, 3, 4)
    assert game.events_of(SeatOut) == [SeatOut(1, 4)]
    assert game.events_of(DeedMoved) == [DeedMoved(3, 1, 0, "estate")]
    assert game.decision == ("payment", 2)
