"""Opening branches and holdings (IND-BUILD-01 to -13, -19)."""

from dataclasses import replace

import pytest

from services.rules.domain import commands as c
from services.rules.domain.commands import Basket
from services.rules.domain.events import BuildingBuilt
from services.rules.domain.options import BuildingChoice
from services.rules.domain.parties import BANK
from tests.support.scenario import Game, a_game


def on(cell: int, *levels: int, group: str = "bakery", seats: int = 2) -> Game:
    """Seat 0 owns a whole industry with these levels and stands on a cell of it, after the roll."""
    return a_game(seats).owning_group(0, group, *levels).at(0, cell).managing(0)


def test_the_whole_industry_is_needed() -> None:
    """IND-BUILD-01: all three, and one's own; two are not enough, nor is a cell of somebody else."""
    game = on(1).do(0, c.Build((1,)))
    assert game.events_of(BuildingBuilt) == [BuildingBuilt(1, 1)]
    for owner in (1, BANK):
        game = a_game(2).owning_group(0, "bakery").owning(owner, "pastry_workshop").at(0, 1).managing(0)
        assert game.options("build") == []
        game.refused(0, c.Build((1,)), "group_incomplete", "IND-BUILD-01")
    game = a_game(2).owning_group(1, "bakery").at(0, 1).managing(0)
    game.refused(0, c.Build((1,)), "not_owner", "IND-BUILD-01")


def test_building_needs_cash() -> None:
    """IND-BUILD-02: the build cost exactly is enough, one less is not."""
    game = on(36, group="it").with_cash(0, 200).do(0, c.Build((36,)))
    assert (game.money(), game.cash(0)) == ([(0, BANK, 200, "build")], 0)
    game = on(36, group="it").with_cash(0, 199)
    assert game.options("build") == []
    game.refused(0, c.Build((36,)), "not_enough_cash", "IND-BUILD-02", {"least": 200})


def test_a_debtor_does_not_build() -> None:
    """IND-BUILD-02: with cash for the branch but a greater debt it is refused."""
    game = a_game(2).owning_group(0, "bakery").at(0, 1).with_cash(0, 90).owing(0, 100)
    game.refused(0, c.Build((1,)), "wrong_decision", "IND-PHASE-07")


def test_a_branch_is_opened_only_under_the_token_and_once_per_visit() -> None:
    """IND-BUILD-03: not on the other two, not twice, not on two at once."""
    game = on(1)
    assert game.option("build").buildings == (BuildingChoice(1, 1, 50),)
    game.refused(0, c.Build((3,)), "not_under_token", "IND-BUILD-03")
    game.refused(0, c.Build((1, 3)), "bad_choice", "IND-BUILD-03")
    game.refused(0, c.Build(()), "bad_choice", "IND-BUILD-03")
    game.do(0, c.Build((1,)))
    assert game.options("build") == []
    game.refused(0, c.Build((1,)), "build_limit_used", "IND-BUILD-03")


def test_where_one_builds_is_a_switch_of_the_edition() -> None:
    """IND-BUILD-03: where it need not be the cell under the token, all three of a whole industry are listed."""
    game = on(20)
    assert game.options("build") == []
    game.edition = replace(game.edition, build_where="group")
    assert [choice.cell for choice in game.option("build").buildings] == [1, 3, 4]


@pytest.mark.parametrize("cell", [0, 2, 5, 12, 40, -1])
def test_only_enterprises_are_built_on(cell: int) -> None:
    """IND-BUILD-03: logistics, utilities and other cells take no branches, even under the token."""
    game = a_game(2).owning(0, 5, 18, 32, 12, 28).at(0, max(cell, 0) % 40).managing(0)
    assert game.options("build") == []
    game.refused(0, c.Build((cell,)), "unknown_cell", "IND-BUILD-03")


def test_a_new_arrival_allows_a_new_branch() -> None:
    """IND-BUILD-04: on the same cell, in a later turn."""
    game = on(1).do(0, c.Build((1,)))
    game.building("flour_mill", 1).building("pastry_workshop", 1).end_turn(0).managing(1).end_turn(1)
    game.at(0, 38).roll(0, 1, 2).do(0, c.Build((1,)))
    assert game.level(1) == 2


def test_a_new_turn_without_an_arrival_is_the_same_visit() -> None:
    """IND-BUILD-04: only an arrival allows a new branch: a failed try in inspection moves nothing."""
    game = on(1).do(0, c.Build((1,)))
    assert game.state.counters == {("visit", "build", (0,)): 1}
    game.end_turn(0)
    assert game.state.counters == {("visit", "build", (0,)): 1}


