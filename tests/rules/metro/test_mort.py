"""Mortgages and their timer (MET-MORT)."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.events import DeedMortgaged, DeedMoved, DeedRedeemed, MoneyMoved, MortgageReminded
from services.rules.domain.parties import BANK
from tests.rules.metro.games import METRO, SPEED, both, metro
from tests.support.scenario import Game


def waiting(edition: str, round_number: int, since: int = 1, *cells: int) -> Game:
    """Seat 0 (the first player) is about to roll in a round, with fields mortgaged since another."""
    deeds = cells or (5,)
    return metro(2, edition).owning(0, *deeds).mortgaged(*deeds, since=since).in_round(round_number).turn_of(0)


@both
@pytest.mark.parametrize(("cell", "value"), [(1, 300), (39, 2000), (37, 1750), (5, 1000), (12, 750)])
def test_a_mortgage_brings_half_the_price(edition: str, cell: int, value: int) -> None:
    """MET-MORT-01: and from then on the field takes no rent."""
    game = metro(2, edition).owning(0, cell).in_round(4).turn_of(0).do(0, c.Mortgage(cell))
    assert game.money() == [(BANK, 0, value, "mortgage")]
    assert game.events_of(DeedMortgaged) == [DeedMortgaged(cell, 4)]
    game.at(1, (cell - 3) % 40).turn_of(1).roll(1, 1, 2)
    assert "rent" not in {payment[3] for payment in game.money()}


def test_what_cannot_be_mortgaged() -> None:
    """MET-MORT-01: others' fields, cells that are none, and what is mortgaged."""
    game = metro(2).owning(0, 5).owning(1, 15).mortgaged(5).turn_of(0)
    game.refused(0, c.Mortgage(15), "not_owner", "MET-MORT-01", {"cell": 15})
    game.refused(0, c.Mortgage(25), "not_owner", "MET-MORT-01", {"cell": 25})
    game.refused(0, c.Mortgage(5), "already_mortgaged", "MET-MORT-01", {"cell": 5})
    assert game.refused(0, c.Mortgage(0), "unknown_cell", "MET-TIME-12").fields == {"cell": 0}


@both
def test_the_group_must_be_bare(edition: str) -> None:
    """MET-MORT-02: all buildings of the group are sold first."""
    game = metro(2, edition).owning_group(0, "blue", 0, 1).turn_of(0)
    game.refused(0, c.Mortgage(37), "built", "MET-MORT-02", {"cell": 37})
    game.refused(0, c.Mortgage(39), "built", "MET-MORT-02", {"cell": 39})
    assert not game.options("mortgage")
    game.do(0, c.SellBuildings((39,), 0)).do(0, c.Mortgage(37)).do(0, c.Mortgage(39))


@both
@pytest.mark.parametrize(("cell", "cost"), [(1, 330), (39, 2200), (37, 1925), (5, 1100), (12, 825)])
def test_redeeming_costs_55_percent(edition: str, cell: int, cost: int) -> None:
    """MET-MORT-03, MET-MORT-04: the mortgage value and 10% of it."""
    game = metro(2, edition).owning(0, cell).mortgaged(cell).turn_of(0).do(0, c.Redeem(cell))
    assert game.money() == [(0, BANK, cost, "redemption")]
    assert game.events_of(DeedRedeemed) == [DeedRedeemed(cell)]
    assert game.state.mortgaged_rounds[cell] == 0


@both
def test_redeeming_needs_the_cash(edition: str) -> None:
    """MET-MORT-05: exactly the cost suffices, one less does not; not in a payment."""
    game = metro(2, edition).owning(0, 5, 15).mortgaged(5).with_cash(0, 1099).turn_of(0)
    game.refused(0, c.Redeem(5), "not_enough_cash", "MET-MORT-05", {"least": 1100})
    game.refused(0, c.Redeem(15), "not_mortgaged", "MET-MORT-03", {"cell": 15})
    game.refused(0, c.Redeem(25), "not_owner", "MET-MORT-03", {"cell": 25})
    game.with_cash(0, 1100).do(0, c.Redeem(5))
    assert game.cash(0) == 0
    game = metro(2, edition).owning(0, 5).mortgaged(5).at(0, 1).turn_of(0).roll(0, 1, 2)
    game.refused(0, c.Redeem(5), "wrong_decision", "MET-DEBT-06")


