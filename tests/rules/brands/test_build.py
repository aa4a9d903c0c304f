"""Building and selling buildings (BRA-BUILD)."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.events import BuildingBuilt, BuildingsSold
from services.rules.domain.parties import BANK
from tests.rules.brands.games import BRANDS, BRAWL, FAST, TEAMS, brands, every_mode
from tests.support.scenario import Game

EVEN = pytest.mark.parametrize("edition", [BRANDS, TEAMS])
UNEVEN = pytest.mark.parametrize("edition", [FAST, BRAWL])
ONE_PER_GROUP = pytest.mark.parametrize("edition", [BRANDS, FAST, TEAMS])
COSTS = {
    "supermarkets": 500,
    "drinks": 500,
    "clothing": 1000,
    "restaurants": 1000,
    "airlines": 1500,
    "media": 1500,
    "motors": 2000,
    "technology": 2000,
}


def builder(edition: str = BRANDS, *levels: int, group: str = "drinks") -> Game:
    """Seat 0 owns a group (drinks: 6, 8, 9 at 500 each) with these levels."""
    return brands(edition).owning_group(0, group, *levels)


@every_mode
def test_four_branches_and_a_corporation(edition: str) -> None:
    """BRA-BUILD-01: on each brand of a group that is owned whole, up to level 5."""
    game = builder(edition).turn_of(0)
    for level in range(1, 6):
        game = builder(edition, *[level - 1] * 3).turn_of(0).do(0, c.Build((6,)))
        assert game.events_of(BuildingBuilt) == [BuildingBuilt(6, level)]
        assert game.money() == [(0, BANK, 500, "build")]
    game = builder(edition, 5, 5, 5).turn_of(0)
    assert "build" not in game.option_kinds()
    game.refused(0, c.Build((6,)), "top_level", "BRA-BUILD-01")


@every_mode
def test_the_whole_group_is_needed(edition: str) -> None:
    """BRA-BUILD-01: neither a part of it nor finance or industry can be built on."""
    game = brands(edition).owning(0, 6, 8, 5, 15, 25, 35).owning(1, 9).turn_of(0)
    game.refused(0, c.Build((6,)), "group_incomplete", "BRA-BUILD-01")
    game.refused(0, c.Build((9,)), "not_owner", "BRA-BUILD-01")
    game.refused(0, c.Build((5,)), "unknown_cell", "BRA-BUILD-01")
    if edition == TEAMS:
        game.owning(2, 9).refused(0, c.Build((6,)), "group_incomplete", "BRA-BUILD-01")


@every_mode
def test_costs_by_group(edition: str) -> None:
    """BRA-BUILD-02, BRA-BUILD-12: 500, 500, 1000, 1000, 1500, 1500, 2000, 2000 for every step."""
    board = brands(edition).edition.board
    for group, cost in COSTS.items():
        cell = board.group_cells[group][0]
        for level in (0, 4):
            game = builder(edition, *[level] * 3, group=group).turn_of(0).do(0, c.Build((cell,)))
            assert game.money() == [(0, BANK, cost, "build")]


@EVEN
def test_even_building(edition: str) -> None:
    """BRA-BUILD-03: no brand more than 1 building ahead of another."""
    game = builder(edition, 1, 0, 0).turn_of(0)
    game.refused(0, c.Build((6,)), "uneven", "BRA-BUILD-03")
    assert [choice.cell for choice in game.option("build").buildings] == [8, 9]
    game.do(0, c.Build((9,)))
    assert (game.level(6), game.level(8), game.level(9)) == (1, 0, 1)


@UNEVEN
def test_uneven_building(edition: str) -> None:
    """BRA-BUILD-04: in the two other modes."""
    game = builder(edition, 4, 0, 0).turn_of(0).do(0, c.Build((6,)))
    assert (game.level(6), game.level(8)) == (5, 0)


@ONE_PER_GROUP
def test_once_per_turn_in_each_group(edition: str) -> None:
    """BRA-BUILD-05, BRA-BUILD-09: one step on one brand; other groups have a step of their own."""
    game = builder(edition).owning_group(0, "supermarkets").turn_of(0).do(0, c.Build((6,)))
    game.refused(0, c.Build((8,)), "build_limit_used", "BRA-BUILD-05")
    game.refused(0, c.Build((6,)), "build_limit_used", "BRA-BUILD-05")
    assert [choice.cell for choice in game.option("build").buildings] == [1, 3]
    game.do(0, c.Build((3,)))
    assert "build" not in game.option_kinds()


@ONE_PER_GROUP
def test_the_allowance_holds_for_the_whole_turn(edition: str) -> None:
    """BRA-BUILD-09: also for an extra throw; selling does not give it back; the next turn does."""
    game = builder(edition).at(0, 6).turn_of(0).do(0, c.Build((6,))).do(0, c.SellBuildings((6,), 0))
    game.refused(0, c.Build((6,)), "build_limit_used", "BRA-BUILD-05")
    game.roll(0, 2, 2)
    assert game.decision == ("roll", 0)
    game.refused(0, c.Build((6,)), "build_limit_used", "BRA-BUILD-05")
    for seat in range(len(game.state.cash)):
        game.at(seat, 7).roll(seat, 1, 2)
    assert game.decision == ("roll", 0)
    game.do(0, c.Build((6,)))
    assert game.level(6) == 1


def test_before_an_extra_throw() -> None:
    """BRA-BUILD-09: the `roll` phase of an extra throw is before a throw too."""
    game = builder().at(0, 6).turn_of(0).roll(0, 2, 2).do(0, c.Build((6,)))
    assert game.level(6) == 1


def test_any_number_of_times_in_a_brawl() -> None:
    """BRA-BUILD-06: on the same brand as well."""
    game = builder(BRAWL).turn_of(0)
    for level in range(1, 6):
        game.do(0, c.Build((6,)))
        assert game.level(6) == level
    assert game.cash(0) == 25000 - 5 * 500


@every_mode
def test_a_mortgage_in_the_group(edition: str) -> None:
    """BRA-BUILD-07: nothing can be built there."""
    game = builder(edition).mortgaged(9).turn_of(0)
    assert "build" not in game.option_kinds()
    game.refused(0, c.Build((6,)), "group_mortgaged", "BRA-BUILD-07")
    game.do(0, c.Redeem(9)).do(0, c.Build((6,)))
    assert game.level(6) == 1


@every_mode
def test_only_before_the_throw(edition: str) -> None:
    """BRA-BUILD-08: not in `buy`, `pay` or `debt`."""
    for cell, cash in ((39, 9000), (4, 9000), (4, 0)):
        game = builder(edition).with_cash(0, cash).landing(0, cell)
        assert game.decision is not None
        assert game.decision[0] in ("purchase", "payment")
        assert "build" not in game.option_kinds()
        game.refused(0, c.Build((6,)), "wrong_decision", "BRA-BUY-01" if cell == 39 else "BRA-DEBT-04")


@every_mode
def test_one_brand_at_a_time(edition: str) -> None:
    """BRA-BUILD-09: a command builds one step on one brand."""
    game = builder(edition).turn_of(0)
    statement = "BRA-BUILD-06" if edition == BRAWL else "BRA-BUILD-05"
    game.refused(0, c.Build((6, 8)), "bad_choice", statement)
    game.refused(0, c.Build(()), "bad_choice", statement)


@pytest.mark.parametrize(("edition", "refund"), [(BRANDS, 500), (FAST, 500), (BRAWL, 375), (TEAMS, 500)])
def test_refunds(edition: str, refund: int) -> None:
    """BRA-BUILD-10: the full cost, in a brawl 75% of it, of a corporation too."""
    for level in (1, 5):
        game = builder(edition, level, level, level).turn_of(0).do(0, c.SellBuildings((6,), level - 1))
        assert game.money() == [(BANK, 0, refund, "building_sale")]
        assert game.events_of(BuildingsSold) == [BuildingsSold(6, level, level - 1)]
    game = builder(edition, 1, 1, group="technology").turn_of(0).do(0, c.SellBuildings((39,), 0))
    assert game.money() == [(BANK, 0, refund * 4, "building_sale")]


@every_mode
def test_one_level_per_sale(edition: str) -> None:
    """BRA-BUILD-11: without a limit per turn."""
    game = builder(edition, 2, 2, 2).turn_of(0)
    game.refused(0, c.SellBuildings((6,), 0), "bad_choice", "BRA-BUILD-11")
    game.refused(0, c.SellBuildings((6, 8), 1), "bad_choice", "BRA-BUILD-11")
    game.do(0, c.SellBuildings((6,), 1)).do(0, c.SellBuildings((8,), 1)).do(0, c.SellBuildings((9,), 1))
    game.do(0, c.SellBuildings((6,), 0))
    game.refused(0, c.SellBuildings((6,), 0), "nothing_built", "BRA-BUILD-10")
    assert (game.level(6), game.level(8), game.level(9)) == (0, 1, 1)


@EVEN
def test_even_sales(edition: str) -> None:
    """BRA-BUILD-11: only from a brand that is the highest of its group."""
    game = builder(edition, 2, 1, 1).turn_of(0)
    game.refused(0, c.SellBuildings((8,), 0), "uneven", "BRA-BUILD-11")
    assert [choice.cell for choice in game.option("sell_buildings").buildings] == [6]
    game.do(0, c.SellBuildings((6,), 1))


@UNEVEN
def test_uneven_sales(edition: str) -> None:
    """BRA-BUILD-11: from any brand where building may be uneven."""
    game = builder(edition, 5, 1, 0).turn_of(0).do(0, c.SellBuildings((8,), 0))
    assert (game.level(6), game.level(8)) == (5, 0)


@pytest.mark.parametrize(("cash", "built"), [(499, False), (500, True), (501, True)])
def test_building_needs_cash(cash: int, built: bool) -> None:
    """BRA-BUILD-12: the whole cost."""
    game = builder().with_cash(0, cash).turn_of(0)
    if built:
        assert game.do(0, c.Build((6,))).cash(0) == cash - 500
    else:
        game.refused(0, c.Build((6,)), "not_enough_cash", "BRA-BUILD-12", {"least": 500})


@every_mode
def test_building_from_jail(edition: str) -> None:
    """BRA-BUILD-12: it is possible."""
    game = builder(edition).in_jail(0).turn_of(0).do(0, c.Build((6,)))
    assert game.level(6) == 1
