"""Taxes, and the tax on rent (TAB-TAX)."""

from dataclasses import replace

import pytest

from services.rules.domain import commands as c
from services.rules.domain.parties import BANK
from tests.rules.tabletop.tables import FIVE, MINUTE_MS, a_table, online, rent_tax, tabletop
from tests.support.scenario import Game

#: (play time in ms, percent)
RATES = [
    (0, 0),
    (60 * MINUTE_MS - 1, 0),
    (60 * MINUTE_MS, 50),
    (75 * MINUTE_MS - 1, 50),
    (75 * MINUTE_MS, 75),
    (90 * MINUTE_MS - 1, 75),
    (90 * MINUTE_MS, 90),
    (105 * MINUTE_MS - 1, 90),
    (105 * MINUTE_MS, 99),
    (10_000 * MINUTE_MS, 99),
]


def at_time(ms: int, seats: int = 3) -> Game:
    """A table of rent-tax at this game time."""
    return rent_tax(seats).wait(ms)


@pytest.mark.parametrize(
    ("edition", "first", "second"), [(one, 200, 100) for one in FIVE[:4]] + [("rent-tax", 2000, 1000)]
)
def test_tax_cells(edition: str, first: int, second: int) -> None:
    """TAB-TAX-01: the cell's amount to the bank."""
    cells = [cell for cell, kind in enumerate(a_table(edition).edition.board.kind) if kind == "tax"]
    for cell, amount in zip(cells, (first, second), strict=True):
        game = a_table(edition).at(0, cell - 3).turn_of(0).roll(0, 1, 2)
        if game.decision == ("payment", 0):
            game.do(0, c.Pay())
        assert game.money() == [(0, BANK, amount, "tax")]


@pytest.mark.parametrize("ms", [45 * MINUTE_MS - 1, 45 * MINUTE_MS])
def test_the_salary_ends_with_minute_46(ms: int) -> None:
    """TAB-TAX-10, -14: 44:59.999 still pays, 45:00.000 does not; stopping on Start and cards are the same payment."""
    salary = [] if ms == 45 * MINUTE_MS else [(BANK, 0, 2000, "salary")]
    assert at_time(ms).owning(0, 1).at(0, 38).turn_of(0).roll(0, 1, 2).money() == salary
    assert at_time(ms).at(0, 37).turn_of(0).roll(0, 1, 2).money() == salary
    card = at_time(ms).top_cards("chance", "to_start").at(0, 19).turn_of(0).roll(0, 1, 2)
    assert card.money() == salary


def test_other_editions_pay_salaries_for_ever() -> None:
    """TAB-TAX-10: only rent-tax ends them, and only it taxes rent."""
    for game in (tabletop(), online()):
        game.wait(1000 * MINUTE_MS).owning(1, 3).at(0, 39).turn_of(0).roll(0, 1, 3)
        assert game.money() == [(BANK, 0, 200, "salary"), (0, 1, 4, "rent")]


@pytest.mark.parametrize(("ms", "percent"), RATES)
def test_what_the_owner_gets_of_a_rent(ms: int, percent: int) -> None:
    """TAB-TAX-11, -12, -14: the visitor pays in full; floor(rent × tax / 100) goes to the bank."""
    game = at_time(ms).owning(1, 39).at(0, 36).turn_of(0).roll(0, 1, 2).do(0, c.Pay())
    tax = 500 * percent // 100
    assert game.money() == [(0, 1, 500 - tax, "rent")] + ([(0, BANK, tax, "rent_tax")] if tax else [])
    assert (game.cash(0), game.cash(1)) == (14500, 15500 - tax)


def test_no_rent_leaves_its_owner_with_nothing() -> None:
    """TAB-TAX-12: of the least rent, 20, at 99 % the tax is 19."""
    game = at_time(105 * MINUTE_MS).owning(1, 1).at(0, 36).turn_of(0).roll(0, 2, 3).do(0, c.Pay())
    assert game.money() == [(0, 1, 1, "rent"), (0, BANK, 19, "rent_tax")]


def test_cards_that_bring_money_are_taxed() -> None:
    """TAB-TAX-13: `gain` is reduced at the receiver."""
    game = at_time(75 * MINUTE_MS).top_cards("chance", "found_wallet").at(0, 10).turn_of(0).roll(0, 1, 2)
    assert game.money() == [(BANK, 0, 63, "card")]