def test_the_visits_of_others_are_their_own() -> None:
    """IND-BUILD-04: what one built in his visit does not bar another."""
    game = on(1, seats=2).owning_group(1, "it").do(0, c.Build((1,)))
    game.at(1, 36).managing(1).do(1, c.Build((36,)))
    assert game.level(36) == 1


@pytest.mark.parametrize(
    ("levels", "legal"),
    [
        ((0, 0, 0), True),
        ((0, 1, 1), True),
        ((1, 0, 1), False),
        ((1, 1, 0), False),
        ((3, 3, 3), True),
        ((4, 4, 3), False),
    ],
)
def test_an_industry_is_expanded_evenly(levels: tuple[int, int, int], legal: bool) -> None:
    """IND-BUILD-05: no enterprise gets more than the least developed one plus one."""
    game = on(1, *levels)
    if legal:
        game.do(0, c.Build((1,)))
        assert game.level(1) == levels[0] + 1
    else:
        assert game.options("build") == []
        game.refused(0, c.Build((1,)), "uneven", "IND-BUILD-05")


def test_the_fifth_level_is_a_holding() -> None:
    """IND-BUILD-06: its four branches return, one holding is placed; a sixth level does not exist."""
    game = on(1, 4, 4, 4)
    assert game.supply == (20, 12)
    assert game.option("build").buildings == (BuildingChoice(1, 5, 50),)
    game.do(0, c.Build((1,)))
    assert (game.level(1), game.supply) == (5, (24, 11))
    game = on(1, 5, 5, 5)
    assert game.options("build") == []
    game.refused(0, c.Build((1,)), "top_level", "IND-BUILD-06")


def test_the_supply_is_common() -> None:
    """IND-BUILD-07: 32 branches and 12 holdings for the whole game, whoever builds."""
    assert a_game(2).supply == (32, 12)
    game = on(1, 1, 1, 1).owning_group(1, "it", 0, 0, 0)
    assert game.supply == (29, 12)
    game.do(0, c.Build((1,)))
    assert game.supply == (28, 12)
    game.at(1, 36).managing(1).do(1, c.Build((36,)))
    assert game.supply == (27, 12)


def test_without_a_piece_nobody_expands() -> None:
    """IND-BUILD-08: no branch left, until somebody collapses one of his."""
    game = a_game(3).owning_group(0, "bakery").at(0, 1).branches_left(0, holder=1).managing(0)
    assert game.options("build") == []
    game.refused(0, c.Build((1,)), "no_supply", "IND-BUILD-08")
    game.managing(1)
    built = game.option("sell_buildings").buildings[0]
    game.do(1, c.SellBuildings((built.cell,), built.to_level))
    assert game.supply[0] == 1
    game.managing(0).do(0, c.Build((1,)))
    assert game.supply[0] == 0


def test_without_a_holding_no_fifth_level() -> None:
    """IND-BUILD-08: though branches are left; the last holding can still be placed."""
    game = a_game(2).owning_group(0, "bakery", 4, 4, 4).at(0, 1).holdings_left(0, holder=1).managing(0)
    game.refused(0, c.Build((1,)), "no_supply", "IND-BUILD-08")
    assert game.options("build") == []
    game = a_game(2).owning_group(0, "bakery", 4, 4, 4).at(0, 1).holdings_left(1, holder=1).managing(0)
    assert game.option("build").buildings == (BuildingChoice(1, 5, 50),)
    game.do(0, c.Build((1,)))
    assert (game.level(1), game.supply[1]) == (5, 0)


def test_pieces_come_back_by_a_holding() -> None:
    """IND-BUILD-09: four branches when it is placed."""
    game = a_game(2).owning_group(0, "bakery", 4, 4, 4).at(0, 1).branches_left(0, holder=1).managing(0)
    game.do(0, c.Build((1,)))
    assert game.supply[0] == 4


def test_pieces_come_back_by_a_bank_sale() -> None:
    """IND-BUILD-09: all that stood on the cell."""
    game = a_game(3).owning_group(0, "bakery", 5, 5, 4).with_cash(0, 0).branches_left(3, holder=1).owing(0, 1000)
    holdings = game.supply[1]
    game.do(0, c.SellToBank(1))
    assert game.supply == (3, holdings + 1)
    game.do(0, c.SellToBank(4))
    assert game.supply == (7, holdings + 1)


