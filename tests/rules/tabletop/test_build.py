"""Building (TAB-BUILD-01 to -11, -18)."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.events import BuildingBuilt
from services.rules.domain.parties import BANK
from tests.rules.tabletop.tables import FIVE, TABLETOPS, a_table, short_game, tabletop


def brown(edition: str) -> str:
    """The cheapest group: cells 1 and 3 in every edition."""
    return "perfume" if edition == "rent-tax" else "brown"


@pytest.mark.parametrize("edition", FIVE)
def test_a_complete_group_may_be_built_on(edition: str) -> None:
    """TAB-BUILD-01, -03: any street of it, at the cost on its deed."""
    for cell in (1, 3):
        game = a_table(edition).owning_group(0, brown(edition)).turn_of(0).do(0, c.Build((cell,)))
        cost = game.edition.board.build_cost[cell]
        assert game.money() == [(0, BANK, cost, "build")]
        assert game.events_of(BuildingBuilt) == [BuildingBuilt(cell, 1)]
        assert (game.level(cell), game.supply) == (1, (31, 12))


@pytest.mark.parametrize("edition", FIVE)
def test_an_incomplete_group_may_not(edition: str) -> None:
    """TAB-BUILD-01: one street in the bank's or another's hand stops it."""
    for owner in (BANK, 1):
        game = a_table(edition).owning(0, 1).owning(owner, 3).turn_of(0)
        game.refused(0, c.Build((1,)), "group_incomplete", "TAB-BUILD-01")
        assert "build" not in game.option_kinds()
    game.refused(0, c.Build((3,)), "not_owner", "TAB-BUILD-01")
    game.refused(0, c.Build((0,)), "unknown_cell", "TAB-BUILD-01")


@pytest.mark.parametrize("edition", FIVE)
def test_no_building_beside_a_mortgage(edition: str) -> None:
    """TAB-BUILD-02: on no street of the group; when all are redeemed, at the usual cost."""
    game = a_table(edition).owning_group(0, brown(edition)).mortgaged(3).turn_of(0)
    for cell in (1, 3):
        game.refused(0, c.Build((cell,)), "group_mortgaged", "TAB-BUILD-02")
    game.do(0, c.Redeem(3)).do(0, c.Build((1,)))
    assert game.money() == [(0, BANK, game.edition.board.build_cost[1], "build")]


@pytest.mark.parametrize(
    ("group", "cell", "cost"), [("sky", 6, 50), ("pink", 11, 100), ("red", 21, 150), ("green", 31, 200)]
)
def test_the_cost_depends_on_the_side_of_the_board(group: str, cell: int, cost: int) -> None:
    """TAB-BUILD-03: 50, 100, 150, 200; one unit short is refused."""
    game = tabletop().owning_group(0, group).with_cash(0, cost).turn_of(0).do(0, c.Build((cell,)))
    assert game.cash(0) == 0
    game = tabletop().owning_group(0, group).with_cash(0, cost - 1).turn_of(0)
    game.refused(0, c.Build((cell,)), "not_enough_cash", "TAB-BUILD-03", {"least": cost})


@pytest.mark.parametrize("edition", TABLETOPS)
def test_when_houses_are_bought(edition: str) -> None:
    """TAB-BUILD-04: before a roll and at the end of the own turn; not in a purchase, nor in others' turns."""
    a_table(edition).owning_group(0, "brown").turn_of(0).do(0, c.Build((1,)))
    a_table(edition).owning_group(0, "brown").managing(0).do(0, c.Build((1,)))
    game = a_table(edition).owning_group(0, "brown").at(0, 36).turn_of(0).roll(0, 1, 2)
    game.refused(0, c.Build((1,)), "wrong_decision", "TAB-BUY-01")
    game = a_table(edition).owning_group(0, "brown").turn_of(1)
    game.refused(0, c.Build((1,)), "not_asked", "TAB-PHASE-04", {"seat": 1})
    game = a_table(edition).owning_group(0, "brown").at(0, 16).turn_of(0).roll(0, 2, 2)
    game.do(0, c.Build((1,)))
    assert game.level(1) == 1


@pytest.mark.parametrize("edition", [*TABLETOPS, "rent-tax"])
def test_building_is_even(edition: str) -> None:
    """TAB-BUILD-05: no second house before every street has one, no third before every one has two."""
    game = a_table(edition).owning_group(0, brown(edition), 1, 0).with_cash(0, 9000).turn_of(0)
    game.refused(0, c.Build((1,)), "uneven", "TAB-BUILD-05")
    game.do(0, c.Build((3,))).do(0, c.Build((1,)))
    game.refused(0, c.Build((1,)), "uneven", "TAB-BUILD-05")
    assert [choice.cell for choice in game.option("build").buildings] == [3]


