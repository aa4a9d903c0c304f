"""Rent, the rent tax, and tax cells (BRA-RENT, BRA-TAX)."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.events import PaymentDue
from services.rules.domain.parties import BANK
from services.rules.domain.state import Claim
from tests.rules.brands.games import (
    BRANDS,
    BRAWL,
    BUS,
    FAST,
    FINANCE,
    INCOME_TAX,
    LUXURY_TAX,
    MINUTE_MS,
    TEAMS,
    brands,
    drawing,
    every_mode,
    in_minute,
)
from tests.support.scenario import Game

TAX_STARTS = {BRANDS: 61, FAST: 40, BRAWL: 40, TEAMS: 61}


def rent_of(game: Game, cell: int, dice: tuple[int, int] = (1, 2)) -> int:
    """Units that seat 0 owes for landing on a cell; 0 for nothing."""
    game.landing(0, cell, dice)
    due = game.events_of(PaymentDue)
    return sum(claim.amount for claim in due[0].claims) if due else 0


@every_mode
def test_rent_goes_to_the_owner(edition: str) -> None:
    """BRA-RENT-01: of the property landed on."""
    game = brands(edition).owning(1, 39).landing(0, 39)
    assert game.events_of(PaymentDue) == [PaymentDue(1, 0, (Claim(1, 500),), "rent", 39)]
    assert game.do(0, c.Pay()).money() == [(0, 1, 500, "rent")]


@every_mode
def test_rent_grows_with_levels(edition: str) -> None:
    """BRA-RENT-02: `rent0` to `rent5`."""
    for level, rent in enumerate((1000, 2000, 6000, 14000, 17000, 20000)):
        assert rent_of(brands(edition).owning_group(1, "technology", level, level), 39) == rent
    board = brands(edition).edition.board
    for cell in board.streets:
        assert list(board.rents[cell]) == sorted(set(board.rents[cell]))
        for level in range(1, 6):
            game = brands(edition).owning_group(1, board.group[cell], *[level] * 3)
            assert rent_of(game, cell) == board.rents[cell][level]


@every_mode
def test_a_monopoly_doubles_the_base_rent(edition: str) -> None:
    """BRA-RENT-03, BRA-RENT-04: one owner of the whole group, whether or not another brand is built on."""
    assert rent_of(brands(edition).owning(1, 37), 37) == 350
    assert rent_of(brands(edition).owning_group(1, "technology"), 37) == 700
    assert rent_of(brands(edition).owning_group(1, "technology", 0, 1), 37) == 700
    assert rent_of(brands(edition).owning(1, 37).owning(2, 39), 37) == 350


@every_mode
def test_a_mortgage_ends_the_doubling(edition: str) -> None:
    """BRA-RENT-04: of any brand in the group."""
    assert rent_of(brands(edition).owning_group(1, "technology").mortgaged(39), 37) == 350


def test_allies_do_not_add_up() -> None:
    """BRA-RENT-04: neither for monopolies nor for finance or industry."""
    assert rent_of(brands(TEAMS).owning(1, 37).owning(3, 39), 37) == 350
    assert rent_of(brands(TEAMS).owning(1, 5, 15).owning(3, 25, 35), 5) == 500
    assert rent_of(brands(TEAMS).owning(1, 12).owning(3, 28), 12) == 120


@pytest.mark.parametrize(("owned", "rent"), [(1, 250), (2, 500), (3, 1000), (4, 2000)])
@every_mode
def test_finance(edition: str, owned: int, rent: int) -> None:
    """BRA-RENT-05: by the number owned, mortgaged ones counted."""
    assert rent_of(brands(edition).owning(1, *FINANCE[:owned]), 5) == rent
    assert rent_of(brands(edition).owning(1, *FINANCE[:owned]).mortgaged(*FINANCE[1:owned]), 5) == rent


@every_mode
def test_industry(edition: str) -> None:
    """BRA-RENT-05: the white sum times 40 with one and times 100 with both, a mortgaged one counted."""
    assert rent_of(brands(edition).owning(1, 12), 12, (2, 5)) == 280
    assert rent_of(brands(edition).owning(1, 12, 28), 12, (2, 5)) == 700
    assert rent_of(brands(edition).owning(1, 12, 28).mortgaged(28), 12, (6, 6)) == 1200


def test_industry_counts_the_white_sum_of_the_latest_throw() -> None:
    """BRA-RENT-06: whatever the third die shows and whatever brought the token there; no new throw."""
    game = brands(FAST).in_round(8).owning(1, 12).at(0, 2).turn_of(0).roll(0, 3, 4, third=3)
    assert game.option("pay").amount == 280
    game = brands(FAST).in_round(8).owning(1, 12).at(0, 8).turn_of(0).roll(0, 4, 6, third=BUS)
    assert game.do(0, c.ChooseMove("first")).option("pay").amount == 400
    game = drawing("plant_visit").owning(1, 12, 28).roll(0, 3, 4)
    assert game.option("pay").amount == 700
    game = brands().owning(1, 12).in_jail(0).at(0, 10).turn_of(0).roll(0, 1, 1)
    assert game.option("pay").amount == 80
    game = brands().owning(1, 12).at(0, 4).turn_of(0).roll(0, 3, 3).at(0, 9)
    assert game.roll(0, 1, 2).option("pay").amount == 120


@every_mode
def test_no_rent(edition: str) -> None:
    """BRA-RENT-07: a mortgaged property brings none, nor any whose owner sits in jail."""
    assert rent_of(brands(edition).owning(1, 39).mortgaged(39), 39) == 0
    for cell in (39, 5, 12):
        assert rent_of(brands(edition).owning(1, cell).in_jail(1), cell) == 0
        assert rent_of(brands(edition).owning(1, cell).at(1, 10), cell) > 0


def test_allies_pay_each_other_no_rent() -> None:
    """BRA-RENT-08: in teams; opponents do."""
    for cell in (39, 5, 12):
        assert rent_of(brands(TEAMS).owning(2, cell), cell) == 0
        assert rent_of(brands(TEAMS).owning(1, cell), cell) > 0


@every_mode
def test_the_tax_is_withheld_when_rent_is_collected(edition: str) -> None:
    """BRA-RENT-09, BRA-RENT-13: the payer owes the full rent."""
    game = in_minute(brands(edition), TAX_STARTS[edition]).owning(1, 39).landing(0, 39)
    assert game.events_of(PaymentDue)[0].tax_rate == 50
    assert game.option("pay").amount == 500
    game.do(0, c.Pay())
    assert game.money() == [(0, 1, 250, "rent"), (0, BANK, 250, "rent_tax")]


@every_mode
def test_when_the_tax_begins(edition: str) -> None:
    """BRA-RENT-10: with the first moment of minute 61, in the fast modes of minute 40."""
    start = TAX_STARTS[edition]
    for ms, rate in ((-1, 0), (0, 50)):
        game = in_minute(brands(edition), start, ms=ms).owning(1, 39).landing(0, 39)
        assert game.events_of(PaymentDue)[0].tax_rate == rate


@pytest.mark.parametrize("minutes", range(40))
@pytest.mark.parametrize("edition", [BRANDS, FAST])
def test_the_rate_grows(edition: str, minutes: int) -> None:
    """BRA-RENT-11, BRA-RENT-12: min(99, 50 + 10 x floor((m - S) / 5)), to the last moment of each minute."""
    rate = min(99, 50 + 10 * (minutes // 5))
    for ms in (0, MINUTE_MS - 1):
        game = in_minute(brands(edition), TAX_STARTS[edition] + minutes, ms=ms).owning(1, 39).landing(0, 39)
        assert game.events_of(PaymentDue)[0].tax_rate == rate
    assert [min(99, 50 + 10 * (later // 5)) for later in (4, 5, 24, 25, 39)] == [50, 60, 90, 99, 99]


def test_the_rate_is_that_of_the_moment_when_the_rent_fell_due() -> None:
    """BRA-RENT-13: a payer costs the owner nothing by waiting; the bank's part is rounded down."""
    game = in_minute(brands(), 66, ms=-1000).owning(1, 1).landing(0, 1).do(0, c.Pay(), after_ms=5000)
    assert game.money() == [(0, 1, 10, "rent"), (0, BANK, 10, "rent_tax")]
    game = in_minute(brands(), 61, ms=-1000).owning(1, 1).landing(0, 1).do(0, c.Pay(), after_ms=5000)
    assert game.money() == [(0, 1, 20, "rent")]
    game = in_minute(brands(), 90).owning(1, 1).landing(0, 1).do(0, c.Pay())
    # floor(20 x 99 / 100) = 19
    assert game.money() == [(0, 1, 1, "rent"), (0, BANK, 19, "rent_tax")]


