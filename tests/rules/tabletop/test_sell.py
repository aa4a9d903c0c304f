"""Selling houses and hotels back (TAB-BUILD-13 to -16)."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.commands import Basket
from services.rules.domain.events import BuildingsSold
from services.rules.domain.options import BuildingChoice
from services.rules.domain.parties import BANK
from tests.rules.tabletop.tables import TABLETOPS, a_table, short_game, tabletop
from tests.support.scenario import Game

LONG = ["tabletop", "tabletop-timed"]


@pytest.mark.parametrize("edition", TABLETOPS)
@pytest.mark.parametrize(("group", "half"), [("brown", 25), ("pink", 50), ("red", 75), ("navy", 100)])
def test_houses_are_sold_to_the_bank_for_half_the_cost(edition: str, group: str, half: int) -> None:
    """TAB-BUILD-13: one house from its street, and back into the stock."""
    game = a_table(edition).owning_group(0, group, 1, 1, 1)
    stock = game.supply[0]
    cell = game.edition.board.group_cells[group][0]
    game.turn_of(0).do(0, c.SellBuildings((cell,), 0))
    assert game.money() == [(BANK, 0, half, "building_sale")]
    assert game.events_of(BuildingsSold) == [BuildingsSold(cell, 1, 0)]
    assert game.supply[0] == stock + 1


def test_buildings_are_never_sold_to_players() -> None:
    """TAB-BUILD-13, TAB-TRADE-04: a deal has no place for them, and a built group moves in none."""
    game = tabletop().owning_group(0, "navy", 1, 1).turn_of(0)
    game.refused(0, c.OfferTrade(1, Basket(cells=(37,)), Basket(500)), "built", "TAB-TRADE-03")
    game.refused(0, c.SellBuildings((1,), 0), "not_owner", "TAB-BUILD-13")
    game.refused(0, c.SellBuildings((0,), 0), "unknown_cell", "TAB-BUILD-13")


@pytest.mark.parametrize("edition", TABLETOPS)
def test_selling_is_even(edition: str) -> None:
    """TAB-BUILD-14: from a street with the highest level of its group, one house at a time."""
    game = a_table(edition).owning_group(0, "navy", 2, 1).turn_of(0)
    game.refused(0, c.SellBuildings((39,), 0), "uneven", "TAB-BUILD-14")
    game.refused(0, c.SellBuildings((37,), 0), "bad_choice", "TAB-BUILD-15")
    game.do(0, c.SellBuildings((37,), 1)).do(0, c.SellBuildings((39,), 0)).do(0, c.SellBuildings((37,), 0))
    game.refused(0, c.SellBuildings((37,), 0), "nothing_built", "TAB-BUILD-13")


def seller(edition: str = "tabletop", seats: int = 3) -> Game:
    """Seat 2 has a house on each navy street."""
    return a_table(edition, seats).owning_group(2, "navy", 1, 1)


def sells(game: Game) -> None:
    """Seat 2 sells a house, and the open decision and its clock stay as they were."""
    decision, deadline = game.state.decision, game.deadline
    game.do(2, c.SellBuildings((37,), 0))
    assert game.money() == [(BANK, 2, 100, "building_sale")]
    assert (game.state.decision, game.deadline) == (decision, deadline)


@pytest.mark.parametrize("edition", TABLETOPS)
def test_selling_is_possible_at_any_time(edition: str) -> None:
    """TAB-BUILD-14, TAB-TIME-03: in others' turns, purchases, auctions, answers, debts and gaps."""
    sells(seller(edition).turn_of(0))
    sells(seller(edition).managing(0))
    purchase = seller(edition).at(0, 32).turn_of(0).roll(0, 1, 2)
    sells(purchase)
    auction = seller(edition).at(0, 32).turn_of(0).roll(0, 1, 2).do(0, c.Decline())
    sells(auction)
    answer = seller(edition).turn_of(0).do(0, c.OfferTrade(1, Basket(1), Basket(2)))
    sells(answer)
    sells(seller(edition).with_cash(0, 10).owing(0, 20, 1))
    gap = seller(edition).owning_group(1, "brown").turn_of(0).do(1, c.AskGap())
    sells(gap)


def test_not_while_pieces_are_claimed_or_bid_for() -> None:
    """TAB-BUILD-14: the stock must not change then."""
    game = tabletop(4).owning_group(0, "brown").owning_group(1, "sky").branches_left(1, 3).with_cash(3, 0)
    game.with_cash(2, 0).turn_of(0).do(0, c.Build((1,)))
    game.refused(3, c.SellBuildings((39,), 0), "wrong_decision", "TAB-BUILD-14")
    assert "sell_buildings" not in game.option_kinds()
    game.do(1, c.ClaimBuildings((6,)))
    game.refused(3, c.SellBuildings((39,), 0), "wrong_decision", "TAB-BUILD-14")


@pytest.mark.parametrize("edition", LONG)
@pytest.mark.parametrize("k", [0, 1, 2, 3, 4])
def test_all_hotels_of_a_group_are_lowered_together(edition: str, k: int) -> None:
    """TAB-BUILD-15: to any level; half the cost for each level lost; 2.5 times the cost for a hotel sold."""
    game = a_table(edition).owning_group(0, "navy", 5, 5).turn_of(0).do(0, c.SellBuildings((37, 39), k))
    assert game.money() == [(BANK, 0, 100 * (5 - k), "building_sale")] * 2
    assert game.events_of(BuildingsSold) == [BuildingsSold(37, 5, k), BuildingsSold(39, 5, k)]
    assert game.supply == (32 - 2 * k, 12)
    if k == 0:
        assert game.cash(0) - 1500 == 2 * 500


