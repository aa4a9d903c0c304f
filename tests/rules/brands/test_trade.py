"""Trades (BRA-TRADE)."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.commands import Basket
from services.rules.domain.events import DeedMoved, TradeClosed, TradeOffered
from tests.rules.brands.games import (
    BRANDS,
    BRAWL,
    CASINO,
    FAST,
    INCOME_TAX,
    TEAMS,
    TURN_MS,
    brands,
    every_mode,
    holding_the_release_card,
    offer,
)
from tests.support.scenario import Game


def traders(edition: str = BRANDS) -> Game:
    """Seat 0 has 37 (3500) and seat 1 has 34 (3200); both 10000 in cash."""
    game = brands(edition).owning(0, 37).owning(1, 34)
    return game.with_cash(0, 10000).with_cash(1, 10000)


@every_mode
def test_when_an_offer_may_be_made(edition: str) -> None:
    """BRA-TRADE-01: before the throw, over a purchase, an awaited payment or a debt, in jail too."""
    assert traders(edition).turn_of(0).do(0, offer(1, 3200, for_cells=(34,))).decision == ("trade_answer", 1)
    assert traders(edition).in_jail(0).turn_of(0).do(0, offer(1, 3200, for_cells=(34,))).asked_seats == (1,)
    for cell in (39, INCOME_TAX):
        game = traders(edition).landing(0, cell)
        kind = game.decision
        game.do(0, offer(1, 3200, for_cells=(34,))).do(1, c.RefuseTrade())
        assert game.decision == kind
    game = traders(edition).with_cash(0, 1999).landing(0, INCOME_TAX).do(0, offer(1, 0, (37,), for_cash=3500))
    assert game.do(1, c.AcceptTrade()).decision == ("payment", 0)
    game = traders(edition).with_cash(0, 0).owing(0, 500, 1, turn=1).do(0, offer(1, 0, (37,), for_cash=3500))
    assert game.decision == ("trade_answer", 1)


@every_mode
def test_when_no_offer_may_be_made(edition: str) -> None:
    """BRA-TRADE-01: not in others' turns, at the casino, or in an auction."""
    game = traders(edition).turn_of(1)
    game.refused(0, offer(1, 3200, for_cells=(34,)), "not_asked", "BRA-TURN-02")
    game = traders(edition).landing(0, CASINO)
    game.refused(0, offer(1, 3200, for_cells=(34,)), "wrong_decision", "BRA-MOVE-12")
    game = traders(edition).landing(0, 39).do(0, c.Decline())
    game.refused(1, offer(0, 3500, for_cells=(37,)), "wrong_decision", "BRA-AUC-04")


def test_no_offer_while_choosing_a_move() -> None:
    """BRA-TRADE-01: neither for a bus nor for a triple."""
    game = traders(FAST).in_round(8).turn_of(0).roll(0, 1, 2, third=4)
    game.refused(0, offer(1, 3200, for_cells=(34,)), "wrong_decision", "BRA-DICE-17")


@every_mode
def test_both_sides_give_money_and_properties(edition: str) -> None:
    """BRA-TRADE-02: any mix, all at once."""
    game = traders(edition).owning(0, 5).owning(1, 15).turn_of(0)
    game.do(0, offer(1, 100, (37, 5), for_cash=700, for_cells=(34, 15)))
    assert game.events_of(TradeOffered) == [TradeOffered(1, 0, 1, Basket(100, (37, 5)), Basket(700, (34, 15)))]
    game.do(1, c.AcceptTrade())
    assert game.money() == [(0, 1, 100, "trade"), (1, 0, 700, "trade")]
    assert game.events_of(DeedMoved) == [
        DeedMoved(37, 0, 1, "trade"),
        DeedMoved(5, 0, 1, "trade"),
        DeedMoved(34, 1, 0, "trade"),
        DeedMoved(15, 1, 0, "trade"),
    ]
    assert game.decision == ("roll", 0)


@every_mode
def test_buildings_block_the_whole_group(edition: str) -> None:
    """BRA-TRADE-03, BRA-TRADE-04: even a single branch, until it is sold, whoever owns it."""
    game = traders(edition).owning_group(0, "technology", 0, 1).turn_of(0)
    game.refused(0, offer(1, 0, (37,), for_cells=(34,)), "built", "BRA-TRADE-03")
    game.do(0, c.SellBuildings((39,), 0)).do(0, offer(1, 0, (37,), for_cells=(34,)))
    assert game.decision == ("trade_answer", 1)
    game = traders(edition).owning_group(1, "motors", 0, 0, 1).turn_of(0)
    game.refused(0, offer(1, 0, (37,), for_cells=(31,)), "built", "BRA-TRADE-03")


