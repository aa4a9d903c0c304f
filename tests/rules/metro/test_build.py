"""Building and selling buildings (MET-BUILD)."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.events import BuildingBuilt, BuildingsSold
from services.rules.domain.parties import BANK
from tests.rules.metro.games import METRO, SPEED, both, metro
from tests.support.scenario import Game


def builder(edition: str = METRO, *levels: int, group: str = "green") -> Game:
    """Seat 0 is about to roll and owns a group, the greens (31, 32, 34; build cost 2000) if not another one."""
    return metro(2, edition).owning_group(0, group, *levels).turn_of(0)


def cells_to_build(game: Game) -> list[int]:
    """Where seat 0 may build now."""
    return [choice.cell for option in game.options("build") for choice in option.buildings]


@both
def test_a_whole_group_is_needed(edition: str) -> None:
    """MET-BUILD-01: all streets of the colour; each building raises the rent."""
    game = builder(edition).do(0, c.Build((34,)))
    assert game.money() == [(0, BANK, 2000, "build")]
    assert game.events_of(BuildingBuilt) == [BuildingBuilt(34, 1)]
    for owner in (BANK, 1):
        game = builder(edition).owning(owner, 32)
        game.refused(0, c.Build((34,)), "group_incomplete", "MET-BUILD-01", {"cell": 34})
        game.refused(0, c.Build((32,)), "not_owner", "MET-BUILD-01", {"cell": 32})
        assert cells_to_build(game) == []


@both
@pytest.mark.parametrize("cell", [5, 12, 0, 40, -1])
def test_only_streets_are_built_on(edition: str, cell: int) -> None:
    """MET-BUILD-01: no stations, no utilities."""
    game = metro(2, edition).owning(0, 5, 15, 25, 35, 12, 28).turn_of(0)
    game.refused(0, c.Build((cell,)), "unknown_cell", "MET-BUILD-01")


@both
def test_five_buildings_at_most(edition: str) -> None:
    """MET-BUILD-02, MET-BUILD-07: a level below 5."""
    game = builder(edition, 5, 5, 4)
    game.refused(0, c.Build((31,)), "top_level", "MET-BUILD-02", {"cell": 31})
    game.do(0, c.Build((34,)))
    assert game.level(34) == 5


def test_metro_builds_evenly() -> None:
    """MET-BUILD-03, MET-BUILD-08: on a street that is the lowest of its group."""
    game = builder(METRO, 2, 1, 1)
    game.refused(0, c.Build((31,)), "uneven", "MET-BUILD-03", {"cell": 31})
    assert cells_to_build(game) == [32, 34]
    game.do(0, c.Build((32,))).do(0, c.Build((34,)))
    assert game.state.levels[31:35] == [2, 2, 0, 2]


def test_in_metro_a_street_rises_once_in_a_turn() -> None:
    """MET-BUILD-04, MET-BUILD-08: extra throws and selling renew nothing; the next turn does."""
    game = builder(METRO, group="blue").at(0, 10).do(0, c.Build((37,))).do(0, c.Build((39,)))
    game.refused(0, c.Build((37,)), "build_limit_used", "MET-BUILD-04", {"cell": 37})
    game.do(0, c.SellBuildings((37,), 0))
    game.refused(0, c.Build((37,)), "build_limit_used", "MET-BUILD-04", {"cell": 37})
    game.roll(0, 5, 5)
    assert (game.decision, cells_to_build(game)) == (("roll", 0), [])
    game.refused(0, c.Build((37,)), "build_limit_used", "MET-BUILD-04", {"cell": 37})
    game = builder(METRO, group="blue").do(0, c.Build((37,))).expire().expire()
    assert (game.decision, cells_to_build(game)) == (("roll", 0), [39])
    game.do(0, c.Build((39,))).do(0, c.Build((37,)))
    assert game.level(37) == 2


def test_speed_builds_any_street_any_number_of_steps() -> None:
    """MET-BUILD-05: five on one street while the others are bare."""
    game = builder(SPEED, group="blue")
    for level in range(1, 6):
        game.do(0, c.Build((39,)))
        assert game.level(39) == level
    assert (game.level(37), game.cash(0)) == (0, 15000 - 5 * 2000)


@both
def test_a_mortgage_in_the_group_forbids_building(edition: str) -> None:
    """MET-BUILD-06: on all its streets."""
    game = builder(edition).mortgaged(32)
    for cell in (31, 32, 34):
        game.refused(0, c.Build((cell,)), "group_mortgaged", "MET-BUILD-06", {"cell": cell})


@both
def test_building_needs_the_cash(edition: str) -> None:
    """MET-BUILD-07: exactly the cost suffices, one less does not; nothing on credit."""
    game = builder(edition).with_cash(0, 1999)
    game.refused(0, c.Build((31,)), "not_enough_cash", "MET-BUILD-07", {"least": 2000})
    assert cells_to_build(game) == []
    game.with_cash(0, 2000).do(0, c.Build((31,)))
    assert game.cash(0) == 0
    game.refused(0, c.Build(()), "bad_choice", "MET-BUILD-04" if edition == METRO else "MET-BUILD-05")
    game.refused(0, c.Build((32, 34)), "bad_choice", "MET-BUILD-04" if edition == METRO else "MET-BUILD-05")


@both
def test_a_player_in_jail_may_build(edition: str) -> None:
    """MET-BUILD-09, MET-JAIL-10: building is bound to the turn, not to the token."""
    game = builder(edition).in_jail(0).do(0, c.Build((31,)))
    assert game.level(31) == 1


@both
@pytest.mark.parametrize(("group", "cell", "refund"), [("brown", 3, 250), ("pink", 14, 500), ("blue", 39, 1000)])
def test_a_building_brings_half_its_cost(edition: str, group: str, cell: int, refund: int) -> None:
    """MET-BUILD-10: one for each action, without a limit in a turn."""
    game = builder(edition, 1, 1, 1, group=group).do(0, c.SellBuildings((cell,), 0))
    assert game.money() == [(BANK, 0, refund, "building_sale")]
    assert game.events_of(BuildingsSold) == [BuildingsSold(cell, 1, 0)]
    game.refused(0, c.SellBuildings((cell,), 0), "nothing_built", "MET-BUILD-10", {"cell": cell})


def test_one_building_at_a_time() -> None:
    """MET-BUILD-10: as many actions as one likes."""
    game = builder(SPEED, 5, 0, 0)
    game.refused(0, c.SellBuildings((31,), 3), "bad_choice", "MET-BUILD-10", {"to_level": 4})
    for level in (4, 3, 2, 1, 0):
        game.do(0, c.SellBuildings((31,), level))
    assert game.cash(0) == 15000 + 5 * 1000


def test_metro_sells_from_a_highest_street() -> None:
    """MET-BUILD-11: so that the group stays even; in the speed mode from any."""
    game = builder(METRO, 2, 1, 2)
    game.refused(0, c.SellBuildings((32,), 0), "uneven", "MET-BUILD-11", {"cell": 32})
    assert [choice.cell for choice in game.option("sell_buildings").buildings] == [31, 34]
    game.do(0, c.SellBuildings((31,), 1)).do(0, c.SellBuildings((34,), 1)).do(0, c.SellBuildings((32,), 0))
    game = builder(SPEED, 5, 1, 2).do(0, c.SellBuildings((32,), 0))
    assert game.state.levels[31:35] == [5, 0, 0, 2]


def test_only_own_buildings_are_sold() -> None:
    """MET-BUILD-10: not those of an opponent."""
    game = builder().owning_group(1, "blue", 1, 1)
    game.refused(0, c.SellBuildings((39,), 0), "not_owner", "MET-BUILD-10", {"cell": 39})