@pytest.mark.parametrize("edition", TABLETOPS)
def test_as_many_as_one_can_pay(edition: str) -> None:
    """TAB-BUILD-06: in one order or in many; each step is judged after the ones before it."""
    game = a_table(edition).owning_group(0, "navy").with_cash(0, 800).turn_of(0).do(0, c.Build((37, 39, 39, 37)))
    assert (game.level(37), game.level(39), game.cash(0)) == (2, 2, 0)
    assert game.money() == [(0, BANK, 200, "build")] * 4
    game = a_table(edition).owning_group(0, "navy").with_cash(0, 1200).turn_of(0).do(0, c.Build((37, 39) * 3))
    assert (game.level(37), game.level(39), game.cash(0), game.supply) == (3, 3, 0, (26, 12))
    game = a_table(edition).owning_group(0, "navy").with_cash(0, 799).turn_of(0)
    game.refused(0, c.Build((37, 39, 39, 37)), "not_enough_cash", "TAB-BUILD-03")
    game.refused(0, c.Build((37, 37)), "uneven", "TAB-BUILD-05")
    game.refused(0, c.Build(()), "bad_choice", "TAB-BUILD-12")


def test_an_order_may_catch_up() -> None:
    """TAB-BUILD-12, TAB-BUILD-05: each step is legal after the ones before it, two on the street left behind too."""
    game = tabletop().owning_group(0, "navy", 0, 1).turn_of(0).do(0, c.Build((37, 37)))
    assert (game.level(37), game.level(39)) == (2, 1)


@pytest.mark.parametrize("edition", ["tabletop", "tabletop-timed", "rent-tax"])
def test_a_hotel(edition: str) -> None:
    """TAB-BUILD-07: after four houses on every street; it costs the same, and its four houses go back."""
    key = brown(edition)
    game = a_table(edition).owning_group(0, key, 4, 3).with_cash(0, 9000).turn_of(0)
    game.refused(0, c.Build((1,)), "uneven", "TAB-BUILD-05")
    game.do(0, c.Build((3,)))
    assert game.supply == (24, 12)
    game.do(0, c.Build((1,)))
    assert game.money() == [(0, BANK, game.edition.board.build_cost[1], "build")]
    assert (game.level(1), game.supply) == (5, (28, 11))
    game.do(0, c.Build((3,)))
    assert (game.level(3), game.supply) == (5, (32, 10))


@pytest.mark.parametrize("edition", FIVE)
def test_one_hotel_on_a_street(edition: str) -> None:
    """TAB-BUILD-08."""
    top = 4 if edition == "tabletop-short" else 5
    game = a_table(edition).owning_group(0, brown(edition), top, top).turn_of(0)
    game.refused(0, c.Build((1,)), "top_level", "TAB-BUILD-08")
    assert "build" not in game.option_kinds()


def test_a_hotel_of_the_short_game() -> None:
    """TAB-BUILD-09: after three houses on every street; three go back, and nobody ever has four."""
    game = short_game().owning_group(0, "brown", 3, 2).turn_of(0)
    game.refused(0, c.Build((1,)), "uneven", "TAB-BUILD-05")
    game.do(0, c.Build((3,)))
    assert game.supply == (26, 12)
    game.do(0, c.Build((1,)))
    assert (game.level(1), game.supply) == (4, (29, 11))
    assert game.money() == [(0, BANK, 50, "build")]


@pytest.mark.parametrize("edition", FIVE)
def test_the_stock_of_the_bank(edition: str) -> None:
    """TAB-BUILD-10: 32 houses and 12 hotels."""
    assert a_table(edition).supply == (32, 12)


@pytest.mark.parametrize("edition", FIVE)
def test_without_houses_one_must_wait(edition: str) -> None:
    """TAB-BUILD-11, -24: until somebody returns some."""
    statement = "TAB-BUILD-24" if edition == "online-classic" else "TAB-BUILD-11"
    group = "cars" if edition == "rent-tax" else "green"
    game = a_table(edition).owning_group(0, brown(edition)).owning_group(1, group, 1, 1, 1).branches_left(0, 2)
    game.with_cash(0, 600).turn_of(0)
    game.refused(0, c.Build((1,)), "no_supply", statement)
    house = game.edition.board.group_cells[group][0]
    game.turn_of(1).do(1, c.SellBuildings((house,), 0)).cash_of_all(600, 0, 0).turn_of(0).do(0, c.Build((1,)))
    assert (game.level(1), game.supply[0]) == (1, 0)


@pytest.mark.parametrize("edition", FIVE)
def test_without_hotels_a_street_keeps_its_houses(edition: str) -> None:
    """TAB-BUILD-11, -24: the same for hotels."""
    statement = "TAB-BUILD-24" if edition == "online-classic" else "TAB-BUILD-11"
    houses = 3 if edition == "tabletop-short" else 4
    game = a_table(edition).owning_group(0, brown(edition), houses, houses).holdings_left(0, 2).turn_of(0)
    game.refused(0, c.Build((1,)), "no_supply", statement)
    assert game.level(1) == houses


@pytest.mark.parametrize("edition", FIVE)
def test_a_debtor_neither_builds_nor_redeems(edition: str) -> None:
    """TAB-BUILD-18: until the debt is paid."""
    game = a_table(edition).owning_group(0, brown(edition)).owning(0, 6).mortgaged(6)
    game.with_cash(0, game.edition.board.build_cost[1]).owing(0, game.edition.board.build_cost[1] + 1, 1)
    game.refused(0, c.Build((1,)), "wrong_decision", "TAB-DEBT-03")
    game.refused(0, c.Redeem(6), "wrong_decision", "TAB-DEBT-03")
    assert not {"build", "redeem"} & game.option_kinds()
