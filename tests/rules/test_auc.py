"""Auctions of a declined business (IND-AUC)."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.commands import Basket
from services.rules.domain.events import (
    AuctionClosed,
    AuctionOpened,
    BidderAsked,
    BidderPassed,
    BidPlaced,
    DeedMoved,
)
from services.rules.domain.parties import BANK, NONE
from tests.support.scenario import Game, a_game


def declined(game: Game, seat: int, cell: str | int) -> Game:
    """The seat lands on a cell and declines it."""
    return game.landing(seat, cell).do(seat, c.Decline())


def test_declining_always_starts_an_auction() -> None:
    """IND-AUC-01: of this cell, sold by the bank."""
    game = declined(a_game(2), 0, "bread_stall")
    assert game.events_of(AuctionOpened) == [AuctionOpened(1, "declined", 1, BANK, (0, 1), 45)]
    assert game.decision == ("auction_bid", 0)
    poor = declined(a_game(2).cash_of_all(0, 45), 0, "bread_stall")
    assert poor.decision == ("auction_bid", 1)


def test_all_in_play_take_part() -> None:
    """IND-AUC-02: the one who declined too, and nobody who is out."""
    game = declined(a_game(5).out(3), 1, "bread_stall")
    assert game.events_of(AuctionOpened)[0].bidders == (1, 2, 4, 0)


def test_the_one_who_declined_bids_first() -> None:
    """IND-AUC-03: whoever he is."""
    for seat in range(3):
        game = declined(a_game(3), seat, "bread_stall")
        assert game.events_of(BidderAsked) == [BidderAsked(seat, 45)]
        assert game.decision == ("auction_bid", seat)


def test_the_others_are_asked_clockwise_round_and_round() -> None:
    """IND-AUC-04: skipping those who passed, and only the asked one may bid or pass."""
    game = declined(a_game(4), 2, "bread_stall")
    game.refused(3, c.Bid(45), "not_asked", "IND-PHASE-10", {"seat": 2})
    game.refused(0, c.Pass(), "not_asked", "IND-PHASE-10", {"seat": 2})
    asked = []
    for action in (c.Bid(45), c.Bid(55), c.Pass(), c.Bid(65), c.Bid(75), c.Pass(), c.Bid(85)):
        assert game.decision is not None
        asked.append(game.decision[1])
        game.do(asked[-1], action)
    assert asked == [2, 3, 0, 1, 2, 3, 1]
    assert game.decision == ("auction_bid", 2)


@pytest.mark.parametrize(
    ("cell", "first"),
    [("bread_stall", 45), ("power_grid", 113), ("game_studio", 263), ("data_centre", 278), ("robotics_lab", 300)],
)
def test_the_first_bid_is_75_percent_rounded_up(cell: str, first: int) -> None:
    """IND-AUC-05: exactly, neither one less nor one more."""
    game = declined(a_game(2), 0, cell)
    allowed = game.option("bid").range
    assert allowed is not None
    assert (allowed.least, allowed.greatest) == (first, first)
    for amount in (first - 1, first + 1, first + 10, 0, -first):
        game.refused(0, c.Bid(amount), "bid_not_exact", "IND-AUC-05", {"least": first})
    game.do(0, c.Bid(first))
    assert game.events_of(BidPlaced) == [BidPlaced(0, first)]


def test_each_further_bid_is_exactly_10_higher() -> None:
    """IND-AUC-06: than the one before, also when that was odd."""
    game = declined(a_game(2), 0, "power_grid").do(0, c.Bid(113))
    for amount in (113, 114, 122, 124, 133):
        game.refused(1, c.Bid(amount), "bid_not_exact", "IND-AUC-06", {"least": 123})
    game.do(1, c.Bid(123))
    assert game.events_of(BidderAsked) == [BidderAsked(0, 133)]
    game.do(0, c.Bid(133))
    allowed = game.option("bid").range
    assert allowed is not None
    assert (allowed.least, allowed.greatest) == (143, 143)


def test_a_pass_is_final() -> None:
    """IND-AUC-07: who passed is not asked again in this auction, though the bidding goes on."""
    game = declined(a_game(3), 0, "bread_stall").do(0, c.Pass())
    assert game.events_of(BidderPassed) == [BidderPassed(0, "choice")]
    for amount, seat in ((45, 1), (55, 2), (65, 1), (75, 2)):
        assert game.decision == ("auction_bid", seat)
        game.do(seat, c.Bid(amount))
    game.refused(0, c.Bid(85), "not_asked", "IND-PHASE-10")


def test_lack_of_money_is_a_pass() -> None:
    """IND-AUC-08: at the first price and at a later one."""
    game = declined(a_game(3).cash_of_all(44, 1500, 54), 0, "bread_stall")
    assert game.events_of(BidderPassed) == [BidderPassed(0, "no_money")]
    game.do(1, c.Bid(45))
    assert game.events_of(BidderPassed) == [BidderPassed(2, "no_money")]
    assert (game.owner(1), game.cash(1), game.cash(2)) == (1, 1455, 54)


def test_the_pass_for_lack_of_money_comes_with_the_turn_and_needs_no_time() -> None:
    """IND-AUC-09: in the same step, with its reason; cash equal to the price is enough."""
    game = declined(a_game(3).cash_of_all(1500, 55, 64), 0, "bread_stall")
    game.do(0, c.Bid(45))
    assert (game.decision, game.events_of(BidderPassed)) == (("auction_bid", 1), [])
    game.do(1, c.Bid(55))
    assert game.event_names() == [
        "DecisionClosed",
        "BidPlaced",
        "BidderPassed",
        "BidderAsked",
        "DeadlineSet",
        "DecisionOpened",
    ]
    assert game.events_of(BidderPassed) == [BidderPassed(2, "no_money")]
    assert game.decision == ("auction_bid", 0)


def test_nobody_passes_before_his_turn() -> None:
    """IND-AUC-09: the poor are passed when their turn comes, not when the auction opens."""
    game = declined(a_game(3).cash_of_all(1500, 0, 0), 0, "bread_stall")
    assert game.events_of(BidderPassed) == []
    game.do(0, c.Bid(45))
    assert game.events_of(BidderPassed) == [BidderPassed(1, "no_money"), BidderPassed(2, "no_money")]
    assert game.owner(1) == 0


def test_a_bid_stands_when_the_rest_have_passed() -> None:
    """IND-AUC-10: the highest bidder gets it for his bid, without being asked once more."""
    game = declined(a_game(3), 0, "bread_stall").do(0, c.Bid(45)).do(1, c.Pass()).do(2, c.Pass())
    assert game.events_of(AuctionClosed) == [AuctionClosed(1, 0, 45, "sold")]
    assert (game.owner(1), game.cash(0)) == (0, 1455)


def test_the_highest_bidder_is_not_asked_and_the_outbid_owe_nothing() -> None:
    """IND-AUC-11: it ends when every other has passed, though he could not afford a further bid."""
    game = declined(a_game(3).cash_of_all(55, 50, 65), 0, "bread_stall").do(0, c.Bid(45))
    # seat 1 lacks the 55 for the next price
    assert game.decision == ("auction_bid", 2)
    game.do(2, c.Bid(55))
    assert game.events_of(AuctionClosed) == [AuctionClosed(1, 2, 55, "sold")]
    assert game.money() == [(2, BANK, 55, "auction")]
    assert game.state.cash == [55, 50, 10]


def test_the_last_one_left_without_a_bid_is_still_asked() -> None:
    """IND-AUC-11: with no bid yet there is no highest bidder: the last participant may bid or pass."""
    game = declined(a_game(3), 0, "bread_stall").do(0, c.Pass()).do(1, c.Pass())
    assert game.decision == ("auction_bid", 2)
    game.do(2, c.Bid(45))
    assert (game.owner(1), game.decision) == (2, ("manage", 0))


def test_the_winner_pays_his_bid_to_the_bank() -> None:
    """IND-AUC-12: and gets the cell."""
    game = declined(a_game(2), 0, "bread_stall").do(0, c.Bid(45)).do(1, c.Bid(55)).do(0, c.Pass())
    assert game.event_names()[:5] == ["DecisionClosed", "BidderPassed", "AuctionClosed", "MoneyMoved", "DeedMoved"]
    assert game.money() == [(1, BANK, 55, "auction")]
    assert game.events_of(DeedMoved) == [DeedMoved(1, BANK, 1, "auction")]
    assert (game.owner(1), game.state.cash) == (1, [1500, 1445])


def test_without_a_bid_the_cell_stays_free() -> None:
    """IND-AUC-13: nothing is paid."""
    game = declined(a_game(2), 0, "bread_stall").do(0, c.Pass()).do(1, c.Pass())
    assert game.events_of(AuctionClosed) == [AuctionClosed(1, NONE, 0, "no_bid")]
    assert (game.owner(1), game.money(), game.state.deadlines[0].kind) == (BANK, [], "turn")


def test_a_lot_without_a_bid_is_cancelled_after_60_seconds() -> None:
    """IND-AUC-14: counted from the opening, and no pass restarts it."""
    game = declined(a_game(3), 0, "bread_stall")
    assert game.deadline == ("lot", 60_000)
    lot = game.state.deadlines[0].id
    game.do(0, c.Pass(), after_ms=20_000)
    assert (game.decision, game.deadline) == (("auction_bid", 1), ("lot", 40_000))
    game.wait(39_999).refused(-1, c.Expire(lot), "not_due", "IND-TIME-16", {"left_ms": 1})
    game.wait(1).do(-1, c.Expire(lot))
    assert game.events_of(AuctionClosed) == [AuctionClosed(1, NONE, 0, "cancelled")]
    assert (game.owner(1), game.decision, game.state.in_play) == (BANK, ("manage", 0), [True] * 3)
    assert [deadline.kind for deadline in game.state.deadlines] == ["turn"]


def test_the_first_bid_lifts_the_limit_of_the_lot() -> None:
    """IND-AUC-14: from then on each one asked has 60 seconds of his own."""
    game = declined(a_game(3), 0, "bread_stall")
    lot = game.state.deadlines[0].id
    game.do(0, c.Bid(45), after_ms=59_999)
    assert game.deadline == ("bid", 60_000)
    game.wait(30_000).refused(-1, c.Expire(lot), "stale_deadline", "IND-TIME-16")
    game.do(1, c.Bid(55))
    assert (game.decision, game.deadline) == (("auction_bid", 2), ("bid", 60_000))


def test_the_limit_of_the_lot_holds_at_bot_tables() -> None:
    """IND-AUC-14: there too, though no other time runs."""
    game = declined(a_game(2, "solo"), 0, "bread_stall")
    assert game.deadline == ("lot", 60_000)
    game.expire("lot")
    assert (game.owner(1), game.decision) == (BANK, ("manage", 0))
    assert game.state.deadlines == ()


def test_an_auction_in_which_all_pass_ends_at_once() -> None:
    """IND-AUC-15: by choice and for lack of money alike; the lot's time is over too."""
    game = declined(a_game(3).cash_of_all(10, 10, 10), 0, "bread_stall")
    assert game.events_of(BidderPassed) == [BidderPassed(seat, "no_money") for seat in range(3)]
    assert game.events_of(AuctionClosed) == [AuctionClosed(1, NONE, 0, "no_bid")]
    assert (game.decision, game.deadline) == (("manage", 0), ("turn", 300_000))
    game = declined(a_game(3).cash_of_all(1500, 10, 10), 0, "bread_stall").do(0, c.Pass(), after_ms=5)
    assert game.events_of(AuctionClosed) == [AuctionClosed(1, NONE, 0, "no_bid")]
    assert [deadline.kind for deadline in game.state.deadlines] == ["turn"]


