"""Collapsing branches and holdings (IND-BUILD-14 to -18)."""

from collections.abc import Callable

import pytest

from services.rules.domain import commands as c
from services.rules.domain.events import BuildingsSold
from services.rules.domain.options import BuildingChoice
from services.rules.domain.parties import BANK
from tests.support.scenario import Game, a_game


def choices(game: Game) -> list[int]:
    """Cells that the actor may collapse one level of."""
    return [choice.cell for option in game.options("sell_buildings") for choice in option.buildings]


@pytest.mark.parametrize(
    ("group", "cell", "refund"), [("bakery", 1, 25), ("textile", 14, 50), ("medicine", 27, 75), ("it", 39, 100)]
)
@pytest.mark.parametrize("level", [1, 4, 5])
def test_the_bank_returns_half_of_the_build_cost(group: str, cell: int, refund: int, level: int) -> None:
    """IND-BUILD-14: for a branch and a holding alike."""
    game = a_game(2).owning_group(0, group, level, level, level).managing(0)
    choice = next(item for item in game.option("sell_buildings").buildings if item.cell == cell)
    assert choice == BuildingChoice(cell, level - 1, refund)
    game.do(0, c.SellBuildings((cell,), level - 1))
    assert game.money() == [(BANK, 0, refund, "building_sale")]
    assert game.events_of(BuildingsSold) == [BuildingsSold(cell, level, level - 1)]
    assert game.level(cell) == level - 1


@pytest.mark.parametrize(
    ("levels", "legal"),
    [((1, 0, 0), [1]), ((1, 1, 0), [1, 3]), ((2, 2, 2), [1, 3, 4]), ((4, 5, 4), [3]), ((3, 4, 4), [3, 4])],
)
def test_collapsing_starts_with_the_most_developed(levels: tuple[int, int, int], legal: list[int]) -> None:
    """IND-BUILD-15: evenly; others of the industry wait."""
    game = a_game(2).owning_group(0, "bakery", *levels).managing(0)
    assert choices(game) == legal
    for cell, level in zip((1, 3, 4), levels, strict=True):
        if cell not in legal and level:
            game.refused(0, c.SellBuildings((cell,), level - 1), "uneven", "IND-BUILD-15")


def test_each_industry_is_collapsed_for_itself() -> None:
    """IND-BUILD-15: the most developed of its own industry counts."""
    game = a_game(2).owning_group(0, "bakery", 1, 1, 0).owning_group(0, "it", 3, 3, 3).managing(0)
    assert choices(game) == [1, 3, 36, 37, 39]


def test_a_holding_breaks_up_into_four_branches() -> None:
    """IND-BUILD-16: only if the supply has them: four are enough, three are not."""
    game = a_game(2).owning_group(0, "bakery", 5, 4, 4).branches_left(4, holder=1).managing(0)
    game.do(0, c.SellBuildings((1,), 4))
    assert (game.level(1), game.supply[0]) == (4, 0)
    game = a_game(2).owning_group(0, "bakery", 5, 4, 4).branches_left(3, holder=1).managing(0)
    assert choices(game) == []
    game.refused(0, c.SellBuildings((1,), 4), "no_supply", "IND-BUILD-16", {"cell": 1, "least": 4})


def test_a_branch_needs_no_supply_to_collapse() -> None:
    """IND-BUILD-16: only holdings break up into branches."""
    game = a_game(2).owning_group(0, "bakery", 4, 4, 4).branches_left(0, holder=1).managing(0)
    game.do(0, c.SellBuildings((1,), 3))
    assert game.supply[0] == 1


def test_what_breaking_up_a_holding_does() -> None:
    """IND-BUILD-17: half of one build cost, 1 holding back, 4 branches out, level 4; never further in one step."""
    game = a_game(2).owning_group(0, "it", 5, 5, 5).managing(0)
    assert game.supply == (32, 9)
    for level in (5, 3, 0, 6):
        game.refused(0, c.SellBuildings((36,), level), "bad_choice", "IND-BUILD-17", {"to_level": 4})
    game.do(0, c.SellBuildings((36,), 4))
    assert (game.money(), game.level(36), game.supply) == ([(BANK, 0, 100, "building_sale")], 4, (28, 10))
    assert game.event_names()[:3] == ["DecisionClosed", "MoneyMoved", "BuildingsSold"]


def test_one_level_of_one_cell_at_a_time() -> None:
    """IND-BUILD-17: neither two cells nor two levels."""
    game = a_game(2).owning_group(0, "bakery", 2, 2, 2).managing(0)
    game.refused(0, c.SellBuildings((1, 3), 1), "bad_choice", "IND-BUILD-17")
    game.refused(0, c.SellBuildings((), 1), "bad_choice", "IND-BUILD-17")
    game.refused(0, c.SellBuildings((1,), 0), "bad_choice", "IND-BUILD-17", {"to_level": 1})


def built() -> Game:
    """Seat 0 with branches and no money."""
    return a_game(2).owning_group(0, "bakery", 2, 2, 2).with_cash(0, 10)


PHASES: list[tuple[Callable[[], Game], tuple[str, int]]] = [
    (lambda: built().turn_of(0), ("roll", 0)),
    (lambda: built().in_jail(0).turn_of(0), ("roll", 0)),
    (lambda: built().landing(0, "river_port"), ("purchase", 0)),
    (lambda: built().managing(0), ("manage", 0)),
    (lambda: built().owing(0, 1000), ("payment", 0)),
    (lambda: built().owing(0, 1000, turn=1), ("payment", 0)),
]


@pytest.mark.parametrize(("given", "decision"), PHASES, ids=["roll", "jail", "purchase", "manage", "debt", "foreign"])
def test_when_one_may_collapse(given: Callable[[], Game], decision: tuple[str, int]) -> None:
    """IND-BUILD-18: in one's own turn before and after the roll, in inspection, in a purchase, and in a debt; as often
    as one likes."""
    game = given()
    assert game.decision == decision
    for cell, level in ((1, 1), (3, 1), (4, 1), (1, 0), (3, 0), (4, 0)):
        game.do(0, c.SellBuildings((cell,), level))
        assert game.decision == decision
    assert (game.cash(0), choices(game)) == (160, [])


def test_what_cannot_be_collapsed() -> None:
    """IND-BUILD-18: a bare cell, a rival's, what is no enterprise; and not in a rival's turn."""
    game = a_game(2).owning_group(0, "bakery", 1, 0, 0).owning_group(1, "it", 1, 1, 1).owning(0, 5).managing(0)
    game.refused(0, c.SellBuildings((3,), 0), "nothing_built", "IND-PHASE-09")
    game.refused(0, c.SellBuildings((36,), 0), "not_owner", "IND-PHASE-09")
    for cell in (0, 5, 40, -1):
        game.refused(0, c.SellBuildings((cell,), 0), "unknown_cell", "IND-PHASE-09")
    game.refused(1, c.SellBuildings((36,), 0), "not_asked", "IND-PHASE-10")


def test_the_highest_among_ones_own_cells_counts() -> None:
    """IND-BUILD-18, -19: a rival's higher level in the same industry does not bar one's own."""
    game = a_game(2).owning_group(0, "bakery", 1, 1, 2).owning(1, "pastry_workshop").after_bank_sale_in("bakery")
    game.managing(0)
    assert choices(game) == [1, 3]
    game.do(0, c.SellBuildings((1,), 0))
    assert game.level(1) == 0
