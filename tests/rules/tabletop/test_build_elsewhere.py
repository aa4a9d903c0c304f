"""Building and selling in online-classic and rent-tax (TAB-BUILD-20 to -30)."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.commands import Basket
from services.rules.domain.parties import BANK
from tests.rules.tabletop.tables import online, rent_tax


def test_online_houses_are_bought_before_a_roll() -> None:
    """TAB-BUILD-20: also before the extra roll; never while a purchase is decided, nor in others' turns."""
    online().owning_group(0, "brown").turn_of(0).do(0, c.Build((1,)))
    game = online().owning_group(0, "brown").at(0, 18).turn_of(0).roll(0, 1, 1).do(0, c.Build((1,)))
    assert game.level(1) == 1
    game = online().owning_group(0, "brown").at(0, 36).turn_of(0).roll(0, 1, 2)
    game.refused(0, c.Build((1,)), "wrong_decision", "TAB-BUY-01")
    game.refused(1, c.Build((1,)), "not_asked", "TAB-PHASE-04")


def test_online_one_house_per_turn_in_each_group() -> None:
    """TAB-BUILD-20: a second group has its own; the allowance is for the turn, not for the roll."""
    game = online().owning_group(0, "brown").owning_group(0, "sky").at(0, 18).turn_of(0).do(0, c.Build((1,)))
    for cell in (1, 3):
        game.refused(0, c.Build((cell,)), "build_limit_used", "TAB-BUILD-20")
    game.do(0, c.Build((6,))).roll(0, 1, 1)
    game.refused(0, c.Build((3,)), "build_limit_used", "TAB-BUILD-20")
    game.turn_of(1).at(1, 17).roll(1, 1, 2).at(2, 17).roll(2, 1, 2)
    assert game.decision == ("roll", 0)
    game.do(0, c.Build((3,)))
    game = online().owning_group(0, "navy").turn_of(0)
    game.refused(0, c.Build((37, 39)), "bad_choice", "TAB-BUILD-20")


def test_online_a_hotel_uses_the_allowance_and_a_sale_gives_none_back() -> None:
    """TAB-BUILD-20."""
    game = online().owning_group(0, "brown", 4, 0).turn_of(0).do(0, c.Build((1,)))
    game.refused(0, c.Build((3,)), "build_limit_used", "TAB-BUILD-20")
    game.do(0, c.SellBuildings((1,), 4))
    game.refused(0, c.Build((3,)), "build_limit_used", "TAB-BUILD-20")


def test_online_building_is_not_even() -> None:
    """TAB-BUILD-21: any street of the group, up to four houses."""
    game = online().owning_group(0, "brown", 3, 0).turn_of(0).do(0, c.Build((1,)))
    assert (game.level(1), game.level(3)) == (4, 0)


def test_online_a_hotel_looks_at_its_own_street_only() -> None:
    """TAB-BUILD-22: the same price, and the four houses go back; a fifth house is that hotel."""
    game = online().owning_group(0, "brown", 4, 0).turn_of(0).do(0, c.Build((1,)))
    assert game.money() == [(0, BANK, 50, "build")]
    assert (game.level(1), game.supply) == (5, (32, 11))


def test_online_buildings_go_to_the_bank_only() -> None:
    """TAB-BUILD-23: no deal takes them."""
    game = online().owning_group(0, "navy", 1, 0).turn_of(0)
    for cell in (37, 39):
        game.refused(0, c.OfferTrade(1, Basket(cells=(cell,)), Basket(9)), "built", "TAB-TRADE-03")


@pytest.mark.parametrize(("level", "kind"), [(0, "house"), (4, "hotel")])
def test_online_first_come_first_served(level: int, kind: str) -> None:
    """TAB-BUILD-24: the last piece goes to who builds first, without claims; with none the purchase is refused."""
    game = online().owning_group(0, "brown", level, level).owning_group(1, "sky", level, level, level)
    game = game.branches_left(1, 2) if kind == "house" else game.holdings_left(1, 2)
    game.turn_of(0).do(0, c.Build((1,)))
    assert game.decision == ("roll", 0)
    game.turn_of(1).refused(1, c.Build((6,)), "no_supply", "TAB-BUILD-24")


