"""Rent (TAB-RENT)."""

from dataclasses import replace

import pytest

from services.rules.domain import commands as c
from services.rules.domain.events import DiceRolled, MoneyMoved, PaymentDue
from tests.rules.tabletop.tables import FIVE, TABLETOPS, a_table, online, rent_tax, short_game, tabletop
from tests.support.scenario import Game


def rent_at(game: Game, cell: int, *draws: int) -> int:
    """What seat 0 pays to seat 1 for landing on a cell by (1, 2)."""
    game.at(0, cell - 3).turn_of(0).roll(0, 1, 2, *draws)
    if game.decision == ("payment", 0) and game.edition.payment_confirm is not None:
        game.do(0, c.Pay())
    payments = game.events_of(MoneyMoved)
    assert all((event.payer, event.payee, event.reason) == (0, 1, "rent") for event in payments)
    return sum(event.amount for event in payments)


@pytest.mark.parametrize("edition", FIVE)
def test_the_owner_takes_rent_of_every_visitor(edition: str) -> None:
    """TAB-RENT-01: a full payment from the visitor to the owner, and nothing for the owner's own visit."""
    game = a_table(edition).owning(1, 39)
    assert rent_at(game, 39) == game.edition.board.rents[39][0]
    own = a_table(edition).owning(0, 39).at(0, 36).turn_of(0).roll(0, 1, 2)
    assert own.money() == []


@pytest.mark.parametrize("edition", FIVE)
def test_a_mortgaged_deed_takes_no_rent(edition: str) -> None:
    """TAB-RENT-02, -05, -13: no payment and no event of one; the others of the group still take theirs, undoubled."""
    game = a_table(edition).owning(1, 37, 39).mortgaged(39)
    assert rent_at(game, 39) == 0
    assert game.events_of(PaymentDue) == []
    game = a_table(edition).owning(1, 37, 39).mortgaged(39)
    assert rent_at(game, 37) == game.edition.board.rents[37][0]


@pytest.mark.parametrize("edition", ["tabletop", "tabletop-timed", "online-classic", "rent-tax"])
@pytest.mark.parametrize("level", [1, 2, 3, 4, 5])
def test_rent_rises_with_the_buildings(edition: str, level: int) -> None:
    """TAB-RENT-03: rent1 to rent4 for houses, rent5 for a hotel."""
    rents = (200, 600, 1400, 1700, 2000)
    factor = 10 if edition == "rent-tax" else 1
    game = a_table(edition).owning_group(1, "smartphones" if edition == "rent-tax" else "navy", level, level)
    assert rent_at(game.with_cash(0, 50_000), 39) == rents[level - 1] * factor


@pytest.mark.parametrize("edition", [*TABLETOPS, "rent-tax"])
def test_a_complete_group_doubles_its_unbuilt_streets(edition: str) -> None:
    """TAB-RENT-04: also while other streets of the group are built; not a group in two hands."""
    key = "smartphones" if edition == "rent-tax" else "navy"
    base = a_table(edition).edition.board.rents[39][0]
    assert rent_at(a_table(edition).owning_group(1, key), 39) == 2 * base
    assert rent_at(a_table(edition).owning_group(1, key, 1, 0), 39) == 2 * base
    assert rent_at(a_table(edition).owning(1, 39).owning(2, 37), 39) == base


def test_online_the_whole_group_must_be_unbuilt() -> None:
    """TAB-RENT-06."""
    assert rent_at(online().owning_group(1, "navy"), 39) == 100
    assert rent_at(online().owning_group(1, "navy", 1, 0), 39) == 50


@pytest.mark.parametrize(("level", "rent"), [(0, 100), (1, 200), (2, 600), (3, 1400), (4, 2000)])
def test_rents_of_the_short_game(level: int, rent: int) -> None:
    """TAB-RENT-07: a hotel, level 4 there, takes rent5; rent4 is not used."""
    assert rent_at(short_game().owning_group(1, "navy", level, level).with_cash(0, 5000), 39) == rent