def test_players_in_inspection_bid() -> None:
    """IND-AUC-16: like everybody, and those who are out do not."""
    game = declined(a_game(3).in_jail(1).out(2), 0, "bread_stall").do(0, c.Pass())
    assert game.decision == ("auction_bid", 1)
    game.do(1, c.Bid(45))
    assert game.owner(1) == 1


def test_no_other_action_is_legal_during_an_auction() -> None:
    """IND-AUC-17: not for the asked one, nor for the turn player."""
    game = a_game(2).owning_group(0, "it", 1, 1, 1).owning(0, "river_port").owning(1, "power_grid")
    declined(game, 0, "bread_stall")
    assert game.option_kinds() == {"bid", "pass"}
    trade = c.OfferTrade(1, Basket(1), Basket(0, (12,)))
    for action in (c.SellBuildings((36,), 0), c.OpenAuction(18, 100), trade, c.Build((36,)), c.Buy(), c.Decline()):
        game.refused(0, action, "wrong_decision", "IND-PHASE-04")
    game.do(0, c.Bid(45))
    game.refused(0, c.SellBuildings((36,), 0), "not_asked", "IND-PHASE-10")


def test_after_the_auction_the_one_who_declined_goes_on() -> None:
    """IND-AUC-18: in phase MANAGE, and an owed extra roll is kept."""
    game = a_game(3).at(0, 39).turn_of(0).roll(0, 1, 1)
    game.do(0, c.Decline()).do(0, c.Pass()).do(1, c.Bid(45)).do(2, c.Pass())
    assert (game.owner(1), game.decision) == (1, ("manage", 0))
    assert game.state.extra_owed
    game.end_turn(0)
    assert game.decision == ("roll", 0)


def test_a_bid_carries_its_price() -> None:
    """IND-AUC-19: the same bid sent twice does not raise twice, nor does a bid meant for an earlier price count."""
    game = declined(a_game(2), 0, "bread_stall")
    decision = game.state.decision
    assert decision is not None
    game.do(0, c.Bid(45))
    game.refused(0, c.Bid(45), "stale_decision", "IND-PHASE-10", decision_id=decision.id)
    game.refused(0, c.Bid(55), "not_asked", "IND-PHASE-10")
    game.refused(1, c.Bid(45), "bid_not_exact", "IND-AUC-06", {"least": 55})
    assert game.cash(0) == 1500
