"""The option of the penny auction (TAB-AUC-20 to -22)."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.commands import Basket
from services.rules.domain.events import AuctionClosed, AuctionOpened, BidderAsked, BidPlaced, DeadlineSet
from services.rules.domain.parties import BANK, NONE
from services.rules.editions.ports import OverrideError
from tests.rules.tabletop.tables import TABLETOPS, a_table
from tests.support.scenario import Game

PENNY = {"auction_style": "open_cry_paid"}
#: (edition, least first bid, least raise)
STEPS = [(one, 1, 10) for one in TABLETOPS] + [("rent-tax", 10, 100)]


def open_lot(edition: str = "tabletop", seats: int = 3, game: Game | None = None) -> Game:
    """Seat 0 has declined Grand Terrace, or Vistelo, at a table of penny auctions."""
    table = game or a_table(edition, seats, overrides=PENNY)
    return table.at(0, 36).turn_of(0).roll(0, 1, 2).do(0, c.Decline())


def penny_table(seats: int = 3) -> Game:
    return a_table("tabletop", seats, overrides=PENNY)


def test_online_has_no_such_option() -> None:
    """TAB-AUC-20: TT and RT only, and off unless the table turns it on."""
    with pytest.raises(OverrideError):
        a_table("online-classic", overrides=PENNY)
    for edition, _, _ in STEPS:
        assert a_table(edition).edition.auction_style == "in_turn"


@pytest.mark.parametrize(("edition", "least", "step"), STEPS)
def test_all_may_bid_at_any_time(edition: str, least: int, step: int) -> None:
    """TAB-AUC-20: all solvent players, the decliner too; 20 seconds; nobody is asked in turn."""
    game = open_lot(edition)
    (opened,) = game.events_of(AuctionOpened)
    assert (opened.kind, sorted(opened.bidders), opened.opening) == ("open_lot", [0, 1, 2], least)
    assert game.events_of(BidderAsked) == []
    assert (game.asked_seats, game.deadline) == ((0, 1, 2), ("open_lot", 20_000))
    game.do(2, c.Bid(least)).do(0, c.Bid(least + step)).do(2, c.Bid(least + 2 * step))
    assert game.cash(2) == game.edition.start_cash - 2 * least - 2 * step


@pytest.mark.parametrize(("edition", "least", "step"), STEPS)
def test_the_amounts_of_bids(edition: str, least: int, step: int) -> None:
    """TAB-AUC-20: first at least 1 (10), then at least the leading bid + 10 (+ 100)."""
    game = open_lot(edition)
    game.refused(1, c.Bid(least - 1), "bid_too_low", "TAB-AUC-05", {"least": least})
    game.do(1, c.Bid(least + 2))
    game.refused(2, c.Bid(least + 2 + step - 1), "bid_too_low", "TAB-AUC-06", {"least": least + 2 + step})
    game.do(2, c.Bid(least + 2 + step))
    assert game.events_of(BidPlaced) == [BidPlaced(2, least + 2 + step)]


def test_every_bid_is_lost() -> None:
    """TAB-AUC-20: 10, then 30 by the same player cost 40, whether or not the bidder wins."""
    game = open_lot().do(1, c.Bid(10))
    assert game.money() == [(1, BANK, 10, "auction")]
    game.do(2, c.Bid(20)).do(1, c.Bid(30))
    assert (game.cash(1), game.cash(2)) == (1460, 1480)
    game.expire("open_lot")
    assert (game.money(), game.owner(39)) == ([], 1)
    assert game.state.cash == [1500, 1460, 1480]


def test_the_leader_does_not_overbid_himself() -> None:
    """TAB-AUC-20."""
    game = open_lot().do(1, c.Bid(10))
    assert game.asked_seats == (0, 2)
    game.refused(1, c.Bid(50), "already_leading", "TAB-AUC-06")


def test_nobody_passes_in_an_open_lot() -> None:
    """TAB-AUC-20: it ends by time alone."""
    game = open_lot().do(1, c.Bid(10))
    game.refused(2, c.Pass(), "wrong_decision", "TAB-AUC-04")


@pytest.mark.parametrize(
    ("waited", "left"), [(0, 20_000), (9_999, 10_001), (10_000, 10_000), (10_001, 10_000), (19_999, 10_000)]
)
def test_a_late_bid_puts_the_clock_back(waited: int, left: int) -> None:
    """TAB-AUC-20: with less than 10 seconds left it is set to 10 seconds; with 10 or more it runs on."""
    game = open_lot().wait(waited).do(1, c.Bid(10))
    assert game.deadline == ("open_lot", left)
    assert len(game.events_of(DeadlineSet)) == int(waited > 10_000)


def test_the_clock_can_be_put_back_again_and_again() -> None:
    """TAB-AUC-20: by every late bid."""
    game = open_lot()
    for number in range(1, 9):
        game.do(number % 2 + 1, c.Bid(10 * number), after_ms=9_000 if number > 1 else 19_000)
        assert game.deadline == ("open_lot", 10_000)


def test_without_a_bid_the_deed_stays_free() -> None:
    """TAB-AUC-20: and the turn goes on."""
    game = open_lot().expire("open_lot")
    (closed,) = game.events_of(AuctionClosed)
    assert (closed.winner, closed.amount, closed.outcome) == (NONE, 0, "no_bid")
    assert (game.owner(39), game.decision) == (BANK, ("manage", 0))


def test_a_bid_after_time_is_refused() -> None:
    """TAB-AUC-20, TAB-TIME-04."""
    game = open_lot().wait(20_000)
    game.refused(1, c.Bid(10), "stale_deadline", "TAB-TIME-04", {"late_ms": 0})


def test_a_bid_above_the_cash_is_refused() -> None:
    """TAB-AUC-21: the cash that is left after the bids before."""
    game = open_lot(game=penny_table().with_cash(1, 40)).do(1, c.Bid(10)).do(2, c.Bid(20))
    game.refused(1, c.Bid(31), "bid_over_limit", "TAB-AUC-07", {"greatest": 30})
    game.do(1, c.Bid(30))
    assert game.cash(1) == 0


def test_reduced_to_nothing_is_not_bankrupt() -> None:
    """TAB-AUC-21: nothing is owed."""
    game = open_lot(game=penny_table().with_cash(1, 10)).do(1, c.Bid(10)).do(2, c.Bid(20)).expire("open_lot")
    assert (game.cash(1), game.state.in_play[1], game.owner(39)) == (0, True, 2)


def test_no_asset_becomes_cash_in_an_open_lot() -> None:
    """TAB-AUC-21, TAB-BUILD-14: for nobody."""
    game = open_lot(game=penny_table().owning_group(1, "brown", 1, 1).owning(1, 5).owning(2, 15))
    for seat, action in ((1, c.SellBuildings((1,), 0)), (1, c.Mortgage(5)), (2, c.Mortgage(15))):
        game.refused(seat, action, "wrong_decision", "TAB-BUILD-14")
    game.refused(1, c.OfferTrade(2, Basket(1), Basket(1)), "wrong_decision", "TAB-AUC-04")
    assert game.option_kinds() == {"bid", "surrender"}


def test_estates_use_the_ordinary_form() -> None:
    """TAB-AUC-21, TAB-BANK-02: bids are asked in turn, and only the winner pays."""
    game = penny_table(4).owning(0, 39).with_cash(0, 0).turn_of(0).do(0, c.Surrender())
    assert game.events_of(AuctionOpened)[0].kind == "estate"
    assert game.decision == ("auction_bid", 1)
    game.do(1, c.Bid(10)).do(2, c.Bid(20)).do(3, c.Pass()).do(1, c.Pass())
    assert game.state.cash == [0, 1500, 1480, 1500]


def test_scarce_buildings_use_the_ordinary_form() -> None:
    """TAB-AUC-21, TAB-BUILD-12."""
    game = penny_table().owning_group(0, "brown").owning_group(1, "sky").branches_left(1, 2).with_cash(2, 0).turn_of(0)
    game.do(0, c.Build((1,))).do(1, c.ClaimBuildings((6,)))
    assert game.events_of(AuctionOpened)[0].kind == "shortage"
    assert game.decision == ("auction_bid", 0)


def test_the_advice_is_no_rule() -> None:
    """TAB-AUC-22: whoever bids late, high and against many rivals may do so."""
    game = open_lot(seats=5)
    for seat, amount in ((1, 10), (2, 20), (3, 30), (4, 1400)):
        game.do(seat, c.Bid(amount), after_ms=4_900)
    assert game.events_of(BidPlaced) == [BidPlaced(4, 1400)]


def test_a_leader_who_resigns_still_gets_the_lot() -> None:
    """TAB-BANK-09, TAB-AUC-20: he bids no more, and goes out when the lot is over."""
    game = open_lot(seats=4).do(1, c.Bid(10)).do(1, c.Surrender())
    assert game.state.in_play[1]
    game.do(2, c.Bid(20))
    game.refused(1, c.Bid(30), "seat_out", "TAB-BANK-01")
    assert game.asked_seats == (0, 3)
    game.expire("open_lot")
    assert (game.owner(39), game.state.in_play[1]) == (2, False)