@pytest.mark.parametrize("edition", FIVE[:4])
def test_stations(edition: str) -> None:
    """TAB-RENT-08: 25, 50, 100, 200; a mortgaged one counts as owned, and another's does not."""
    stations = (35, 5, 15, 25)
    for owned, rent in enumerate((25, 50, 100, 200), start=1):
        assert rent_at(a_table(edition).owning(1, *stations[:owned]).owning(2, *stations[owned:]), 35) == rent
    assert rent_at(a_table(edition).owning(1, *stations).mortgaged(5, 15), 35) == 200


@pytest.mark.parametrize("edition", TABLETOPS)
def test_utilities(edition: str) -> None:
    """TAB-RENT-09: 4 times the roll that brought the visitor, 10 times with both, a mortgaged second one included."""
    assert rent_at(a_table(edition).owning(1, 12), 12) == 12
    game = a_table(edition).owning(1, 12, 28)
    assert rent_at(game, 12) == 30
    assert len(game.events_of(DiceRolled)) == 1
    assert rent_at(a_table(edition).owning(1, 12, 28).mortgaged(28), 12) == 30


@pytest.mark.parametrize("edition", TABLETOPS)
def test_a_new_roll_for_a_utility_reached_by_card(edition: str) -> None:
    """TAB-RENT-09: made by the server, and times ten by the text of the card."""
    game = a_table(edition).owning(1, 12).top_cards("chance", "nearest_utility")
    assert rent_at(game, 7, 5, 3) == 100
    assert [(roll.purpose, roll.dice) for roll in game.events_of(DiceRolled)][1:] == [("utility", (6, 4))]


def test_a_new_roll_after_any_card_that_leads_to_a_utility() -> None:
    """TAB-RENT-09, TAB-CARD-05: by four times, as this card sets no number of its own."""
    game = tabletop().owning(1, 12).top_cards("chance", "three_back")
    cards = tuple(
        replace(card, amount=-10) if card.key == "three_back" else card for card in game.edition.decks["chance"]
    )
    game.edition = replace(game.edition, decks={**game.edition.decks, "chance": cards})
    assert rent_at(game, 22, 5, 3) == 40
    assert [(roll.purpose, roll.dice) for roll in game.events_of(DiceRolled)][1:] == [("utility", (6, 4))]


@pytest.mark.parametrize(("owned", "rent"), [((12,), 28), ((12, 28), 70)])
def test_online_a_utility_is_always_rolled_for(owned: tuple[int, ...], rent: int) -> None:
    """TAB-RENT-10: 4 times the new sum, or 10 times; here the new roll is 3 and 4."""
    game = online().owning(1, *owned)
    assert rent_at(game, 12, 2, 3) == rent
    assert [(roll.purpose, roll.dice) for roll in game.events_of(DiceRolled)] == [("move", (1, 2)), ("utility", (3, 4))]


@pytest.mark.parametrize("edition", FIVE[:4])
def test_rent_is_asked_by_the_server(edition: str) -> None:
    """TAB-RENT-11: due the moment the cell is settled."""
    game = a_table(edition).owning(1, 39).at(0, 36).turn_of(0).roll(0, 1, 2)
    assert game.money() == [(0, 1, 50, "rent")]
    assert "claim_rent" not in game.option_kinds()


@pytest.mark.parametrize("edition", FIVE)
def test_an_owner_in_jail_takes_rent(edition: str) -> None:
    """TAB-RENT-12."""
    game = a_table(edition).owning(1, 39).in_jail(1, 1)
    assert rent_at(game, 39) == game.edition.board.rents[39][0]


def test_no_stations_or_utilities_in_rent_tax() -> None:
    """TAB-RENT-03: every company has a price list like a street."""
    board = rent_tax().edition.board
    assert (board.transports, board.utilities) == ((), ())
    assert all(len(board.rents[cell]) == 6 for cell in board.deeds)


def test_rent_of_a_group_with_a_mortgage_is_not_doubled() -> None:
    """TAB-RENT-05: a mortgage on any street of it ends the doubling of all."""
    assert rent_at(tabletop().owning_group(1, "green").mortgaged(31), 34) == 28
    assert rent_at(tabletop().owning_group(1, "green"), 34) == 56
