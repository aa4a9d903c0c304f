"""Leaving a running game (TAB-BANK-09)."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.events import AuctionOpened, Bankrupt, BidderPassed, Leaving, TurnEnded
from services.rules.domain.parties import BANK
from tests.rules.tabletop.tables import FIVE, TABLETOPS, a_table, online, rent_tax, tabletop
from tests.support.scenario import Game


@pytest.mark.parametrize("edition", FIVE)
def test_without_a_debt_one_is_bankrupt_to_the_bank(edition: str) -> None:
    """TAB-BANK-09: in the own turn, which is over then."""
    game = a_table(edition).with_cash(0, 70).turn_of(0).do(0, c.Surrender())
    assert game.events_of(Leaving) == [Leaving(0, "surrender")]
    assert game.events_of(Bankrupt) == [Bankrupt(0, BANK, "leaving")]
    assert game.money() == [(0, BANK, 70, "estate")]
    assert game.events_of(TurnEnded) == [TurnEnded(0, "out")]
    assert game.decision == ("roll", 1)


@pytest.mark.parametrize("edition", FIVE)
def test_in_the_turn_of_another(edition: str) -> None:
    """TAB-BANK-09: the open decision and its clock stay as they are, where nothing has to be auctioned."""
    game = a_table(edition).turn_of(0)
    decision = game.state.decision
    game.wait(5_000).do(2, c.Surrender())
    assert (game.state.decision, game.deadline) == (decision, ("turn", 85_000))


@pytest.mark.parametrize("edition", [*TABLETOPS, "rent-tax"])
def test_an_estate_is_auctioned_before_the_turn_goes_on(edition: str) -> None:
    """TAB-BANK-09, -02, TAB-PHASE-02: whatever the other was deciding; his clock stands meanwhile."""
    purchase = a_table(edition).owning(2, 1).at(0, 36).turn_of(0).roll(0, 1, 2)
    roll = a_table(edition).owning(2, 1).at(0, 36).turn_of(0)
    for game, kind in ((purchase, "purchase"), (roll, "roll")):
        game.wait(5_000).do(2, c.Surrender())
        assert game.events_of(AuctionOpened)[0].cell == 1
        game.do(0, c.Bid(10), after_ms=7_000).do(1, c.Pass())
        assert (game.decision, game.deadline) == ((kind, 0), ("turn", 85_000))
        assert game.owner(1) == 0


def test_a_choice_of_inherited_mortgages_waits_for_the_auctions() -> None:
    """TAB-BANK-09, -04: it is asked again when the estate of another is sold."""
    game = tabletop(4).owning(0, 39).owning(2, 5).mortgaged(39).with_cash(0, 0).owing(0, 9000, 1)
    game.do(0, c.DeclareBankruptcy()).do(2, c.Surrender())
    assert game.decision == ("auction_bid", 3)
    game.do(3, c.Pass()).do(1, c.Pass())
    assert game.decision == ("estate_choice", 1)
    game.do(1, c.ChooseEstate((39,)))
    assert game.money() == [(1, BANK, 200, "redemption")]


@pytest.mark.parametrize("edition", FIVE)
def test_a_debt_within_reach_is_raised_and_paid_first(edition: str) -> None:
    """TAB-BANK-09: as at a time-out; then bankrupt to the bank."""
    game = a_table(edition).owning(0, 6).with_cash(0, 80)
    half = game.edition.board.half_price[6]
    game.owing(0, 80 + half, 1).do(0, c.Surrender())
    assert game.money() == [(BANK, 0, half, "mortgage"), (0, 1, 80 + half, "card")]
    assert game.events_of(Bankrupt) == [Bankrupt(0, BANK, "leaving")]


@pytest.mark.parametrize("edition", [*TABLETOPS, "rent-tax"])
def test_over_a_debt_out_of_reach(edition: str) -> None:
    """TAB-BANK-09: bankrupt to the creditor."""
    game = a_table(edition).owning(0, 6).with_cash(0, 80)
    game.owing(0, 81 + game.edition.board.half_price[6], 1).do(0, c.Surrender())
    assert game.money() == [(0, 1, 80, "estate")]
    assert (game.owner(6), game.events_of(Bankrupt)) == (1, [Bankrupt(0, 1, "leaving")])


def test_in_rent_tax_a_covered_payment_is_paid() -> None:
    """TAB-BANK-09: the rent that waits for `pay`."""
    game = rent_tax().owning(1, 39).at(0, 36).turn_of(0).roll(0, 1, 2).do(0, c.Surrender())
    assert game.money() == [(0, 1, 500, "rent"), (0, BANK, 14500, "estate")]


def at_auction(edition: str = "tabletop", seats: int = 4) -> Game:
    """Seat 0 has declined Grand Terrace, and seat 1 is asked."""
    return a_table(edition, seats).at(0, 36).turn_of(0).roll(0, 1, 2).do(0, c.Decline())


def test_in_an_auction_the_asked_bidder_passes_and_goes_out_afterwards() -> None:
    """TAB-BANK-09: when the lot is over."""
    game = at_auction().owning(1, 5).do(1, c.Surrender())
    assert game.events_of(BidderPassed) == [BidderPassed(1, "leaving")]
    assert (game.state.in_play[1], game.decision) == (True, ("auction_bid", 2))
    game.refused(1, c.Mortgage(5), "seat_out", "TAB-BANK-01", {"seat": 1})
    game.refused(1, c.Surrender(), "seat_out", "TAB-BANK-01")
    game.do(2, c.Bid(5)).do(3, c.Pass()).do(0, c.Pass())
    assert (game.owner(39), game.state.in_play[1]) == (2, False)
    assert game.events_of(AuctionOpened)[0].cell == 5


def test_a_bidder_who_resigns_before_he_is_asked() -> None:
    """TAB-BANK-09: passes when his turn comes."""
    game = at_auction().do(3, c.Surrender()).do(1, c.Bid(10)).do(2, c.Bid(20))
    assert game.events_of(BidderPassed) == [BidderPassed(3, "leaving")]
    assert game.decision == ("auction_bid", 0)


def test_a_lot_already_led_is_paid_for_and_received() -> None:
    """TAB-BANK-09: and then auctioned with the rest of the estate."""
    game = at_auction().do(1, c.Bid(300)).do(1, c.Surrender()).do(2, c.Pass()).do(3, c.Pass()).do(0, c.Pass())
    assert game.money() == [(1, BANK, 300, "auction"), (1, BANK, 1200, "estate")]
    assert game.events_of(AuctionOpened)[0].cell == 39
    assert game.decision == ("auction_bid", 2)


def test_the_player_in_turn_resigns_in_the_auction() -> None:
    """TAB-BANK-09: his turn is over with the lot."""
    game = at_auction("online-classic").do(0, c.Surrender()).do(1, c.Bid(1)).do(2, c.Pass()).do(3, c.Pass())
    assert (game.owner(39), game.state.in_play[0], game.decision) == (1, False, ("roll", 1))


def test_the_table_takes_a_seat_out_in_the_same_way() -> None:
    """TAB-BANK-09: a seat withdrawn by the table."""
    game = online().turn_of(0).withdraw(0)
    assert game.events_of(Leaving) == [Leaving(0, "withdrawn")]
    assert game.decision == ("roll", 1)


@pytest.mark.parametrize("edition", FIVE)
def test_everybody_may_resign_in_every_phase(edition: str) -> None:
    """TAB-BANK-09: it is listed for every solvent seat."""
    for game in (
        a_table(edition, 4).turn_of(0),
        at_auction(edition),
        a_table(edition, 4).at(0, 36).turn_of(0).roll(0, 1, 2),
        a_table(edition, 4).with_cash(0, 5).owning(0, 39).owing(0, 50, 1),
        a_table(edition, 4).turn_of(0).do(0, c.OfferTrade(1, c.Basket(1), c.Basket(1))),
    ):
        assert {option.seat for option in game.options("surrender")} == {0, 1, 2, 3}
