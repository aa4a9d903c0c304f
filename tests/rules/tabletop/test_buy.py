"""Buying free deeds (TAB-BUY)."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.events import DeedMoved
from services.rules.domain.parties import BANK
from services.rules.domain.view import view
from tests.rules.tabletop.tables import FIVE, TABLETOPS, a_table, rent_tax


@pytest.mark.parametrize("edition", FIVE)
def test_the_visitor_of_a_free_deed_has_the_first_right(edition: str) -> None:
    """TAB-BUY-01: nobody else may buy it."""
    game = a_table(edition).at(0, 36).turn_of(0).roll(0, 1, 2)
    assert game.decision == ("purchase", 0)
    game.refused(1, c.Buy(), "not_asked", "TAB-PHASE-04", {"seat": 0})
    assert {"buy", "decline"} <= {option.kind for option in game.own_options(0)}


@pytest.mark.parametrize(("edition", "price"), [(one, 400) for one in FIVE[:4]] + [("rent-tax", 4000)])
def test_the_price_goes_to_the_bank(edition: str, price: int) -> None:
    """TAB-BUY-02: the number on the cell, and the buyer gets the deed."""
    game = a_table(edition).at(0, 36).turn_of(0).roll(0, 1, 2).do(0, c.Buy())
    assert game.money() == [(0, BANK, price, "purchase")]
    assert game.events_of(DeedMoved) == [DeedMoved(39, BANK, 0, "purchase")]
    assert (game.owner(39), game.cash(0)) == (0, game.edition.start_cash - price)


@pytest.mark.parametrize(("start", "cell", "price"), [(9, 12, 150), (25, 28, 150), (2, 5, 200), (32, 35, 200)])
@pytest.mark.parametrize("edition", FIVE[:4])
def test_utilities_and_stations_are_bought_alike(edition: str, start: int, cell: int, price: int) -> None:
    """TAB-BUY-03."""
    game = a_table(edition).at(0, start).turn_of(0).roll(0, 1, 2).do(0, c.Buy())
    assert (game.owner(cell), game.money()) == (0, [(0, BANK, price, "purchase")])


@pytest.mark.parametrize("edition", FIVE)
def test_the_full_price_in_cash(edition: str) -> None:
    """TAB-BUY-04: one unit short is refused; with exactly the price it is bought."""
    game = a_table(edition)
    price = game.edition.board.price[39]
    game.with_cash(0, price - 1).at(0, 36).turn_of(0).roll(0, 1, 2)
    assert game.decision == ("purchase", 0)
    assert "buy" not in game.option_kinds()
    game.refused(0, c.Buy(), "not_enough_cash", "TAB-BUY-04", {"least": price})
    game = a_table(edition).with_cash(0, price).at(0, 36).turn_of(0).roll(0, 1, 2).do(0, c.Buy())
    assert game.cash(0) == 0


@pytest.mark.parametrize("edition", FIVE)
def test_money_may_be_raised_for_a_purchase(edition: str) -> None:
    """TAB-BUY-04, TAB-TIME-03: one sells and mortgages while the offer stays open, on the same deadline."""
    game = a_table(edition)
    key = "perfume" if edition == "rent-tax" else "brown"
    price = game.edition.board.price[39]
    short = game.edition.board.build_cost[1] * game.edition.building_refund // 100
    game.owning_group(0, key, 1, 1).owning(0, 6).with_cash(0, price - short - game.edition.board.half_price[6])
    game.at(0, 36).turn_of(0).roll(0, 1, 2)
    decision = game.state.decision
    game.wait(40_000).do(0, c.SellBuildings((1,), 0)).do(0, c.Mortgage(6))
    assert game.state.decision == decision
    assert game.deadline == ("turn", 50_000)
    assert game.do(0, c.Buy()).cash(0) == 0


@pytest.mark.parametrize("edition", FIVE)
def test_a_deed_not_bought_is_auctioned_at_once(edition: str) -> None:
    """TAB-BUY-05: and goes to the highest bid."""
    game = a_table(edition).at(0, 36).turn_of(0).roll(0, 1, 2).do(0, c.Decline())
    assert game.decision == ("auction_bid", 1)
    least = game.edition.opening_bid.units or 0
    game.do(1, c.Bid(least)).do(2, c.Pass())
    if game.edition.decliner_bids:
        game.do(0, c.Pass())
    assert (game.owner(39), game.money()) == (1, [(1, BANK, least, "auction")])


def test_rent_tax_auctions_like_the_tabletop() -> None:
    """TAB-BUY-05: its text says only that a visitor may buy."""
    game = rent_tax().at(0, 36).turn_of(0).roll(0, 1, 2).expire("turn")
    assert game.decision == ("auction_bid", 1)


@pytest.mark.parametrize("edition", FIVE)
def test_ownership_is_public(edition: str) -> None:
    """TAB-BUY-06: every view names the owner of each deed."""
    game = a_table(edition).at(0, 36).turn_of(0).roll(0, 1, 2).do(0, c.Buy())
    assert view(game.state).owners[39] == 0
    assert view(game.state).owners[37] == BANK


@pytest.mark.parametrize("edition", TABLETOPS)
def test_ones_own_deed_does_nothing(edition: str) -> None:
    """TAB-BUY-07: mortgaged or not."""
    for mortgaged in (False, True):
        game = a_table(edition).owning(0, 39)
        if mortgaged:
            game.mortgaged(39)
        game.at(0, 36).turn_of(0).roll(0, 1, 2)
        assert (game.money(), game.decision) == ([], ("manage", 0))
