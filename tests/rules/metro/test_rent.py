"""Rent and the rent tax (MET-RENT)."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.events import PaymentDue
from services.rules.domain.moves.timing import tax_rate
from services.rules.domain.parties import BANK
from services.rules.domain.state import Claim
from tests.rules.metro.games import METRO, SPEED, both, drawing, metro
from tests.support.scenario import Game


def rent_of(game: Game, cell: int, dice: tuple[int, int] = (1, 2)) -> list[tuple[int, int]]:
    """Seat 0 lands on a cell by these dice: (creditor, amount) of what it owes."""
    game.at(0, (cell - sum(dice)) % 40).turn_of(0).roll(0, *dice)
    return [(claim.payee, claim.amount) for due in game.events_of(PaymentDue) for claim in due.claims]


@both
def test_rent_is_owed_to_the_owner(edition: str) -> None:
    """MET-RENT-01, MET-RENT-10: of the field on which the token landed; the owner collects it."""
    game = metro(3, edition).owning(2, 39).owning(1, 37)
    assert rent_of(game, 39) == [(2, 500)]
    game.do(0, c.Pay())
    assert game.money() == [(0, 2, 500, "rent")]
    assert game.state.cash == [14500, 15000, 15500]


@both
def test_a_mortgaged_field_takes_zero(edition: str) -> None:
    """MET-RENT-02: street, station, utility."""
    for cell in (39, 25, 12):
        game = metro(2, edition).owning(1, cell).mortgaged(cell)
        assert (rent_of(game, cell), game.decision) == ([], ("roll", 1))


@pytest.mark.parametrize(
    ("cell", "rents"),
    [
        (1, (20, 100, 300, 900, 1600, 2500)),
        (14, (120, 600, 1800, 5000, 7000, 9000)),
        (24, (200, 1000, 3000, 7500, 9250, 11000)),
        (39, (500, 2000, 6000, 14000, 17000, 20000)),
    ],
)
def test_rent_grows_with_each_building(cell: int, rents: tuple[int, ...]) -> None:
    """MET-RENT-03: `rent0` to `rent5` by the level."""
    for level in range(1, 6):
        game = metro(2)
        group = game.edition.board.group[cell]
        game.owning_group(1, group, level, level, level)
        assert rent_of(game, cell) == [(1, rents[level])]
    assert rent_of(metro(2).owning(1, cell), cell) == [(1, rents[0])]


@both
def test_a_whole_bare_group_doubles_the_base_rent(edition: str) -> None:
    """MET-RENT-04: 350 becomes 700, 500 becomes 1000; one street short of it, nothing is doubled."""
    assert rent_of(metro(2, edition).owning_group(1, "blue"), 37) == [(1, 700)]
    assert rent_of(metro(2, edition).owning_group(1, "blue"), 39) == [(1, 1000)]
    assert rent_of(metro(3, edition).owning(1, 31, 34).owning(2, 32), 34) == [(1, 280)]


def test_the_street_landed_on_must_be_bare() -> None:
    """MET-RENT-05: buildings elsewhere in the group do not matter, a mortgage anywhere in it does."""
    assert rent_of(metro(2).owning_group(1, "blue", 0, 1), 37) == [(1, 700)]
    assert rent_of(metro(2).owning_group(1, "blue", 0, 1), 39) == [(1, 2000)]
    assert rent_of(metro(2).owning_group(1, "blue").mortgaged(39), 37) == [(1, 350)]


@pytest.mark.parametrize(
    ("stations", "rent"),
    [((25,), 250), ((5, 25), 500), ((5, 25, 35), 1000), ((5, 15, 25, 35), 2000)],
)
def test_rent_of_stations(stations: tuple[int, ...], rent: int) -> None:
    """MET-RENT-06: by how many the owner has."""
    game = metro(3).owning(2, 5, 15, 35).owning(1, *stations)
    assert rent_of(game, 25) == [(1, rent)]


@pytest.mark.parametrize(
    ("utilities", "dice", "rent"),
    [((12,), (1, 2), 120), ((12,), (6, 6), 480), ((12, 28), (1, 2), 300), ((12, 28), (6, 6), 1200)],
)
def test_rent_of_utilities(utilities: tuple[int, ...], dice: tuple[int, int], rent: int) -> None:
    """MET-RENT-07: 40 or 100 times the throw."""
    assert rent_of(metro(2).owning(1, *utilities), 12, dice) == [(1, rent)]


def test_mortgaged_ones_still_count() -> None:
    """MET-RENT-08: only the mortgaged cell itself takes nothing."""
    assert rent_of(metro(2).owning(1, 5, 15, 25).mortgaged(5, 15), 25) == [(1, 1000)]
    assert rent_of(metro(2).owning(1, 12, 28).mortgaged(28), 12) == [(1, 300)]


def test_the_throw_is_the_white_sum() -> None:
    """MET-RENT-09: whatever the third die shows, and however the token came there; nothing is thrown anew."""
    game = metro(2, SPEED).in_round(7).owning(1, 12, 28).at(0, 5).turn_of(0).roll(0, 1, 3, third=3)
    assert game.events_of(PaymentDue)[0].claims == (Claim(1, 400),)
    game = metro(2, SPEED).in_round(7).owning(1, 12, 28).at(0, 9).turn_of(0).roll(0, 3, 5, third=4)
    game.do(0, c.ChooseMove("first"))
    assert game.events_of(PaymentDue)[0].claims == (Claim(1, 800),)
    game = metro(2, SPEED).in_round(7).owning(1, 12, 28).turn_of(0).roll(0, 2, 2, third=2).do(0, c.ChooseCell(28))
    assert game.events_of(PaymentDue)[0].claims == (Claim(1, 400),)
    game = metro(2, SPEED).in_round(7)
    game.owning(0, *game.edition.board.deeds).owning(1, 28).at(0, 17).turn_of(0).roll(0, 1, 2, third=5)
    assert game.events_of(PaymentDue)[0].claims == (Claim(1, 120),)
    game = drawing("meter_reading").owning(1, 12, 28)
    draws = game.state.draws
    game.roll(0, 3, 4)
    assert game.events_of(PaymentDue)[0].claims == (Claim(1, 700),)
    assert game.state.draws == draws + 2


def test_the_latest_throw_of_the_turn_counts() -> None:
    """MET-RENT-09: not the double before it."""
    game = metro(2).owning(1, 12).at(0, 4).turn_of(0).roll(0, 3, 3).at(0, 9).roll(0, 1, 2)
    assert game.events_of(PaymentDue)[0].claims == (Claim(1, 120),)


@pytest.mark.parametrize(
    ("edition", "round_number", "rate"),
    [
        (METRO, 1, 0),
        (METRO, 99, 0),
        (METRO, 100, 1),
        (METRO, 101, 1),
        (METRO, 102, 2),
        (METRO, 103, 3),
        (METRO, 150, 50),
        (METRO, 199, 98),
        (METRO, 200, 99),
        (METRO, 201, 99),
        (METRO, 500, 99),
        (SPEED, 39, 0),
        (SPEED, 40, 1),
        (SPEED, 41, 2),
        (SPEED, 42, 4),
        (SPEED, 70, 50),
        (SPEED, 99, 97),
        (SPEED, 100, 99),
        (SPEED, 300, 99),
    ],
)
def test_the_rate_of_the_rent_tax(edition: str, round_number: int, rate: int) -> None:
    """MET-RENT-11, MET-RENT-12, MET-RENT-13: 1 + floor(98 × (round − S) / (E − S)) percent from S to E."""
    game = metro(2, edition).in_round(round_number)
    assert tax_rate(game.edition, game.state, 0) == rate


@pytest.mark.parametrize("edition", [METRO, SPEED])
def test_the_rate_is_a_straight_line(edition: str) -> None:
    """MET-RENT-13: in every round of the game."""
    start, full = {METRO: (100, 200), SPEED: (40, 100)}[edition]
    game = metro(2, edition)
    for number in range(1, 501):
        expected = 0 if number < start else 99 if number > full else 1 + 98 * (number - start) // (full - start)
        assert tax_rate(game.edition, game.in_round(number).state, 10**9) == expected


@pytest.mark.parametrize(
    ("round_number", "cell", "owner_gets", "bank_gets"),
    [(99, 39, 500, 0), (100, 39, 495, 5), (150, 39, 250, 250), (200, 39, 5, 495), (200, 1, 1, 19), (100, 1, 20, 0)],
)
def test_the_bank_keeps_its_part_of_the_rent(round_number: int, cell: int, owner_gets: int, bank_gets: int) -> None:
    """MET-RENT-10, MET-RENT-14: the payer owes the full rent; floor(rent × rate / 100) goes to the bank."""
    game = metro(2).in_round(round_number).owning(1, cell)
    full = owner_gets + bank_gets
    assert rent_of(game, cell) == [(1, full)]
    game.with_cash(0, full).do(0, c.Pay())
    expected = [(0, 1, owner_gets, "rent")]
    if bank_gets:
        expected.append((0, BANK, bank_gets, "rent_tax"))
    assert game.money() == expected
    assert (game.cash(0), game.cash(1)) == (0, 15000 + owner_gets)


def test_the_rate_is_that_of_the_round_in_which_the_rent_fell_due() -> None:
    """MET-RENT-14: what is paid later is taxed no more."""
    game = metro(2).in_round(99).owning(1, 39)
    rent_of(game, 39)
    game.in_round(150).do(0, c.Pay())
    assert game.money() == [(0, 1, 500, "rent")]


def test_other_payments_are_not_taxed() -> None:
    """MET-RENT-15: taxes, Chance payments and bail, in round 200 too."""
    game = metro(3).in_round(200).at(0, 1).turn_of(0).roll(0, 1, 2).do(0, c.Pay())
    assert game.money() == [(0, BANK, 2000, "tax")]
    game = drawing("round_of_tea", 3).in_round(200).roll(0, 3, 4).do(0, c.Pay())
    assert game.money() == [(0, 1, 250, "card"), (0, 2, 250, "card")]
    game = drawing("yard_concert").in_round(200).roll(0, 3, 4).do(1, c.Pay())
    assert game.money() == [(1, 0, 200, "card")]
    game = metro(2).in_round(200).in_jail(0).turn_of(0).do(0, c.PayFine())
    assert game.money() == [(0, BANK, 500, "fine")]


def test_an_owner_in_jail_collects_rent() -> None:
    """MET-RENT-16, MET-JAIL-10: as usual."""
    assert rent_of(metro(2).owning(1, 39).in_jail(1), 39) == [(1, 500)]
