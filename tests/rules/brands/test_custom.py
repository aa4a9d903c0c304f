"""Custom tables: one of the four modes with some of its parameters changed (BRA-TABLE-06 to -11)."""

import json

import pytest

from services.rules.application.new_games import real_changes
from services.rules.domain import commands as c
from services.rules.domain.events import DiceRolled
from services.rules.domain.parties import BANK
from services.rules.editions.ports import OverrideError
from services.rules.editions.shelf import with_overrides
from tests.rules.brands.games import (
    BRANDS,
    BRAWL,
    FAST,
    TEAMS,
    brands,
    every_mode,
    in_minute,
    pass_turn,
    third_die_modes,
)
from tests.support.positions import CATALOGUE
from tests.support.scenario import Game, a_game

NEVER = None

#: parameter -> (values that are allowed, values that are not)
RANGES: dict[str, tuple[list[object], list[object]]] = {
    "start_cash": ([5000, 5500, 50000], [4500, 4999, 5250, 50500, 0, -5000, NEVER, True, "much", 5000.5]),
    "turn_s": ([30, 35, 120], [25, 29, 31, 125, 0, NEVER]),
    "salary_end_minute": ([1, 2, 120, NEVER], [0, 121, -1, 1.5]),
    "rent_tax_start": ([1, 2, 180, NEVER], [0, 181]),
    "mortgage_rounds": ([1, 30, NEVER], [0, 31]),
    "build_even": ([True, False], [NEVER, 1, 2, "yes"]),
    "build_limit": (["group_turn", NEVER], ["visit", "street_turn", 1]),
    "third_die_from_round": ([8, NEVER], [7, 9, 1, 0]),
}


def changed(edition: str, name: str, value: object) -> object:
    """The value of a parameter at a table that overrides it."""
    flat = CATALOGUE.get(edition).at("mixed")
    return getattr(with_overrides(flat, ((name, json.dumps(value)),)), name)


@pytest.mark.parametrize("name", RANGES)
@every_mode
def test_what_a_table_may_change(edition: str, name: str) -> None:
    """BRA-TABLE-06, BRA-TABLE-08: these keys within these ranges, on any of the four bases."""
    for value in RANGES[name][0]:
        assert changed(edition, name, value) == value
    assert {item.parameter for item in CATALOGUE.get(edition).overrides} == set(RANGES)


@pytest.mark.parametrize("name", RANGES)
@every_mode
def test_values_out_of_range(edition: str, name: str) -> None:
    """BRA-TABLE-09: refused when the table is created."""
    for value in RANGES[name][1]:
        with pytest.raises(OverrideError) as refused:
            changed(edition, name, value)
        assert refused.value.fields["parameter"] == name


@pytest.mark.parametrize("name", ["salary", "bid_s", "jail_fine", "seats", "board", "deal_deeds", "rated"])
def test_nothing_else_can_be_changed(name: str) -> None:
    """BRA-TABLE-08: everything else is the base's."""
    with pytest.raises(OverrideError, match=f"{name} cannot be changed in brands"):
        changed(BRANDS, name, 1)


def test_the_rest_is_the_bases() -> None:
    """BRA-TABLE-08: a brawl with other money is still dealt out."""
    game = a_game(3, edition=BRAWL, overrides={"start_cash": 10000})
    assert game.state.cash == [10000] * 3
    assert game.state.owners.count(BANK) == 40 - 27


@every_mode
def test_only_values_that_differ_are_changes(edition: str) -> None:
    """BRA-TABLE-10: a table without any change is an ordinary one."""
    base = CATALOGUE.get(edition).at("mixed")
    same = tuple((name, json.dumps(getattr(base, name))) for name in RANGES)
    assert real_changes(base, with_overrides(base, same), same) == ()
    mixed = (("start_cash", json.dumps(base.start_cash)), ("turn_s", "30"))
    assert real_changes(base, with_overrides(base, mixed), mixed) == (("turn_s", "30"),)


def third_dice(game: Game, number: int) -> int:
    """The third die of a throw in this round; 0 if there is none."""
    game.in_round(number).at(0, 7).turn_of(0).upcoming_draws(0, 1, 0).do(0, c.Roll())
    return game.events_of(DiceRolled)[0].third


