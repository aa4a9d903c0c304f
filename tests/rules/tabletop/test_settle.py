"""Paying a debt partly in deeds (TAB-DEBT-05)."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.commands import Basket
from services.rules.domain.events import DeedMoved, PaymentClosed, TradeClosed, TradeOffered
from services.rules.domain.parties import BANK
from tests.rules.tabletop.tables import MINUTE_MS, TABLETOPS, a_table, online, rent_tax, tabletop
from tests.support.scenario import Game


def indebted(edition: str = "tabletop", cash: int = 30, owed: int = 500) -> Game:
    """Seat 0 owes seat 1 a rent, and has a station and a mortgaged utility (fee 8, redemption 83)."""
    game = a_table(edition).owning(0, 5, 12).mortgaged(12).with_cash(0, cash).owning(1, 39)
    return game.owing(0, owed, 1, reason="rent", cell=39)


@pytest.mark.parametrize("edition", TABLETOPS)
def test_the_creditor_accepts_something_for_the_whole_debt(edition: str) -> None:
    """TAB-DEBT-05: cash and deeds, whatever the printed prices; 30 seconds to answer."""
    game = indebted(edition).wait(20_000).do(0, c.OfferSettlement(Basket(25, (5,))))
    assert (game.decision, game.deadline) == (("trade_answer", 1), ("answer", 30_000))
    assert game.events_of(TradeOffered)[0].settles
    game.do(1, c.AcceptTrade())
    assert game.money() == [(0, 1, 25, "settlement")]
    assert game.events_of(DeedMoved) == [DeedMoved(5, 0, 1, "settlement")]
    assert game.events_of(PaymentClosed)[0].outcome == "settled"
    assert (game.cash(0), game.decision) == (5, ("manage", 0))


def test_the_creditor_refuses() -> None:
    """TAB-DEBT-05, TAB-TRADE-12: the debt is open again, on the rest of its clock; silence is a refusal."""
    game = indebted().wait(20_000).do(0, c.OfferSettlement(Basket(cells=(5,)))).do(1, c.RefuseTrade())
    assert (game.decision, game.deadline, game.owner(5)) == (("payment", 0), ("payment", 70_000), 0)
    game.do(0, c.OfferSettlement(Basket(cells=(5,)))).expire("answer")
    assert game.events_of(TradeClosed)[0].outcome == "expired"
    assert game.decision == ("payment", 0)


@pytest.mark.parametrize(("redeem", "cost", "reason"), [((), 8, "transfer_fee"), ((12,), 83, "redemption")])
def test_a_mortgaged_deed_in_a_settlement(redeem: tuple[int, ...], cost: int, reason: str) -> None:
    """TAB-DEBT-05: the fee is due at once from the creditor, who chooses on accepting."""
    game = indebted().do(0, c.OfferSettlement(Basket(cells=(12,)))).do(1, c.AcceptTrade(redeem))
    assert game.money() == [(1, BANK, cost, reason)]
    assert (game.owner(12), bool(game.state.mortgaged_rounds[12])) == (1, not redeem)


def test_the_creditor_must_be_able_to_pay_the_fee() -> None:
    """TAB-DEBT-05, TAB-TRADE-06: the cash of the settlement counts."""
    game = indebted().with_cash(1, 3)
    game.refused(0, c.OfferSettlement(Basket(4, (12,))), "not_enough_cash", "TAB-TRADE-06", {"seat": 1, "least": 8})
    game.do(0, c.OfferSettlement(Basket(5, (12,)))).do(1, c.AcceptTrade())
    assert game.cash(1) == 0


def test_a_release_card_in_a_settlement() -> None:
    """TAB-DEBT-05."""
    game = indebted().holding_release_cards(0, "chest").do(0, c.OfferSettlement(Basket(1, (), ("chest",))))
    game.do(1, c.AcceptTrade())
    assert game.state.release_cards[1] == ("chest",)


def test_what_a_settlement_may_hold() -> None:
    """TAB-DEBT-05, TAB-TRADE-03: own unbuilt deeds and own cash, and something at all."""
    game = indebted().owning_group(0, "sky", 1, 0, 0)
    game.refused(0, c.OfferSettlement(Basket(cells=(8,))), "built", "TAB-TRADE-03")
    game.refused(0, c.OfferSettlement(Basket()), "empty_side", "TAB-DEBT-05")
    game.refused(0, c.OfferSettlement(Basket(31)), "not_enough_cash", "TAB-TRADE-08", {"greatest": 30})
    game.refused(0, c.OfferSettlement(Basket(cells=(39,))), "not_owner", "TAB-TRADE-12")
    game.do(0, c.OfferSettlement(Basket(30)))


def test_only_with_a_sole_creditor_who_is_a_player() -> None:
    """TAB-DEBT-05: not with the bank, not with several."""
    game = tabletop().owning(0, 5).with_cash(0, 10).owing(0, 100)
    game.refused(0, c.OfferSettlement(Basket(cells=(5,))), "no_player_creditor", "TAB-DEBT-05")
    assert "offer_settlement" not in game.option_kinds()
    game = tabletop().owning(0, 5).with_cash(0, 10).owing(0, 100, 1, 2)
    game.refused(0, c.OfferSettlement(Basket(cells=(5,))), "no_player_creditor", "TAB-DEBT-05")


def test_a_card_debt_to_one_player_too() -> None:
    """TAB-DEBT-05: with two at the table a card that pays everybody has one creditor."""
    game = tabletop(2).top_cards("chance", "street_committee").owning(0, 5).with_cash(0, 10).at(0, 4).turn_of(0)
    game.roll(0, 1, 2).do(0, c.OfferSettlement(Basket(10, (5,)))).do(1, c.AcceptTrade())
    assert game.money() == [(0, 1, 10, "settlement")]


def test_a_settlement_is_one_of_the_three_offers() -> None:
    """TAB-DEBT-05, TAB-TRADE-12."""
    game = indebted()
    for _ in range(3):
        game.do(0, c.OfferSettlement(Basket(1))).do(1, c.RefuseTrade())
    game.refused(0, c.OfferSettlement(Basket(1)), "trade_limit_used", "TAB-TRADE-12")


def test_a_debtors_last_chance() -> None:
    """TAB-DEBT-05, -04: a debt far above reach ends by a settlement."""
    game = indebted(owed=5000).do(0, c.OfferSettlement(Basket(0, (5, 12)))).do(1, c.AcceptTrade())
    assert (game.state.in_play[0], game.owner(5), game.owner(12)) == (True, 1, 1)
    assert game.money() == [(1, BANK, 8, "transfer_fee")]


def test_online_has_none() -> None:
    """TAB-DEBT-05."""
    game = online().owning(0, 5).with_cash(0, 10).owing(0, 100, 1)
    game.refused(0, c.OfferSettlement(Basket(cells=(5,))), "wrong_decision", "TAB-DEBT-03")
    assert "offer_settlement" not in game.option_kinds()


@pytest.mark.parametrize(("cash", "legal"), [(250, True), (249, False)])
def test_in_rent_tax_the_debt_is_weighed_against_what_is_given(cash: int, legal: bool) -> None:
    """TAB-DEBT-05, TAB-TRADE-14: half of it at least, twice of it at most."""
    game = rent_tax().owning(0, 1).with_cash(0, 300).owning(1, 39).owing(0, 500, 1, reason="rent", cell=39)
    if legal:
        game.do(0, c.OfferSettlement(Basket(cash)))
    else:
        game.refused(0, c.OfferSettlement(Basket(cash)), "unbalanced", "TAB-TRADE-14", {"least": 50})


def test_in_rent_tax_not_more_than_twice_the_debt() -> None:
    """TAB-DEBT-05, TAB-TRADE-14: a company of 1200 does not stand for 500, one of 1000 does."""
    game = rent_tax().owning(0, 9, 7).with_cash(0, 300).owning(1, 39).owing(0, 500, 1, reason="rent", cell=39)
    game.refused(0, c.OfferSettlement(Basket(cells=(9,))), "unbalanced", "TAB-TRADE-14", {"least": 50})
    game.do(0, c.OfferSettlement(Basket(cells=(7,)))).do(1, c.AcceptTrade())
    assert game.owner(7) == 1


def late(creditor_cash: int) -> Game:
    """At 75 %, seat 0 owes a rent of 500 with 300 and two companies, one mortgaged (fee 60)."""
    game = rent_tax().wait(80 * MINUTE_MS).owning(0, 9, 1).mortgaged(9).owning(1, 39).with_cash(1, creditor_cash)
    return game.with_cash(0, 300).at(0, 36).turn_of(0).roll(0, 1, 2)


def test_in_rent_tax_the_cash_is_taxed_like_the_debt() -> None:
    """TAB-DEBT-05, TAB-TAX-12: else every rent above the payer's cash would escape the tax."""
    game = late(1000).do(0, c.OfferSettlement(Basket(250))).do(1, c.AcceptTrade())
    assert game.money() == [(0, 1, 63, "settlement"), (0, BANK, 187, "rent_tax")]


@pytest.mark.parametrize(("cash", "legal"), [(35, True), (34, False)])
def test_in_rent_tax_only_what_is_left_of_the_cash_pays_a_fee(cash: int, legal: bool) -> None:
    """TAB-DEBT-05, TAB-TRADE-06: 100 of cash are 25 after tax; the fee is 60."""
    game = late(cash)
    offer = c.OfferSettlement(Basket(100, (9,)))
    if legal:
        game.do(0, offer).do(1, c.AcceptTrade())
        assert game.cash(1) == 0
    else:
        game.refused(0, offer, "not_enough_cash", "TAB-TRADE-06", {"seat": 1, "least": 60})
