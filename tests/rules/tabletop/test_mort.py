"""Mortgages (TAB-MORT)."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.commands import Basket
from services.rules.domain.events import DeedMortgaged, DeedRedeemed
from services.rules.domain.parties import BANK
from services.rules.domain.view import view
from tests.rules.tabletop.tables import FIVE, TABLETOPS, a_table, online, rent_tax, tabletop


@pytest.mark.parametrize("edition", FIVE)
def test_whoever_needs_money_mortgages_or_sells(edition: str) -> None:
    """TAB-MORT-01: in a debt, or fearing one."""
    group = "perfume" if edition == "rent-tax" else "brown"
    game = a_table(edition).owning_group(0, group, 1, 1).owning(0, 6).with_cash(0, 0).owing(0, 10_000, 1)
    assert {"mortgage", "sell_buildings"} <= game.option_kinds()
    game = a_table(edition).owning_group(0, group, 1, 1).owning(0, 6).turn_of(0)
    assert {"mortgage", "sell_buildings"} <= {option.kind for option in game.own_options(0)}


@pytest.mark.parametrize("edition", FIVE)
def test_a_mortgage_pays_half_the_price(edition: str) -> None:
    """TAB-MORT-02: for each of the 28 deeds."""
    board = a_table(edition).edition.board
    for cell in board.deeds:
        game = a_table(edition).owning(0, cell).turn_of(0).do(0, c.Mortgage(cell))
        assert game.money() == [(BANK, 0, board.price[cell] // 2, "mortgage")]
        assert board.price[cell] % 2 == 0
        assert game.events_of(DeedMortgaged) == [DeedMortgaged(cell, 1)]


@pytest.mark.parametrize("edition", [*TABLETOPS, "rent-tax"])
def test_only_the_street_itself_must_be_unbuilt(edition: str) -> None:
    """TAB-MORT-03: a neighbour keeps its house and the rent of it; the group loses doubling and building."""
    group, cells = ("tea", (4, 6)) if edition == "rent-tax" else ("navy", (37, 39))
    game = a_table(edition).owning_group(0, group, 1, 0).turn_of(0)
    game.refused(0, c.Mortgage(cells[0]), "built", "TAB-MORT-03")
    game.do(0, c.Mortgage(cells[1]))
    game.refused(0, c.Build((cells[1],)), "group_mortgaged", "TAB-BUILD-02")
    rent = game.edition.board.rents[cells[0]][1]
    game.at(1, cells[0] - 3).turn_of(1).roll(1, 1, 2)
    if game.decision == ("payment", 1):
        game.do(1, c.Pay())
    assert game.money()[-1] == (1, 0, rent, "rent")


def test_online_the_whole_group_must_be_unbuilt() -> None:
    """TAB-MORT-04: a house on the neighbour stops it."""
    game = online().owning_group(0, "navy", 1, 0).turn_of(0)
    for cell in (37, 39):
        game.refused(0, c.Mortgage(cell), "built", "TAB-MORT-04")
    game.do(0, c.SellBuildings((37,), 0)).do(0, c.Mortgage(39))
    assert game.money() == [(BANK, 0, 200, "mortgage")]


@pytest.mark.parametrize("edition", TABLETOPS)
@pytest.mark.parametrize(("cell", "cost"), [(1, 33), (5, 110), (12, 83), (9, 66), (14, 88), (37, 193), (39, 220)])
def test_redeeming_costs_the_mortgage_value_and_a_tenth(edition: str, cell: int, cost: int) -> None:
    """TAB-MORT-05: the tenth rounded up: 75 + 8 = 83, 175 + 18 = 193; one unit short is refused."""
    game = a_table(edition).owning(0, cell).mortgaged(cell).with_cash(0, cost - 1).turn_of(0)
    game.refused(0, c.Redeem(cell), "not_enough_cash", "TAB-MORT-05", {"least": cost})
    game.with_cash(0, cost).turn_of(0).do(0, c.Redeem(cell))
    assert game.money() == [(0, BANK, cost, "redemption")]
    assert game.events_of(DeedRedeemed) == [DeedRedeemed(cell)]
    assert (game.cash(0), game.state.mortgaged_rounds[cell]) == (0, 0)


@pytest.mark.parametrize(("cell", "cost"), [(1, 330), (19, 1100), (37, 1925), (39, 2200)])
def test_redeeming_in_rent_tax(cell: int, cost: int) -> None:
    """TAB-MORT-05: the same, ten times."""
    game = rent_tax().owning(0, cell).mortgaged(cell).turn_of(0).do(0, c.Redeem(cell))
    assert game.money() == [(0, BANK, cost, "redemption")]


@pytest.mark.parametrize(("cell", "cost"), [(5, 220), (1, 66), (12, 165), (37, 385)])
def test_online_redeeming_costs_the_price_and_a_tenth(cell: int, cost: int) -> None:
    """TAB-MORT-06: price 200 pays 100 and costs 220."""
    game = online().owning(0, cell).mortgaged(cell).with_cash(0, cost - 1).turn_of(0)
    game.refused(0, c.Redeem(cell), "not_enough_cash", "TAB-MORT-06", {"least": cost})
    game.with_cash(0, cost).turn_of(0).do(0, c.Redeem(cell))
    assert game.money() == [(0, BANK, cost, "redemption")]


@pytest.mark.parametrize("edition", FIVE)
def test_a_mortgaged_deed_stays_with_its_owner(edition: str) -> None:
    """TAB-MORT-07: nobody else redeems it, and it is not for sale to visitors."""
    game = a_table(edition).owning(1, 39).mortgaged(39).turn_of(0)
    game.refused(0, c.Redeem(39), "not_owner", "TAB-MORT-07")
    game.at(0, 36).roll(0, 1, 2)
    assert (game.owner(39), game.money()) == (1, [])
    assert game.decision != ("purchase", 0)


def test_a_mortgage_is_open_to_all() -> None:
    """TAB-MORT-08: it is shown in every view of the state."""
    game = tabletop().owning(0, 39).turn_of(0).do(0, c.Mortgage(39))
    assert view(game.state).mortgaged_rounds[39] == 1


def test_players_lend_nothing_to_each_other() -> None:
    """TAB-MORT-09: a deal has cash, deeds and cards alone, and no more cash than there is."""
    assert Basket.__match_args__ == ("cash", "cells", "release_cards")
    game = tabletop().with_cash(0, 100).owning(1, 39).turn_of(0)
    offer = c.OfferTrade(1, Basket(101), Basket(cells=(39,)))
    game.refused(0, offer, "not_enough_cash", "TAB-TRADE-08", {"greatest": 100})
    game.refused(0, c.OfferTrade(1, Basket(50), Basket()), "empty_side", "TAB-TRADE-02")


@pytest.mark.parametrize("edition", FIVE)
def test_no_deed_is_sold_to_the_bank(edition: str) -> None:
    """TAB-MORT-10: mortgaged or not; a mortgaged one goes to players."""
    game = a_table(edition).owning(0, 39, 37).mortgaged(39).turn_of(0)
    for cell in (37, 39):
        game.refused(0, c.SellToBank(cell), "wrong_decision", "TAB-TURN-01")
    game.with_cash(0, 0).owing(0, 2000, 1)
    game.refused(0, c.SellToBank(37), "wrong_decision", "TAB-DEBT-03")
    if edition in TABLETOPS:
        game = a_table(edition).owning(0, 39).mortgaged(39).turn_of(0)
        game.do(0, c.OfferTrade(1, Basket(cells=(39,)), Basket(100))).do(1, c.AcceptTrade())
        assert (game.owner(39), game.state.mortgaged_rounds[39]) == (1, 1)


@pytest.mark.parametrize("edition", TABLETOPS)
def test_when_deeds_are_mortgaged(edition: str) -> None:
    """TAB-MORT-11: by everybody in any phase; redeemed in the own `PRE_ROLL` and `END`, and in gaps."""
    game = a_table(edition).owning(1, 5).owning(2, 15).mortgaged(15).at(0, 36).turn_of(0).roll(0, 1, 2)
    game.do(1, c.Mortgage(5))
    game.refused(2, c.Redeem(15), "not_asked", "TAB-PHASE-04")
    game.turn_of(2).do(2, c.Redeem(15)).do(2, c.Mortgage(15)).managing(2).do(2, c.Redeem(15))
    game.do(1, c.AskGap()).end_turn(2).do(1, c.Redeem(5))
    assert game.money() == [(1, BANK, 110, "redemption")]


@pytest.mark.parametrize("edition", ["online-classic", "rent-tax"])
def test_when_deeds_are_mortgaged_elsewhere(edition: str) -> None:
    """TAB-MORT-11: as one sells there; redeemed in the own `PRE_ROLL` only."""
    game = a_table(edition).owning(0, 1, 3).mortgaged(3).at(0, 36).turn_of(0)
    game.do(0, c.Redeem(3)).do(0, c.Mortgage(3)).do(0, c.Redeem(3)).do(0, c.Mortgage(3)).roll(0, 1, 2)
    game.do(0, c.Mortgage(1))
    game.refused(0, c.Redeem(1), "wrong_decision", "TAB-BUY-01")


def test_mortgages_that_cannot_be() -> None:
    """TAB-MORT-02, -07: of another's deed, of a mortgaged one, of no deed; and redeeming what is not mortgaged."""
    game = tabletop().owning(0, 39, 5).owning(1, 37).mortgaged(39).turn_of(0)
    game.refused(0, c.Mortgage(37), "not_owner", "TAB-MORT-02")
    game.refused(0, c.Mortgage(39), "already_mortgaged", "TAB-MORT-02")
    game.refused(0, c.Mortgage(0), "unknown_cell", "TAB-PHASE-04")
    game.refused(0, c.Redeem(5), "not_mortgaged", "TAB-MORT-07")


@pytest.mark.parametrize("edition", FIVE)
def test_a_deed_goes_in_and_out_of_mortgage(edition: str) -> None:
    """TAB-MORT-11: any number of times in one turn."""
    game = a_table(edition).owning(0, 1).turn_of(0)
    loss = game.edition.board.price[1] * (game.edition.redeem_cost or 0) // 100 - game.edition.board.half_price[1]
    for _ in range(5):
        game.do(0, c.Mortgage(1)).do(0, c.Redeem(1))
    assert game.cash(0) == game.edition.start_cash - 5 * loss
