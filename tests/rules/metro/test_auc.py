"""Auctions of declined fields (MET-AUC, MET-OWNAUC)."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.events import (
    AuctionClosed,
    AuctionOpened,
    BidderAsked,
    BidderPassed,
    BidPlaced,
    DeedMoved,
    PaymentDue,
    SeatOut,
)
from services.rules.domain.parties import BANK, NONE
from tests.rules.metro.games import METRO, both, metro
from tests.support.scenario import Game


def declined(seats: int = 3, edition: str = METRO, seat: int = 0) -> Game:
    """A seat has declined cell 3 (price 600)."""
    return metro(seats, edition, first=seat).turn_of(seat).roll(seat, 1, 2).do(seat, c.Decline())


@both
def test_the_next_player_is_asked_first_and_the_decliner_last(edition: str) -> None:
    """MET-AUC-01, MET-AUC-02: in seat order."""
    game = declined(4, edition, 1)
    assert game.events_of(AuctionOpened) == [AuctionOpened(1, "declined", 3, BANK, (2, 3, 0, 1), 600)]
    asked = []
    for _ in range(4):
        assert game.decision is not None
        asked.append(game.decision[1])
        game.do(asked[-1], c.Pass())
    assert asked == [2, 3, 0, 1]


def test_the_circle_stays_without_those_who_passed() -> None:
    """MET-AUC-03, MET-AUC-05: lap after lap; a pass is final."""
    game = declined(4)
    asked = []
    for action in (c.Bid(600), c.Pass(), c.Bid(700), c.Bid(800), c.Bid(900), c.Pass(), c.Bid(1000), c.Pass()):
        assert game.decision is not None
        asked.append(game.decision[1])
        game.do(asked[-1], action)
    assert asked == [1, 2, 3, 0, 1, 3, 0, 1]
    assert game.owner(3) == 0
    game = declined(4).do(1, c.Pass())
    game.refused(1, c.Bid(600), "not_asked", "MET-TURN-04")


def test_players_in_jail_take_part() -> None:
    """MET-AUC-03, MET-JAIL-10: and those who are out do not."""
    game = metro(4).in_jail(2).out(1).turn_of(0).roll(0, 1, 2).do(0, c.Decline())
    assert game.events_of(AuctionOpened)[0].bidders == (2, 3, 0)
    game.do(2, c.Bid(600)).do(3, c.Pass()).do(0, c.Pass())
    assert game.owner(3) == 2


@both
def test_the_first_bid_is_the_price_and_each_further_one_100_more(edition: str) -> None:
    """MET-AUC-04: that minimum, or a pass."""
    game = declined(3, edition)
    assert game.events_of(BidderAsked) == [BidderAsked(1, 600)]
    least = game.option("bid").range
    assert least is not None
    assert (least.least, least.greatest) == (600, 600)
    assert game.option_kinds() == {"bid", "pass", "surrender"}
    game.do(1, c.Bid(600))
    assert game.events_of(BidPlaced) == [BidPlaced(1, 600)]
    assert game.events_of(BidderAsked) == [BidderAsked(2, 700)]
    game.do(2, c.Bid(700))
    assert game.events_of(BidderAsked) == [BidderAsked(0, 800)]


@pytest.mark.parametrize("amount", [0, 599, 601, 700, 15000, -600])
def test_no_other_first_bid_is_legal(amount: int) -> None:
    """MET-AUC-09, MET-AUC-04: neither less nor more than the price."""
    declined().refused(1, c.Bid(amount), "bid_not_exact", "MET-AUC-04", {"least": 600})


@pytest.mark.parametrize("amount", [600, 699, 701, 800])
def test_no_other_further_bid_is_legal(amount: int) -> None:
    """MET-AUC-09, MET-AUC-04: exactly 100 more."""
    declined().do(1, c.Bid(600)).refused(2, c.Bid(amount), "bid_not_exact", "MET-AUC-04", {"least": 700})


@both
def test_a_step_lasts_10_seconds(edition: str) -> None:
    """MET-AUC-06, MET-AUTO-07: each asking; when it runs out the player has passed."""
    game = declined(3, edition)
    assert game.deadline == ("bid", 10_000)
    game.do(1, c.Bid(600), after_ms=9_999)
    assert game.deadline == ("bid", 10_000)
    game.expire("bid")
    assert game.now_ms == 19_999
    assert game.events_of(BidderPassed) == [BidderPassed(2, "time")]
    assert (game.decision, game.deadline) == (("auction_bid", 0), ("bid", 10_000))


def test_a_bid_at_the_end_of_the_step_is_too_late() -> None:
    """MET-AUC-06: 10 seconds and not one millisecond more."""
    declined().wait(10_000).refused(1, c.Bid(600), "stale_deadline", "MET-TIME-12", {"late_ms": 0})


def test_too_little_cash_passes_at_once() -> None:
    """MET-AUC-07, MET-AUC-08: one unit below the minimum; only cash counts, whatever could be raised."""
    game = metro(3).with_cash(1, 599).owning(1, 39).turn_of(0).roll(0, 1, 2).do(0, c.Decline())
    assert game.events_of(BidderPassed) == [BidderPassed(1, "no_money")]
    assert (game.decision, game.now_ms) == (("auction_bid", 2), 0)
    game = metro(3).with_cash(1, 600).turn_of(0).roll(0, 1, 2).do(0, c.Decline())
    assert game.decision == ("auction_bid", 1)


def test_the_growing_minimum_passes_a_player() -> None:
    """MET-AUC-07: when the next price is above the cash."""
    game = metro(3).with_cash(1, 799).turn_of(0).roll(0, 1, 2).do(0, c.Decline())
    game.do(1, c.Bid(600)).do(2, c.Bid(700)).do(0, c.Pass())
    assert game.events_of(BidderPassed) == [BidderPassed(0, "choice"), BidderPassed(1, "no_money")]
    assert game.events_of(AuctionClosed) == [AuctionClosed(1, 2, 700, "sold")]


def test_nobody_raises_money_in_an_auction() -> None:
    """MET-AUC-08: neither the asked one nor the others."""
    game = metro(3).owning(1, 39).owning(0, 37).turn_of(0).roll(0, 1, 2).do(0, c.Decline())
    game.refused(1, c.Mortgage(39), "wrong_decision", "MET-AUC-04")
    game.refused(0, c.Mortgage(37), "not_asked", "MET-TURN-04")


@both
def test_the_leader_buys_at_his_own_bid(edition: str) -> None:
    """MET-AUC-10, MET-AUC-13: debited at once, without a payment pause."""
    game = declined(3, edition).do(1, c.Bid(600)).do(2, c.Bid(700)).do(0, c.Pass()).do(1, c.Pass())
    assert game.money() == [(2, BANK, 700, "auction")]
    assert game.events_of(DeedMoved) == [DeedMoved(3, BANK, 2, "auction")]
    assert not game.events_of(PaymentDue)
    assert (game.cash(2), game.decision) == (14300, ("roll", 1))


def test_all_cash_may_be_bid() -> None:
    """MET-AUC-13: the winner may be left with nothing."""
    game = metro(2).with_cash(1, 600).turn_of(0).roll(0, 1, 2).do(0, c.Decline()).do(1, c.Bid(600)).do(0, c.Pass())
    assert (game.cash(1), game.owner(3)) == (0, 1)


def test_without_a_bid_the_field_stays_unowned() -> None:
    """MET-AUC-11: and the turn goes on."""
    game = declined().do(1, c.Pass()).do(2, c.Pass()).do(0, c.Pass())
    assert game.events_of(AuctionClosed) == [AuctionClosed(1, NONE, 0, "no_bid")]
    assert (game.owner(3), game.decision) == (BANK, ("roll", 1))


def test_the_last_one_still_gets_a_step() -> None:
    """MET-AUC-12: a bid of the price then wins at once."""
    game = declined().do(1, c.Pass()).do(2, c.Pass())
    assert game.decision == ("auction_bid", 0)
    game.do(0, c.Bid(600))
    assert game.events_of(AuctionClosed) == [AuctionClosed(1, 0, 600, "sold")]
    assert (game.owner(3), game.cash(0)) == (0, 14400)


def test_who_leaves_in_his_step_passes() -> None:
    """MET-AUC-14, MET-BANK-09: and is out when the auction is over."""
    game = declined(4).do(1, c.Surrender())
    assert game.events_of(BidderPassed) == [BidderPassed(1, "leaving")]
    assert (game.state.in_play[1], game.decision) == (True, ("auction_bid", 2))
    game.do(2, c.Pass()).do(3, c.Bid(600)).do(0, c.Pass())
    assert [event.__class__.__name__ for event in game.events if isinstance(event, AuctionClosed | SeatOut)] == [
        "AuctionClosed",
        "SeatOut",
    ]
    assert (game.owner(3), game.state.in_play) == (3, [True, False, True, True])
    assert game.decision == ("roll", 2)


def test_the_steps_of_a_leaver_are_passes() -> None:
    """MET-AUC-14: when they come."""
    game = declined(4).do(3, c.Surrender())
    assert (game.decision, game.events_of(BidderPassed)) == (("auction_bid", 1), [])
    game.do(1, c.Pass()).do(2, c.Bid(600))
    assert game.events_of(BidderPassed) == [BidderPassed(3, "leaving")]
    assert game.decision == ("auction_bid", 0)
    game.do(0, c.Pass())
    assert (game.owner(3), game.state.in_play[3]) == (2, False)


def test_the_leading_bid_of_a_leaver_stands() -> None:
    """MET-AUC-14: if it wins it is paid and brings the field, which then goes with the rest."""
    game = declined(3).do(1, c.Bid(600)).do(1, c.Surrender())
    assert game.decision == ("auction_bid", 2)
    game.do(2, c.Pass()).do(0, c.Pass())
    assert game.money() == [(1, BANK, 600, "auction"), (1, BANK, 14400, "estate")]
    assert [(move.from_party, move.to_party) for move in game.events_of(DeedMoved)] == [(BANK, 1), (1, BANK)]
    assert (game.owner(3), game.state.in_play) == (BANK, [True, False, True])


def test_a_leaver_can_be_outbid() -> None:
    """MET-AUC-14: then he pays nothing."""
    game = declined(3).do(1, c.Bid(600)).do(1, c.Surrender()).do(2, c.Bid(700)).do(0, c.Pass())
    assert game.money() == [(2, BANK, 700, "auction"), (1, BANK, 15000, "estate")]
    assert game.owner(3) == 2


@both
def test_nobody_puts_up_an_own_field(edition: str) -> None:
    """MET-OWNAUC-01: in no phase."""
    game = metro(2, edition).owning(0, 39).turn_of(0)
    game.refused(0, c.OpenAuction(39), "wrong_decision", "MET-TURN-01")
    game = metro(2, edition).owning(0, 39).at(0, 1).turn_of(0).roll(0, 1, 2)
    game.refused(0, c.OpenAuction(39), "wrong_decision", "MET-DEBT-06")
    assert not game.options("open_auction")


def test_the_turn_of_a_decliner_who_left_ends_after_the_auction() -> None:
    """MET-AUC-14, MET-BANK-10: and the extra throw of a double with it."""
    game = metro(3).turn_of(0).roll(0, 3, 3).do(0, c.Decline()).do(0, c.Surrender())
    assert (game.decision, game.state.in_play) == (("auction_bid", 1), [True] * 3)
    game.do(1, c.Bid(1000)).do(2, c.Pass())
    assert game.events_of(BidderPassed) == [BidderPassed(2, "choice"), BidderPassed(0, "leaving")]
    assert (game.owner(6), game.state.in_play, game.decision) == (1, [False, True, True], ("roll", 1))


def test_several_leave_in_one_auction() -> None:
    """MET-AUC-14: all are out when it is over."""
    game = metro(4).turn_of(0).roll(0, 1, 2).do(0, c.Decline()).do(1, c.Surrender()).do(0, c.Surrender())
    game.do(2, c.Bid(600)).do(3, c.Pass())
    assert (game.owner(3), game.state.in_play, game.decision) == (2, [False, False, True, True], ("roll", 2))