@pytest.mark.parametrize("edition", [BRANDS, TEAMS])
def test_the_third_die_switched_on(edition: str) -> None:
    """BRA-TABLE-11: from round 8, in any base; a triple gives no extra throw there either."""
    overrides = {"third_die_from_round": 8}
    assert [third_dice(brands(edition, overrides=overrides), number) for number in (7, 8)] == [0, 1]
    game = brands(edition, overrides=overrides).in_round(8).turn_of(0).roll(0, 2, 2, third=2).do(0, c.ChooseCell(10))
    assert game.decision == ("roll", 1)


@third_die_modes
def test_the_third_die_switched_off(edition: str) -> None:
    """BRA-TABLE-11: never."""
    assert third_dice(brands(edition, overrides={"third_die_from_round": None}), 50) == 0


def test_salary_and_tax_are_independent() -> None:
    """BRA-TABLE-11: taxed from the first minute with salary for ever, and the other way round."""
    overrides = {"salary_end_minute": None, "rent_tax_start": 1}
    game = in_minute(brands(overrides=overrides), 500).at(0, 38).turn_of(0).roll(0, 1, 2)
    assert game.money() == [(BANK, 0, 2000, "salary")]
    game = brands(overrides=overrides).owning(1, 39).landing(0, 39).do(0, c.Pay())
    assert game.money() == [(0, 1, 250, "rent"), (0, BANK, 250, "rent_tax")]
    overrides = {"salary_end_minute": 1, "rent_tax_start": None}
    game = brands(overrides=overrides).at(0, 38).turn_of(0).roll(0, 1, 2)
    assert game.money() == []
    game = in_minute(brands(overrides=overrides), 500).owning(1, 39).landing(0, 39).do(0, c.Pay())
    assert game.money() == [(0, 1, 500, "rent")]


@pytest.mark.parametrize(("rounds", "lapses"), [(1, True), (2, False), (NEVER, False)])
def test_how_long_a_mortgage_lasts(rounds: int | None, lapses: bool) -> None:
    """BRA-TABLE-06, BRA-TABLE-11: `never` also stops the lapse auctions."""
    game = brands(overrides={"mortgage_rounds": rounds}).owning(0, 39).mortgaged(39, since=4).in_round(5).turn_of(0)
    assert (pass_turn(game, 0).decision == ("auction_bid", 1)) == lapses
    if rounds is NEVER:
        game.in_round(1000).turn_of(0)
        assert pass_turn(game, 0).decision == ("roll", 1)


def test_how_building_works() -> None:
    """BRA-TABLE-06: evenly or not, once per group and turn or without limit."""
    game = brands(overrides={"build_even": False, "build_limit": None}).owning_group(0, "drinks").turn_of(0)
    for level in (1, 2, 3):
        assert game.do(0, c.Build((6,))).level(6) == level
    game = brands(FAST, overrides={"build_even": True}).owning_group(0, "drinks", 1, 0, 0).turn_of(0)
    game.refused(0, c.Build((6,)), "uneven", "BRA-BUILD-04")
    game = brands(BRAWL, overrides={"build_limit": "group_turn"}).owning_group(0, "drinks").turn_of(0)
    game.do(0, c.Build((6,))).refused(0, c.Build((8,)), "build_limit_used", "BRA-BUILD-06")


def test_demolition_where_building_is_even() -> None:
    """BRA-TABLE-08, BRA-CARD-11: the card may leave a group uneven; the lowest brand is built on first."""
    game = (
        brands(BRAWL, overrides={"build_even": True})
        .owning_group(1, "drinks", 1, 1, 2)
        .top_cards("chance", "demolition_order")
    )
    game.turn_of(0).roll(0, 3, 4).do(0, c.ChooseBuilding(6))
    assert [game.level(cell) for cell in (6, 8, 9)] == [0, 1, 2]
    game.refused(1, c.Build((8,)), "uneven", "BRA-BUILD-04")
    assert game.do(1, c.Build((6,))).level(6) == 1


@pytest.mark.parametrize("seconds", [30, 120])
def test_the_turn_timer(seconds: int) -> None:
    """BRA-TABLE-06: of the whole turn, the reserve included."""
    game = brands(overrides={"turn_s": seconds}).turn_of(0)
    assert game.deadline == ("turn", seconds * 1000)
    assert game.edition.turn_reserve_s == 15
