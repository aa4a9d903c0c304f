"""Rent (IND-RENT)."""

from dataclasses import replace

import pytest

from services.rules.domain.events import PaymentDue
from services.rules.domain.moves.rent import rent_due
from services.rules.domain.parties import BANK, NONE
from services.rules.domain.state import Claim
from tests.support.scenario import a_game


def test_stopping_on_anothers_business_costs_rent() -> None:
    """IND-RENT-01: paid to the owner, whoever else plays."""
    game = a_game(3).owning(2, "grain_elevator").at(0, 4).turn_of(0).roll(0, 2, 3)
    assert game.money() == [(0, 2, 14, "rent")]
    assert (game.state.cash, game.decision) == ([1486, 1500, 1514], ("manage", 0))


@pytest.mark.parametrize(
    ("cell", "rent"),
    [("bread_stall", 6), ("pastry_workshop", 10), ("sewing_workshop", 18), ("shipyard", 48), ("robotics_lab", 64)],
)
def test_base_rent(cell: str, rent: int) -> None:
    """IND-RENT-02: without buildings the base rent, while the industry is not whole."""
    game = a_game(3).owning(1, cell).landing(0, cell)
    assert game.money() == [(0, 1, rent, "rent")]
    group = game.edition.board.group[game.cell(cell)]
    game = a_game(3).owning_group(2, group).owning(1, cell).landing(0, cell)
    assert game.money() == [(0, 1, rent, "rent")]
    cells = [other for other in game.edition.board.group_cells[group] if other != game.cell(cell)]
    game = a_game(3).owning(1, cell, cells[0]).landing(0, cell)
    assert game.money() == [(0, 1, rent, "rent")]


@pytest.mark.parametrize(
    ("group", "cell", "doubled"),
    [("bakery", "bread_stall", 12), ("bakery", "pastry_workshop", 20), ("it", "robotics_lab", 128)],
)
def test_a_whole_industry_doubles_the_base_rent(group: str, cell: str, doubled: int) -> None:
    """IND-RENT-03: on a bare enterprise, even if the other two have branches."""
    game = a_game(2).owning_group(1, group).landing(0, cell)
    assert game.money() == [(0, 1, doubled, "rent")]
    levels = [int(other != game.cell(cell)) for other in game.edition.board.group_cells[group]]
    game = a_game(2).owning_group(1, group, *levels).landing(0, cell)
    assert game.money() == [(0, 1, doubled, "rent")]


@pytest.mark.parametrize("level", [1, 2, 3, 4, 5])
def test_with_buildings_rent_follows_the_table(level: int) -> None:
    """IND-RENT-04: level by level, and nothing is doubled."""
    rents = {1: 160, 2: 440, 3: 820, 4: 1075, 5: 1325}
    game = a_game(2).owning_group(1, "construction", level, level, level).landing(0, "design_bureau")
    assert game.money() == [(0, 1, rents[level], "rent")]


@pytest.mark.parametrize(
    ("owned", "rent"),
    [
        (("river_port",), 25),
        (("river_port", "freight_station"), 50),
        (("river_port", "cargo_airport"), 50),
        (("river_port", "freight_station", "cargo_airport"), 120),
    ],
)
def test_rent_of_logistics(owned: tuple[str, ...], rent: int) -> None:
    """IND-RENT-05: 25, 50 or 120 by how many the owner of this one has; those of others do not count."""
    game = a_game(3).owning(2, "freight_station", "cargo_airport").owning(1, *owned).landing(0, "river_port")
    assert game.money() == [(0, 1, rent, "rent")]


@pytest.mark.parametrize(
    ("owned", "dice", "rent"),
    [
        (("power_grid",), (1, 2), 12),
        (("power_grid",), (6, 6), 48),
        (("power_grid", "water_supply"), (1, 2), 30),
        (("power_grid", "water_supply"), (5, 6), 110),
    ],
)
def test_rent_of_utilities(owned: tuple[str, ...], dice: tuple[int, int], rent: int) -> None:
    """IND-RENT-06: 4 or 10 times the sum of the dice."""
    game = a_game(2).owning(1, *owned).at(0, 12 - sum(dice)).turn_of(0).roll(0, *dice)
    assert game.money() == [(0, 1, rent, "rent")]


def test_a_card_to_a_utility_uses_the_roll_being_resolved() -> None:
    """IND-RENT-07: no second roll; the dice are those of this turn."""
    game = a_game(2).owning(1, "power_grid").at(0, 1).top_cards("market", "unexpected_trip").turn_of(0)
    game.state.last_roll = (6, 6)
    draws = game.state.draws
    # from 7 with nothing remembered, cell 12 is candidate number 11
    game.roll(0, 2, 4, 11)
    assert game.money() == [(0, 1, 24, "rent")]
    assert game.state.draws == draws + 3


def test_an_owner_in_inspection_receives_rent() -> None:
    """IND-RENT-08: as ever."""
    game = a_game(2).owning(1, "river_port").in_jail(1).landing(0, "river_port")
    assert game.money() == [(0, 1, 25, "rent")]


@pytest.mark.parametrize("tries", [0, 1, 2])
def test_taking_rent_in_inspection_is_a_switch_of_the_edition(tries: int) -> None:
    """IND-RENT-08: switched off, an owner in inspection takes nothing, and one who is free still does."""
    game = a_game(2).owning(1, "river_port").in_jail(1, tries)
    game.edition = replace(game.edition, jailed_owner_rent=False)
    assert rent_due(game.edition, game.state, 18) == 0
    game.state.jail_tries[1] = NONE
    assert rent_due(game.edition, game.state, 18) == 25


def test_rent_is_taken_when_there_is_money_and_is_a_debt_otherwise() -> None:
    """IND-RENT-09: cash equal to the rent is enough; with one less the whole rent is owed."""
    game = a_game(2).owning(1, "river_port").with_cash(0, 25).landing(0, "river_port")
    assert (game.money(), game.cash(0)) == ([(0, 1, 25, "rent")], 0)
    game = a_game(2).owning(1, "river_port").with_cash(0, 24).landing(0, "river_port")
    assert (game.money(), game.state.cash) == ([], [24, 1500])
    assert game.events_of(PaymentDue) == [PaymentDue(1, 0, (Claim(1, 25),), "rent", 18)]
    assert game.decision == ("payment", 0)


def test_ones_own_business_costs_nothing() -> None:
    """IND-RENT-09: nobody pays himself, and nothing is asked."""
    game = a_game(2).owning_group(0, "it", 1, 1, 1).at(0, 35).turn_of(0).roll(0, 1, 3)
    assert (game.money(), game.position(0), game.decision) == ([], 39, ("manage", 0))


def test_a_mortgaged_business_would_bring_nothing() -> None:
    """IND-RENT-01: what every business of this edition brings, a mortgaged one of another edition does not."""
    game = a_game(2).owning_group(1, "bakery")
    assert rent_due(game.edition, game.state, 1) == 12
    game.state.mortgaged_rounds[3] = 1
    assert [rent_due(game.edition, game.state, cell) for cell in (1, 3)] == [6, 0]


def test_rent_in_an_industry_that_is_no_longer_whole() -> None:
    """IND-RENT-10: built enterprises bring the rent of their level, an unbuilt one its base rent undoubled."""
    game = a_game(3).owning_group(1, "agro", 0, 1, 0).owning(BANK, "grain_elevator").after_bank_sale_in("agro")
    assert game.landing(0, "dairy_farm").money() == [(0, 1, 55, "rent")]
    assert game.landing(0, "sunflower_farm").money() == [(0, 1, 12, "rent")]