def test_one_hotel_is_not_sold_alone() -> None:
    """TAB-BUILD-15: the streets named are the whole group, or one that stands for it; others never."""
    game = tabletop().owning_group(0, "green", 5, 4, 5).turn_of(0)
    game.refused(0, c.SellBuildings((31, 32), 4), "bad_choice", "TAB-BUILD-15")
    game.do(0, c.SellBuildings((32,), 3))
    assert [game.level(cell) for cell in (31, 32, 34)] == [3, 3, 3]
    assert game.money() == [
        (BANK, 0, 100, "building_sale"),
        (BANK, 0, 200, "building_sale"),
        (BANK, 0, 200, "building_sale"),
    ]


def test_the_exchange_for_four_houses_each() -> None:
    """TAB-BUILD-15: half the hotel's cost; a street with houses stays as it is."""
    game = tabletop().owning_group(0, "navy", 5, 4).turn_of(0).do(0, c.SellBuildings((37,), 4))
    assert game.money() == [(BANK, 0, 100, "building_sale")]
    assert (game.level(37), game.level(39), game.supply) == (4, 4, (24, 12))


def test_without_a_hotel_in_the_group_houses_go_one_by_one() -> None:
    """TAB-BUILD-14, TAB-BUILD-15: from four houses too, and without a house in the bank."""
    game = tabletop().owning_group(0, "navy", 4, 4).branches_left(0, 1).turn_of(0)
    choices = game.options("sell_buildings")[0].buildings
    assert choices == (BuildingChoice(37, 3, 100), BuildingChoice(39, 3, 100))
    game.do(0, c.SellBuildings((37,), 3))
    assert (game.level(37), game.level(39), game.supply) == (3, 4, (1, 12))


@pytest.mark.parametrize(("stock", "greatest"), [(12, 4), (8, 4), (7, 3), (6, 3), (5, 2), (1, 0), (0, 0)])
def test_houses_that_stay_must_be_in_the_bank(stock: int, greatest: int) -> None:
    """TAB-BUILD-15: two hotels need 2k houses; a shortage lowers k but never blocks the sale."""
    game = tabletop().owning_group(0, "navy", 5, 5).branches_left(stock, 1).turn_of(0)
    assert [choice.to_level for choice in game.options("sell_buildings")[0].buildings] == list(range(greatest + 1))
    if greatest < 4:
        needed = 2 * (greatest + 1)
        game.refused(0, c.SellBuildings((37,), greatest + 1), "no_supply", "TAB-BUILD-15", {"least": needed})
    game.do(0, c.SellBuildings((37,), greatest))
    assert game.supply[0] == stock - 2 * greatest


def test_what_is_listed_for_a_group_with_a_hotel() -> None:
    """TAB-BUILD-15: by its first street; what the street of four houses frees counts, and all levels are paid."""
    game = tabletop().owning_group(0, "navy", 5, 4).branches_left(0, 1).turn_of(0)
    choices = game.options("sell_buildings")[0].buildings
    assert choices == (BuildingChoice(37, 0, 900), BuildingChoice(37, 1, 700), BuildingChoice(37, 2, 500))
    game.refused(0, c.SellBuildings((37,), 3), "no_supply", "TAB-BUILD-15", {"least": 3})
    game.do(0, c.SellBuildings((37,), 2))
    assert (game.level(37), game.level(39), game.supply) == (2, 2, (0, 12))


def test_houses_freed_by_the_same_action_count() -> None:
    """TAB-BUILD-15: a hotel and two streets of four houses go to 3 with one house in the bank."""
    game = tabletop().owning_group(0, "green", 5, 4, 4).branches_left(1, 1).turn_of(0)
    game.refused(0, c.SellBuildings((31,), 4), "no_supply", "TAB-BUILD-15", {"least": 4})
    game.do(0, c.SellBuildings((31,), 3))
    assert [game.level(cell) for cell in (31, 32, 34)] == [3, 3, 3]
    assert game.supply[0] == 0


def test_levels_that_do_not_exist() -> None:
    """TAB-BUILD-15: k is 0 to H."""
    game = tabletop().owning_group(0, "navy", 5, 5).turn_of(0)
    for level in (-1, 5):
        game.refused(0, c.SellBuildings((37,), level), "bad_choice", "TAB-BUILD-15", {"greatest": 4})


def test_a_hotel_of_the_short_game_is_worth_one_house_less() -> None:
    """TAB-BUILD-16: sold for 2 times the cost; exchanged for three houses and half the cost."""
    game = short_game().owning_group(0, "navy", 4, 4).turn_of(0).do(0, c.SellBuildings((37,), 0))
    assert game.money() == [(BANK, 0, 400, "building_sale")] * 2
    game = short_game().owning_group(0, "navy", 4, 4).turn_of(0).do(0, c.SellBuildings((37,), 3))
    assert game.money() == [(BANK, 0, 100, "building_sale")] * 2
    assert game.supply == (26, 12)
    game = short_game().owning_group(0, "navy", 4, 4).branches_left(5, 1).turn_of(0)
    game.refused(0, c.SellBuildings((37,), 3), "no_supply", "TAB-BUILD-16", {"least": 6})
    game.refused(0, c.SellBuildings((37,), 4), "bad_choice", "TAB-BUILD-15", {"greatest": 3})