def test_online_houses_are_sold_for_their_price() -> None:
    """TAB-BUILD-25: full cost, from any street, one at a time."""
    game = online().owning_group(0, "navy", 3, 1).turn_of(0)
    game.refused(0, c.SellBuildings((37,), 1), "bad_choice", "TAB-BUILD-23", {"to_level": 2})
    game.do(0, c.SellBuildings((39,), 0))
    assert game.money() == [(BANK, 0, 200, "building_sale")]
    game.do(0, c.SellBuildings((37,), 2))
    assert (game.level(37), game.level(39)) == (2, 0)


def test_online_four_houses_are_no_hotel() -> None:
    """TAB-BUILD-25: they go one by one, whatever is in the bank."""
    game = online().owning_group(0, "navy", 4, 0).branches_left(0, 1).turn_of(0)
    game.refused(0, c.SellBuildings((37,), 2), "bad_choice", "TAB-BUILD-23", {"to_level": 3})
    game.do(0, c.SellBuildings((37,), 3))
    assert (game.money(), game.supply[0]) == ([(BANK, 0, 200, "building_sale")], 1)


def test_online_when_houses_are_sold() -> None:
    """TAB-BUILD-25, TAB-MORT-11: in the own `PRE_ROLL`, `BUY` and `DEBT`; by nobody else, and in no auction."""
    ready = [
        online().owning_group(0, "navy", 1, 0).turn_of(0),
        online().owning_group(0, "navy", 1, 0).at(0, 32).turn_of(0).roll(0, 1, 2),
        online().owning_group(0, "navy", 1, 0).with_cash(0, 10).owing(0, 500, 1),
    ]
    for game in ready:
        game.do(0, c.SellBuildings((37,), 0))
        assert game.money() == [(BANK, 0, 200, "building_sale")]
    game = online().owning_group(1, "navy", 1, 0).turn_of(0)
    game.refused(1, c.SellBuildings((37,), 0), "not_asked", "TAB-PHASE-04")
    game.at(0, 32).roll(0, 1, 2).do(0, c.Decline())
    game.refused(1, c.SellBuildings((37,), 0), "wrong_decision", "TAB-AUC-04")


@pytest.mark.parametrize("k", [0, 1, 2, 3, 4])
def test_online_a_hotel_can_be_turned_back(k: int) -> None:
    """TAB-BUILD-26: alone, to any k: the full cost of each level lost; 5 times the cost for bare ground."""
    game = online().owning_group(0, "navy", 5, 5).turn_of(0).do(0, c.SellBuildings((37,), k))
    assert game.money() == [(BANK, 0, 200 * (5 - k), "building_sale")]
    assert (game.level(37), game.level(39), game.supply) == (k, 5, (32 - k, 11))


def test_online_the_houses_must_be_in_the_bank() -> None:
    """TAB-BUILD-26: with two left, k is at most 2."""
    game = online().owning_group(0, "navy", 5, 0).branches_left(2, 1).turn_of(0)
    game.refused(0, c.SellBuildings((37,), 3), "no_supply", "TAB-BUILD-26", {"least": 3})
    assert [choice.to_level for choice in game.options("sell_buildings")[0].buildings] == [0, 1, 2]
    game.do(0, c.SellBuildings((37,), 2))
    assert game.supply == (0, 12)
    game = online().owning_group(0, "navy", 5, 0).turn_of(0)
    game.refused(0, c.SellBuildings((37,), 5), "bad_choice", "TAB-BUILD-26", {"greatest": 4})
    game = online().owning_group(0, "navy", 5, 0).branches_left(0, 1).turn_of(0)
    game.refused(0, c.SellBuildings((37,), 1), "no_supply", "TAB-BUILD-26", {"least": 1})
    game.do(0, c.SellBuildings((37,), 0))
    assert game.money() == [(BANK, 0, 1000, "building_sale")]


def test_online_houses_go_one_at_a_time() -> None:
    """TAB-BUILD-25: from four too, and whatever is in the bank; a house makes room for no other."""
    game = online().owning_group(0, "navy", 4, 0).branches_left(0, 1).turn_of(0)
    assert [choice.to_level for choice in game.option("sell_buildings").buildings] == [3]
    game.refused(0, c.SellBuildings((37,), 2), "bad_choice", "TAB-BUILD-23", {"to_level": 3})
    game.do(0, c.SellBuildings((37,), 3))
    assert game.supply == (1, 12)