@every_mode
def test_release_cards_are_not_traded(edition: str) -> None:
    """BRA-TRADE-04: only money and properties change hands."""
    game = holding_the_release_card(traders(edition), 0).turn_of(0)
    card = c.OfferTrade(1, Basket(0, (), ("chance",)), Basket(500))
    game.refused(0, card, "card_not_tradable", "BRA-TRADE-04")
    choice = game.options("offer_trade")[0].trade
    assert choice is not None
    assert choice.give_release_cards == ()


@every_mode
def test_mortgaged_properties(edition: str) -> None:
    """BRA-TRADE-05: not between opponents, in neither direction."""
    game = traders(edition).mortgaged(37, 34).turn_of(0)
    game.refused(0, offer(1, 0, (37,), for_cash=3500), "deed_mortgaged", "BRA-TRADE-05")
    game.refused(0, offer(1, 3200, for_cells=(34,)), "deed_mortgaged", "BRA-TRADE-05")


def test_mortgaged_properties_between_allies() -> None:
    """BRA-TRADE-05: only in teams; the mortgage stays, and nothing is paid for it."""
    game = brands(TEAMS).owning(0, 37).mortgaged(37, since=2).in_round(3).turn_of(0)
    game.do(0, offer(2, 0, (37,))).do(2, c.AcceptTrade())
    assert (game.owner(37), game.state.mortgaged_rounds[37], game.money()) == (2, 2, [])
    game = brands(TEAMS).owning(2, 37).mortgaged(37, since=2).in_round(3).turn_of(0)
    game.do(0, offer(2, 0, (), for_cells=(37,))).do(2, c.AcceptTrade())
    assert game.owner(37) == 0


@pytest.mark.parametrize(
    ("cash", "fair"),
    [(1599, False), (1600, True), (3200, True), (6400, True), (6401, False)],
)
@every_mode
def test_balance(edition: str, cash: int, fair: bool) -> None:
    """BRA-TRADE-06, BRA-TRADE-09: 2 x smaller >= larger; exactly half passes; here against a property of 3200."""
    game = traders(edition).turn_of(0)
    if fair:
        assert game.do(0, offer(1, cash, for_cells=(34,))).decision == ("trade_answer", 1)
    else:
        game.refused(0, offer(1, cash, for_cells=(34,)), "unbalanced", "BRA-TRADE-06")


def test_what_a_side_is_worth() -> None:
    """BRA-TRADE-09: its money plus the full price of its properties."""
    game = traders().owning(0, 5).turn_of(0)
    # 37 and 5 and 900 are worth 6400, twice 3200.
    game.refused(0, offer(1, 901, (37, 5), for_cells=(34,)), "unbalanced", "BRA-TRADE-06")
    assert game.do(0, offer(1, 900, (37, 5), for_cells=(34,))).decision == ("trade_answer", 1)


@every_mode
def test_both_sides_must_be_above_0(edition: str) -> None:
    """BRA-TRADE-09: no gifts between opponents."""
    game = traders(edition).turn_of(0)
    for deal in (offer(1), offer(1, 100), offer(1, 0, (37,)), offer(1, for_cash=100), offer(1, for_cells=(34,))):
        game.refused(0, deal, "empty_side", "BRA-TRADE-09")


def test_between_allies() -> None:
    """BRA-TRADE-07, BRA-TRADE-09: not tested for balance; one side may be empty, not both."""
    for deal in (offer(2, 10000), offer(2, 0, (37,)), offer(2, 1, for_cash=10000), offer(2, for_cash=1)):
        game = traders(TEAMS).turn_of(0).do(0, deal).do(2, c.AcceptTrade())
        assert game.events_of(TradeClosed) == [TradeClosed(1, "accepted")]
    traders(TEAMS).turn_of(0).refused(0, offer(2), "empty_side", "BRA-TRADE-09")
    traders(TEAMS).turn_of(0).refused(0, offer(1, 100), "empty_side", "BRA-TRADE-09")


@every_mode
def test_three_trades_per_turn(edition: str) -> None:
    """BRA-TRADE-08, BRA-TRADE-11: each offer that reaches the partner counts, whatever becomes of it."""
    game = traders(edition).turn_of(0)
    game.do(0, offer(1, 3200, for_cells=(34,))).do(1, c.RefuseTrade())
    game.do(0, offer(1, 3200, for_cells=(34,))).expire("answer")
    game.do(0, offer(1, 3200, for_cells=(34,))).do(1, c.AcceptTrade())
    assert "offer_trade" not in game.option_kinds()
    game.refused(0, offer(1, 0, (34,), for_cash=3200), "trade_limit_used", "BRA-TRADE-08")


