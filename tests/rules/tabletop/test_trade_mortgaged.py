"""Deals in mortgaged deeds (TAB-TRADE-06, -07)."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.commands import Basket, OfferTrade
from services.rules.domain.events import DeedRedeemed, TradeClosed
from services.rules.domain.parties import BANK
from tests.rules.tabletop.tables import TABLETOPS, a_table, online, rent_tax, tabletop

#: the power grid costs 150: mortgage 75, fee 8, redemption 83
GRID = 12


@pytest.mark.parametrize("edition", TABLETOPS)
def test_the_buyer_keeps_the_mortgage(edition: str) -> None:
    """TAB-TRADE-06: 8 now to the bank, and the full 83 on final redemption; `keep` if nothing is named."""
    game = a_table(edition).owning(0, GRID).mortgaged(GRID).turn_of(0)
    game.do(0, OfferTrade(1, Basket(cells=(GRID,)), Basket(40))).do(1, c.AcceptTrade())
    assert game.money() == [(1, 0, 40, "trade"), (1, BANK, 8, "transfer_fee")]
    assert (game.owner(GRID), game.state.mortgaged_rounds[GRID]) == (1, 1)
    game.turn_of(1).do(1, c.Redeem(GRID))
    assert game.money() == [(1, BANK, 83, "redemption")]


@pytest.mark.parametrize("edition", TABLETOPS)
def test_the_buyer_redeems_at_once(edition: str) -> None:
    """TAB-TRADE-06: for 83, without a fee."""
    game = a_table(edition).owning(0, GRID).mortgaged(GRID).turn_of(0)
    game.do(0, OfferTrade(1, Basket(cells=(GRID,)), Basket(40))).do(1, c.AcceptTrade((GRID,)))
    assert game.money() == [(1, 0, 40, "trade"), (1, BANK, 83, "redemption")]
    assert game.events_of(DeedRedeemed) == [DeedRedeemed(GRID)]
    assert game.events_of(TradeClosed)[0].redeemed == (GRID,)


def test_the_proposer_names_what_he_redeems() -> None:
    """TAB-TRADE-06: for each deed that he gets; the fee is rounded up for each."""
    game = tabletop().owning(1, GRID, 28, 37).mortgaged(GRID, 28, 37).turn_of(0)
    game.do(0, OfferTrade(1, Basket(100), Basket(cells=(GRID, 28, 37)), (28,))).do(1, c.AcceptTrade())
    assert game.money() == [
        (0, 1, 100, "trade"),
        (0, BANK, 8, "transfer_fee"),
        (0, BANK, 83, "redemption"),
        (0, BANK, 18, "transfer_fee"),
    ]


def test_the_fee_is_due_each_time() -> None:
    """TAB-TRADE-06: whenever the deed changes hands."""
    game = tabletop().owning(0, GRID).mortgaged(GRID).turn_of(0)
    game.do(0, OfferTrade(1, Basket(cells=(GRID,)), Basket(40))).do(1, c.AcceptTrade())
    game.turn_of(1).do(1, OfferTrade(2, Basket(cells=(GRID,)), Basket(40))).do(2, c.AcceptTrade())
    assert game.money() == [(2, 1, 40, "trade"), (2, BANK, 8, "transfer_fee")]


@pytest.mark.parametrize(("cash", "legal"), [(48, True), (47, False)])
def test_the_buyers_cash_covers_price_and_fee(cash: int, legal: bool) -> None:
    """TAB-TRADE-06: after the exchange; one unit short is refused."""
    game = tabletop().owning(0, GRID).mortgaged(GRID).with_cash(1, cash).turn_of(0)
    offer = OfferTrade(1, Basket(cells=(GRID,)), Basket(40))
    if legal:
        game.do(0, offer).do(1, c.AcceptTrade())
        assert game.cash(1) == 0
    else:
        game.refused(0, offer, "not_enough_cash", "TAB-TRADE-06", {"seat": 1, "least": 8})


@pytest.mark.parametrize(("cash", "legal"), [(123, True), (122, False)])
def test_redeeming_at_once_needs_the_cash(cash: int, legal: bool) -> None:
    """TAB-TRADE-06: accepting with `redeem` one unit short is refused; the offer stays open."""
    game = tabletop().owning(0, GRID).mortgaged(GRID).with_cash(1, cash).turn_of(0)
    game.do(0, OfferTrade(1, Basket(cells=(GRID,)), Basket(40)))
    if legal:
        game.do(1, c.AcceptTrade((GRID,)))
        assert game.cash(1) == 0
    else:
        game.refused(1, c.AcceptTrade((GRID,)), "not_enough_cash", "TAB-TRADE-06", {"least": 83})
        game.do(1, c.AcceptTrade())


def test_the_proposers_cash_covers_his_fees() -> None:
    """TAB-TRADE-06: what he gets in the same deal counts."""
    game = tabletop().owning(1, GRID).mortgaged(GRID).with_cash(0, 57).turn_of(0)
    game.refused(
        0, OfferTrade(1, Basket(50), Basket(cells=(GRID,))), "not_enough_cash", "TAB-TRADE-06", {"seat": 0, "least": 8}
    )
    game.do(0, OfferTrade(1, Basket(57), Basket(8, (GRID,)))).do(1, c.AcceptTrade())
    assert game.cash(0) == 0


def test_only_mortgaged_deeds_got_are_redeemed() -> None:
    """TAB-TRADE-06: neither others, nor those given."""
    game = tabletop().owning(0, GRID, 5).mortgaged(GRID).owning(1, 39).turn_of(0)
    offer = OfferTrade(1, Basket(cells=(GRID, 5)), Basket(cells=(39,)), (39,))
    game.refused(0, offer, "bad_choice", "TAB-TRADE-02", {"cell": 39})
    game.do(0, OfferTrade(1, Basket(cells=(GRID, 5)), Basket(cells=(39,))))
    game.refused(1, c.AcceptTrade((5,)), "bad_choice", "TAB-TRADE-06")
    game.refused(1, c.AcceptTrade((39,)), "bad_choice", "TAB-TRADE-06")
    game.do(1, c.AcceptTrade((GRID,)))


def test_a_deed_mortgaged_after_the_offer() -> None:
    """TAB-TRADE-06, -12: judged again on acceptance, with the fee that it has now."""
    game = tabletop().owning(0, GRID).with_cash(1, 48).turn_of(0)
    game.do(0, OfferTrade(1, Basket(cells=(GRID,)), Basket(40))).do(0, c.Mortgage(GRID)).do(1, c.AcceptTrade())
    assert game.money() == [(1, 0, 40, "trade"), (1, BANK, 8, "transfer_fee")]
    game = tabletop().owning(0, GRID).with_cash(1, 47).turn_of(0)
    game.do(0, OfferTrade(1, Basket(cells=(GRID,)), Basket(40))).do(0, c.Mortgage(GRID)).do(1, c.AcceptTrade())
    assert [closed.outcome for closed in game.events_of(TradeClosed)] == ["void"]


def test_in_rent_tax_too() -> None:
    """TAB-TRADE-06: a tenth of the mortgage value of 2000 is 200."""
    game = rent_tax().owning(0, 39).mortgaged(39).turn_of(0)
    game.do(0, OfferTrade(1, Basket(cells=(39,)), Basket(2000))).do(1, c.AcceptTrade())
    assert game.money() == [(1, 0, 2000, "trade"), (1, BANK, 200, "transfer_fee")]
    game = rent_tax().owning(0, 39).mortgaged(39).turn_of(0)
    game.do(0, OfferTrade(1, Basket(cells=(39,)), Basket(2000))).do(1, c.AcceptTrade((39,)))
    assert game.money() == [(1, 0, 2000, "trade"), (1, BANK, 2200, "redemption")]


def test_online_mortgaged_deeds_are_not_sold() -> None:
    """TAB-TRADE-07: on neither side."""
    game = online().owning(0, 39).owning(1, 5).mortgaged(39, 5).turn_of(0)
    game.refused(0, OfferTrade(1, Basket(cells=(39,)), Basket(100)), "deed_mortgaged", "TAB-TRADE-07")
    game.refused(0, OfferTrade(1, Basket(100), Basket(cells=(5,))), "deed_mortgaged", "TAB-TRADE-07")