def test_each_part_of_collect_each_is_taxed() -> None:
    """TAB-TAX-13: what payers pay is not reduced."""
    game = at_time(60 * MINUTE_MS).top_cards("chance", "anniversary").at(0, 10).turn_of(0).roll(0, 1, 2)
    game.do(1, c.Pay())
    assert game.money() == [(1, 0, 150, "card"), (1, BANK, 150, "rent_tax")]
    game.do(2, c.Pay())
    assert game.state.cash == [15300, 14700, 14700]


def test_each_part_of_pay_each_is_taxed() -> None:
    """TAB-TAX-13: at each receiver."""
    game = at_time(90 * MINUTE_MS).top_cards("chance", "party").at(0, 10).turn_of(0).roll(0, 1, 2).do(0, c.Pay())
    assert game.money() == [
        (0, 1, 50, "card"),
        (0, BANK, 450, "rent_tax"),
        (0, 2, 50, "card"),
        (0, BANK, 450, "rent_tax"),
    ]


def test_what_is_never_taxed() -> None:
    """TAB-TAX-13: payments to the bank by card, taxes, fines, deals, auctions, mortgages and sales."""
    late = 105 * MINUTE_MS
    card = at_time(late).top_cards("chance", "lawsuit").at(0, 10).turn_of(0).roll(0, 1, 2).do(0, c.Pay())
    assert card.money() == [(0, BANK, 1500, "card")]
    assert at_time(late).at(0, 35).turn_of(0).roll(0, 1, 2).do(0, c.Pay()).money() == [(0, BANK, 1000, "tax")]
    assert at_time(late).in_jail(0).turn_of(0).do(0, c.PayFine()).money() == [(0, BANK, 500, "fine")]
    deal = at_time(late).owning(0, 39).turn_of(0)
    deal.do(0, c.OfferTrade(1, c.Basket(cells=(39,)), c.Basket(4000))).do(1, c.AcceptTrade())
    assert deal.money() == [(1, 0, 4000, "trade")]
    assert at_time(late).owning(0, 39).turn_of(0).do(0, c.Mortgage(39)).money() == [(BANK, 0, 2000, "mortgage")]
    sale = at_time(late).owning_group(0, "tea", 1, 1).turn_of(0).do(0, c.SellBuildings((4,), 0))
    assert sale.money() == [(BANK, 0, 250, "building_sale")]
    auction = at_time(late).at(0, 36).turn_of(0).roll(0, 1, 2).do(0, c.Decline())
    assert auction.do(1, c.Bid(10)).do(2, c.Pass()).do(0, c.Pass()).money() == [(1, BANK, 10, "auction")]


def test_game_time_runs_from_the_first_turn() -> None:
    """TAB-TAX-15: a game that began at play time 7 minutes pays salaries until minute 52 of it."""
    game = rent_tax().owning(0, 1)
    game.state.config = replace(game.state.config, started_at_ms=7 * MINUTE_MS)
    game.wait(52 * MINUTE_MS - 1).at(0, 38).turn_of(0).roll(0, 1, 2)
    assert game.money() == [(BANK, 0, 2000, "salary")]
    game.wait(1).at(0, 38).turn_of(0).roll(0, 1, 2)
    assert game.money() == []


def test_the_stamp_of_the_roll_counts() -> None:
    """TAB-TAX-15: the turn began before, the roll came after minute 46 had begun."""
    game = at_time(45 * MINUTE_MS - 1).owning(0, 1).at(0, 38).turn_of(0)
    assert game.roll(0, 1, 2, after_ms=1).money() == []


def test_a_debt_keeps_the_rate_of_the_moment_it_arose() -> None:
    """TAB-TAX-15: paying late changes nothing."""
    game = at_time(75 * MINUTE_MS - 1).owning(1, 39).at(0, 36).turn_of(0).roll(0, 1, 2)
    game.do(0, c.Pay(), after_ms=60_000)
    assert game.money() == [(0, 1, 250, "rent"), (0, BANK, 250, "rent_tax")]


def test_no_game_goes_on_for_ever() -> None:
    """TAB-TAX-16: when the last rate is reached, laps bring nothing and rents between equals leave the game."""
    game = at_time(106 * MINUTE_MS, 2).owning(1, 39).owning(0, 37)
    total = sum(game.state.cash)
    for _ in range(20):
        game.at(0, 36).turn_of(0).roll(0, 1, 2).do(0, c.Pay())
        game.at(1, 34).turn_of(1).roll(1, 1, 2).do(1, c.Pay())
    assert sum(game.state.cash) == total - 20 * (495 + 346)