def test_only_rent_is_taxed() -> None:
    """BRA-RENT-14: no card payment, fine, trade or auction."""
    game = in_minute(brands(), 100).top_cards("chance", "licence_fees").at(0, 4).turn_of(0).roll(0, 1, 2)
    assert game.money() == [(1, 0, 500, "card"), (2, 0, 500, "card")]
    game = in_minute(brands(), 100).top_cards("chance", "joint_exhibition").at(0, 4).turn_of(0).roll(0, 1, 2)
    assert game.money() == [(0, 1, 500, "card"), (0, 2, 500, "card")]
    game = in_minute(brands(), 100).landing(0, LUXURY_TAX).do(0, c.Pay())
    assert game.money() == [(0, BANK, 1000, "tax")]
    game = in_minute(brands(), 100).in_jail(0).turn_of(0).do(0, c.PayFine())
    assert game.money() == [(0, BANK, 500, "fine")]
    game = in_minute(brands(), 100).owning(1, 39).turn_of(0)
    game.do(0, c.OfferTrade(1, c.Basket(4000), c.Basket(0, (39,)))).do(1, c.AcceptTrade())
    assert game.money() == [(0, 1, 4000, "trade")]
    game = in_minute(brands(BRAWL), 100).owning(0, 39).mortgaged(39).turn_of(0).do(0, c.OpenAuction(39))
    assert game.do(1, c.Bid(4000)).do(2, c.Pass()).money() == [
        (1, BANK, 2400, "redemption"),
        (1, 0, 1600, "own_auction"),
    ]


@pytest.mark.parametrize(("cell", "amount"), [(INCOME_TAX, 2000), (LUXURY_TAX, 1000)])
@every_mode
def test_tax_cells(edition: str, cell: int, amount: int) -> None:
    """BRA-TAX-01: 2000 and 1000, for the bank."""
    game = brands(edition).landing(0, cell)
    assert game.events_of(PaymentDue) == [PaymentDue(1, 0, (Claim(BANK, amount),), "tax", cell)]
    assert game.do(0, c.Pay()).money() == [(0, BANK, amount, "tax")]