def test_online_without_a_house_in_the_bank_a_hotel_goes_whole() -> None:
    """TAB-BUILD-26: to bare ground, for 5 times the cost."""
    game = online().owning_group(0, "navy", 5, 0).branches_left(0, 1).turn_of(0)
    assert [choice.to_level for choice in game.option("sell_buildings").buildings] == [0]
    game.refused(0, c.SellBuildings((37,), 1), "no_supply", "TAB-BUILD-26", {"least": 1})
    game.do(0, c.SellBuildings((37,), 0))
    assert game.money() == [(BANK, 0, 1000, "building_sale")]


def test_an_industry_makes_a_monopolist() -> None:
    """TAB-BUILD-29: all companies of an industry of four, and branches raise what a visit costs."""
    game = rent_tax().owning(0, 21, 23, 24).turn_of(0)
    game.refused(0, c.Build((21,)), "group_incomplete", "TAB-BUILD-01")
    game.owning(0, 25).turn_of(0).do(0, c.Build((21,)))
    assert game.money() == [(0, BANK, 1500, "build")]
    game.at(1, 18).turn_of(1).roll(1, 1, 2).do(1, c.Pay())
    assert game.money() == [(1, 0, 900, "rent")]


def test_in_rent_tax_only_who_must_act() -> None:
    """TAB-BUILD-30: building and redeeming before a roll."""
    game = rent_tax().owning_group(0, "tea").owning(0, 1).mortgaged(1).turn_of(0)
    game.do(0, c.Build((4,))).do(0, c.Redeem(1))
    game = rent_tax().owning_group(0, "tea").owning(0, 1).mortgaged(1).at(0, 36).turn_of(0).roll(0, 1, 2)
    game.refused(0, c.Build((4,)), "wrong_decision", "TAB-BUY-01")
    game.refused(0, c.Redeem(1), "wrong_decision", "TAB-BUY-01")
    other = rent_tax().owning_group(1, "tea", 1, 1).owning(1, 1).turn_of(0)
    for action in (c.Build((4,)), c.SellBuildings((4,), 0), c.Mortgage(1), c.Redeem(1)):
        other.refused(1, action, "not_asked", "TAB-PHASE-04")


def test_in_rent_tax_selling_and_mortgaging_in_more_phases() -> None:
    """TAB-BUILD-30: also in `BUY`, `PAY` and `ESTATE_CHOICE`."""
    purchase = rent_tax().owning_group(0, "tea", 1, 1).owning(0, 1).at(0, 36).turn_of(0).roll(0, 1, 2)
    payment = rent_tax().owning_group(0, "tea", 1, 1).owning(0, 1).owning(1, 39).at(0, 36).turn_of(0).roll(0, 1, 2)
    estate = rent_tax().owning_group(0, "tea", 1, 1).owning(0, 1).owning(1, 7).mortgaged(7)
    estate.cash_of_all(500, 0, 0).owing(1, 3000, 0).do(1, c.DeclareBankruptcy())
    for game, kind in ((purchase, "purchase"), (payment, "payment"), (estate, "estate_choice")):
        assert game.decision == (kind, 0)
        game.do(0, c.SellBuildings((4,), 0)).do(0, c.Mortgage(1))
        assert game.money() == [(BANK, 0, 300, "mortgage")]
        assert game.decision == (kind, 0)


def test_in_rent_tax_the_last_branch_goes_to_who_builds_first() -> None:
    """TAB-BUILD-30: no claims; even building, half price, and head offices of an industry are sold together."""
    game = rent_tax().owning_group(0, "tea").owning_group(1, "perfume").branches_left(1, 2).turn_of(0)
    assert game.do(0, c.Build((4,))).decision == ("roll", 0)
    game = rent_tax().owning_group(0, "tea", 5, 5).turn_of(0)
    game.do(0, c.SellBuildings((4,), 4))
    assert game.money() == [(BANK, 0, 250, "building_sale")] * 2
    game.do(0, c.SellBuildings((6,), 3))
    game.refused(0, c.SellBuildings((6,), 2), "uneven", "TAB-BUILD-14")