def test_a_mortgage_runs_out_after_ten_rounds_in_the_speed_mode() -> None:
    """MET-MORT-06, MET-MORT-08: at the end of the owner's turn in round r + 10; the field can be bought again."""
    game = waiting(SPEED, 10, 1).expire()
    assert (game.owner(5), game.events_of(DeedMoved)) == (0, [])
    game = waiting(SPEED, 11, 1)
    game.do(0, c.Redeem(5)).expire()
    assert game.owner(5) == 0
    game = waiting(SPEED, 11, 1).expire()
    assert game.events_of(DeedMoved) == [DeedMoved(5, 0, BANK, "lapse")]
    assert (game.owner(5), game.state.mortgaged_rounds[5], game.decision) == (BANK, 0, ("roll", 1))
    game.roll(1, 1, 3, third=1)
    assert game.decision == ("purchase", 1)


def test_in_metro_a_mortgage_never_runs_out() -> None:
    """MET-MORT-07: nor is anybody reminded."""
    game = waiting(METRO, 400, 1).expire()
    assert game.owner(5) == 0
    assert not game.expire().events_of(MortgageReminded)


def test_the_owner_is_reminded_each_turn() -> None:
    """MET-MORT-07, MET-MORT-08: r + 10 minus the round: 9 in round r + 1, down to 0 in round r + 10."""
    for ahead in range(1, 11):
        game = metro(2, SPEED).owning(0, 5).mortgaged(5, since=20).in_round(19 + ahead).turn_of(1).expire()
        assert game.state.round == 20 + ahead
        assert game.events_of(MortgageReminded) == [MortgageReminded(5, 10 - ahead)]
        names = game.event_names()
        assert names.index("TurnStarted") < names.index("MortgageReminded") < names.index("DecisionOpened")


def test_no_reminder_in_the_round_of_the_mortgage() -> None:
    """MET-MORT-08: nor to others."""
    game = metro(2, SPEED).owning(1, 5).mortgaged(5, since=3).in_round(3).turn_of(0).expire()
    assert not game.events_of(MortgageReminded)
    game = metro(3, SPEED).owning(0, 5).mortgaged(5, since=3).in_round(4).turn_of(1).expire()
    assert not game.events_of(MortgageReminded)


def test_a_field_mortgaged_in_anothers_turn_counts_from_that_round() -> None:
    """MET-MORT-08: ten own turns after the round of mortgaging are available."""
    game = metro(2, SPEED).owning(1, 5).with_cash(1, 0).in_round(2).top_cards("chance", "yard_concert").turn_of(0)
    game.roll(0, 3, 4).do(1, c.Mortgage(5))
    assert game.state.mortgaged_rounds[5] == 2
    game.in_round(12).do(1, c.Pay())
    assert game.decision == ("roll", 1)
    assert game.expire().owner(5) == BANK


def test_a_turn_that_ends_in_jail_is_the_last_chance_too() -> None:
    """MET-MORT-08: at the end of the turn, however it ends; in an extra throw the turn is still on."""
    game = waiting(SPEED, 11, 1).at(0, 26).roll(0, 1, 2, third=1)
    assert (game.position(0), game.owner(5)) == (10, BANK)
    game = waiting(SPEED, 11, 1).at(0, 17).roll(0, 1, 1, third=2)
    assert (game.decision, game.owner(5)) == (("purchase", 0), 0)


def test_several_run_out_in_cell_order() -> None:
    """MET-MORT-09: no money moves; those of later rounds stay."""
    game = waiting(SPEED, 11, 1, 35, 5, 12).owning(0, 15).mortgaged(15, since=2).expire()
    assert [move.cell for move in game.events_of(DeedMoved)] == [5, 12, 35]
    assert not game.events_of(MoneyMoved)
    assert [game.state.mortgaged_rounds[cell] for cell in (5, 12, 35, 15)] == [0, 0, 0, 2]


def test_a_later_mortgage_starts_a_new_count() -> None:
    """MET-MORT-09: redeemed and mortgaged anew in round 11, it runs out in round 21."""
    game = waiting(SPEED, 11, 1).do(0, c.Redeem(5)).do(0, c.Mortgage(5)).expire()
    assert (game.owner(5), game.state.mortgaged_rounds[5]) == (0, 11)
    game.in_round(20).at(0, 12).turn_of(0).roll(0, 3, 4, third=1)
    assert (game.owner(5), game.decision) == (0, ("roll", 1))
    game.in_round(21).at(0, 12).turn_of(0).roll(0, 3, 4, third=1)
    assert (game.owner(5), game.decision) == (BANK, ("roll", 1))