def test_pieces_come_back_by_a_bankruptcy() -> None:
    """IND-BUILD-09: branches as branches, holdings as holdings."""
    game = a_game(3).owning_group(0, "bakery", 5, 4, 4).with_cash(0, 0).owing(0, 1000)
    assert game.supply == (24, 11)
    game.do(0, c.DeclareBankruptcy())
    assert game.supply == (32, 12)


@pytest.mark.parametrize(("group", "cell", "cost"), [("bakery", 1, 50), ("textile", 11, 100), ("medicine", 29, 150)])
def test_every_level_costs_the_same(group: str, cell: int, cost: int) -> None:
    """IND-BUILD-10: the build cost to the bank, the holding included."""
    for level in range(5):
        game = on(cell, level, level, level, group=group).do(0, c.Build((cell,)))
        assert game.money() == [(0, BANK, cost, "build")]
        assert game.event_names()[:3] == ["DecisionClosed", "MoneyMoved", "BuildingBuilt"]


def test_a_holding_needs_no_branch() -> None:
    """IND-BUILD-10: with no branch in the supply it is placed all the same, and a branch needs no holding."""
    game = a_game(2).owning_group(0, "bakery", 4, 4, 4).at(0, 1).branches_left(0, holder=1).managing(0)
    assert game.option("build").buildings == (BuildingChoice(1, 5, 50),)
    game.do(0, c.Build((1,)))
    assert game.level(1) == 5
    game = a_game(2).owning_group(0, "bakery", 3, 3, 3).at(0, 1).holdings_left(0, holder=1).managing(0)
    game.do(0, c.Build((1,)))
    assert game.level(1) == 4


def test_building_is_an_action_of_ones_own_turn_after_the_roll() -> None:
    """IND-BUILD-11: not before the roll, not in a rival's turn; it leaves the turn open."""
    game = a_game(2).owning_group(0, "bakery").at(0, 1).turn_of(0)
    game.refused(0, c.Build((1,)), "wrong_decision", "IND-PHASE-01")
    game.managing(1)
    game.refused(0, c.Build((1,)), "not_asked", "IND-PHASE-10")
    game.managing(0).do(0, c.Build((1,)))
    assert game.decision == ("manage", 0)


def test_completing_by_a_purchase_allows_a_branch_at_once() -> None:
    """IND-BUILD-12: the visit is still going on."""
    game = a_game(2).owning(0, "flour_mill", "pastry_workshop").landing(0, "bread_stall").do(0, c.Buy())
    game.do(0, c.Build((1,)))
    assert game.level(1) == 1


def test_completing_by_its_auction_allows_a_branch_at_once() -> None:
    """IND-BUILD-12: the declined cell was won."""
    game = a_game(2).owning(0, "flour_mill", "pastry_workshop").landing(0, "bread_stall").do(0, c.Decline())
    game.do(0, c.Bid(45)).do(1, c.Pass()).do(0, c.Build((1,)))
    assert game.level(1) == 1


def test_completing_by_a_trade_allows_a_branch_at_once() -> None:
    """IND-BUILD-12: while the token stands on one of its enterprises."""
    game = a_game(2).owning(0, "flour_mill", "pastry_workshop").owning(1, "bread_stall").landing(0, "flour_mill")
    game.do(0, c.OfferTrade(1, Basket(100), Basket(0, (1,)))).do(1, c.AcceptTrade()).do(0, c.Build((3,)))
    assert game.level(3) == 1


def test_collapsing_does_not_give_the_build_back() -> None:
    """IND-BUILD-13: at most one per visit, whatever is collapsed in it."""
    game = on(1).do(0, c.Build((1,))).do(0, c.SellBuildings((1,), 0))
    assert game.level(1) == 0
    game.refused(0, c.Build((1,)), "build_limit_used", "IND-BUILD-03")


def test_an_industry_without_one_cell_is_not_expanded_but_collapsed() -> None:
    """IND-BUILD-19: and expansion goes on at the least developed cell when the freed one is bought back."""
    game = a_game(2).owning_group(0, "bakery", 0, 2, 1).owning(BANK, "bread_stall").after_bank_sale_in("bakery")
    game.at(0, 4).managing(0)
    game.refused(0, c.Build((4,)), "group_incomplete", "IND-BUILD-01")
    game.do(0, c.SellBuildings((3,), 1))
    game.landing(0, "bread_stall").do(0, c.Buy())
    game.at(0, 3).refused(0, c.Build((3,)), "uneven", "IND-BUILD-05")
    game.at(0, 1).do(0, c.Build((1,)))
    assert game.state.levels[1:5] == [1, 0, 1, 1]