def test_the_limit_holds_for_the_whole_turn() -> None:
    """BRA-TRADE-08, BRA-TRADE-11: over landings, debts and extra throws of the own turn; then it is fresh."""
    game = traders().at(0, 2).turn_of(0)
    for _ in range(2):
        game.do(0, offer(1, 3200, for_cells=(34,))).do(1, c.RefuseTrade())
    game.roll(0, 1, 1)
    assert game.decision == ("payment", 0)
    game.do(0, offer(1, 3200, for_cells=(34,))).do(1, c.RefuseTrade())
    game.refused(0, offer(1, 3200, for_cells=(34,)), "trade_limit_used", "BRA-TRADE-08")
    game.do(0, c.Pay())
    assert game.decision == ("roll", 0)
    game.refused(0, offer(1, 3200, for_cells=(34,)), "trade_limit_used", "BRA-TRADE-08")
    game.at(0, 7).roll(0, 1, 2).do(1, offer(0, 3500, for_cells=(37,)))
    assert game.decision == ("trade_answer", 0)


def test_a_debtor_outside_the_own_turn() -> None:
    """BRA-TRADE-11: has 3 per debt."""
    game = traders().with_cash(0, 0).owing(0, 500, 1, turn=1)
    for _ in range(3):
        game.do(0, offer(1, 0, (37,), for_cash=3500)).do(1, c.RefuseTrade())
    game.refused(0, offer(1, 0, (37,), for_cash=3500), "trade_limit_used", "BRA-TRADE-11")
    game.do(0, c.Mortgage(37)).do(0, c.Pay())
    game.owning(0, 32).with_cash(0, 0).owing(0, 500, 1, turn=1).do(0, offer(1, 0, (32,), for_cash=3000))
    assert game.decision == ("trade_answer", 1)


@every_mode
def test_one_offer_is_open_for_30_seconds(edition: str) -> None:
    """BRA-TRADE-10: it cannot be withdrawn, expires as refused, and the turn's clock stands still."""
    game = traders(edition).turn_of(0).do(0, offer(1, 3200, for_cells=(34,)), after_ms=10_000)
    assert (game.decision, game.deadline) == (("trade_answer", 1), ("answer", 30_000))
    game.refused(0, offer(1, 3300, for_cells=(34,)), "not_asked", "BRA-TURN-02")
    game.refused(0, c.RefuseTrade(), "not_asked", "BRA-TURN-02")
    game.refused(2, c.AcceptTrade(), "not_asked", "BRA-TURN-02")
    game.wait(29_999).expire("answer")
    assert game.events_of(TradeClosed) == [TradeClosed(1, "expired")]
    assert (game.decision, game.deadline) == (("roll", 0), ("turn", TURN_MS[edition] - 10_000))
    assert game.owner(34) == 1


def test_an_answer_in_time_and_one_too_late() -> None:
    """BRA-TRADE-10: 29.999 and 30 seconds."""
    game = traders().turn_of(0).do(0, offer(1, 3200, for_cells=(34,))).do(1, c.AcceptTrade(), after_ms=29_999)
    assert game.owner(34) == 0
    game = traders().turn_of(0).do(0, offer(1, 3200, for_cells=(34,))).wait(30_000)
    game.refused(1, c.AcceptTrade(), "stale_deadline", "BRA-TIME-14", {"late_ms": 0})


def test_offers_that_promise_too_much() -> None:
    """BRA-TRADE-12: refused at once, and not counted."""
    game = traders().owning(2, 31).turn_of(0)
    game.refused(0, offer(1, 10001, for_cash=6000), "not_enough_cash", "BRA-TRADE-12", {"greatest": 10000})
    game.refused(0, offer(1, 6000, for_cash=10001), "over_partner_cash", "BRA-TRADE-12", {"greatest": 10000})
    game.refused(0, offer(1, -1, (37,), for_cells=(34,)), "bad_amount", "BRA-TRADE-12")
    game.refused(0, offer(1, 3200, for_cells=(31,)), "not_owner", "BRA-TRADE-12")
    game.refused(0, offer(1, 0, (34,), for_cash=3200), "not_owner", "BRA-TRADE-12")
    game.refused(0, offer(0, 3500, for_cells=(37,)), "bad_choice", "BRA-TRADE-09")
    game.refused(0, offer(7, 3500, for_cells=(37,)), "bad_choice", "BRA-TRADE-09")
    for _ in range(3):
        game.do(0, offer(1, 10000, for_cash=10000)).do(1, c.RefuseTrade())


def test_a_partner_who_is_out() -> None:
    """BRA-TRADE-12: offers go to active players."""
    game = traders().out(2).turn_of(0)
    game.refused(0, offer(2, 100, for_cash=100), "seat_out", "BRA-BANK-12")


def test_an_offer_is_checked_again_when_accepted() -> None:
    """BRA-TRADE-12: all transfers happen together or none."""
    game = traders(BRAWL).turn_of(0).do(0, offer(1, 3200, (37,), for_cash=3000, for_cells=(34,)))
    game.with_cash(1, 2999).do(1, c.AcceptTrade())
    assert game.events_of(TradeClosed) == [TradeClosed(1, "void")]
    assert (game.owner(37), game.owner(34), game.money(), game.decision) == (0, 1, [], ("roll", 0))
