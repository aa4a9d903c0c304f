"""Buying, and auctions of declined properties (BRA-BUY, BRA-AUC)."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.events import AuctionClosed, AuctionOpened, BidderPassed, DeedMoved, PaymentDue, SeatOut
from services.rules.domain.options import AmountRange
from services.rules.domain.parties import BANK, NONE
from services.rules.domain.state import Claim
from tests.rules.brands.games import BRANDS, FAST, TEAMS, TURN_MS, brands, every_mode, in_minute
from tests.support.scenario import Game


def declined(edition: str = BRANDS, seats: int = 4, *, cell: int = 39, cash: int = 15000) -> Game:
    """Seat 0 has declined a property; seat 1 is asked."""
    game = brands(edition, seats).cash_of_all(*[cash] * seats)
    return game.landing(0, cell).do(0, c.Decline())


@every_mode
def test_buying(edition: str) -> None:
    """BRA-BUY-01: for the printed price."""
    game = brands(edition).landing(0, 39).do(0, c.Buy())
    assert game.money() == [(0, BANK, 4000, "purchase")]
    assert game.events_of(DeedMoved) == [DeedMoved(39, BANK, 0, "purchase")]
    assert (game.owner(39), game.decision) == (0, ("roll", 1))


@pytest.mark.parametrize(("cash", "buys"), [(3999, False), (4000, True), (4001, True)])
def test_buying_needs_cash(cash: int, buys: bool) -> None:
    """BRA-BUY-02: the price at that moment; it cannot lead to debt."""
    game = brands().with_cash(0, cash).landing(0, 39)
    assert ("buy" in game.option_kinds()) == buys
    if buys:
        assert game.do(0, c.Buy()).cash(0) == cash - 4000
    else:
        game.refused(0, c.Buy(), "not_enough_cash", "BRA-BUY-02", {"least": 4000})


def test_raising_the_price_in_the_same_phase() -> None:
    """BRA-BUY-02: the player may first sell or mortgage."""
    game = brands().owning_group(0, "supermarkets", 1, 0).owning(0, 5).with_cash(0, 2500).landing(0, 39)
    game.do(0, c.Mortgage(5)).refused(0, c.Buy(), "not_enough_cash", "BRA-BUY-02")
    game.do(0, c.SellBuildings((1,), 0)).do(0, c.Buy())
    assert (game.owner(39), game.cash(0)) == (0, 0)


@every_mode
def test_a_declined_property_is_auctioned_among_the_others(edition: str) -> None:
    """BRA-AUC-01, BRA-AUC-02, BRA-AUC-08: in seat order from the next, without the one who declined."""
    seats = 4 if edition == TEAMS else 3
    game = brands(edition, seats).landing(1, 39).do(1, c.Decline())
    bidders = (2, 3, 0) if seats == 4 else (2, 0)
    assert game.events_of(AuctionOpened) == [AuctionOpened(1, "declined", 39, BANK, bidders, 4000)]
    assert game.decision == ("auction_bid", 2)
    game.refused(1, c.Bid(4000), "excluded_bidder", "BRA-AUC-02")


@every_mode
def test_opening_and_step(edition: str) -> None:
    """BRA-AUC-03, BRA-AUC-09: at least the price, then at least 100 more; any whole number from there up."""
    game = brands(edition).landing(0, 39).do(0, c.Decline())
    assert game.option("bid").range == AmountRange(4000, game.cash(1))
    game.refused(1, c.Bid(3999), "bid_too_low", "BRA-AUC-03", {"least": 4000})
    game.do(1, c.Bid(4001))
    game.refused(2, c.Bid(4100), "bid_too_low", "BRA-AUC-03", {"least": 4101})
    game.do(2, c.Bid(4101))
    assert game.state.owners[39] == BANK


def test_bids_go_round() -> None:
    """BRA-AUC-04, BRA-AUC-06, BRA-AUC-08: one after another; a pass is final; all but the leader passed."""
    game = declined()
    game.do(1, c.Bid(4000)).do(2, c.Pass()).do(3, c.Bid(4500))
    assert game.decision == ("auction_bid", 1)
    game.do(1, c.Bid(5000))
    assert game.decision == ("auction_bid", 3)
    game.refused(2, c.Bid(6000), "not_asked", "BRA-TURN-02")
    game.do(3, c.Pass())
    assert game.events_of(AuctionClosed) == [AuctionClosed(1, 1, 5000, "sold")]
    assert game.money() == [(1, BANK, 5000, "auction")]
    assert (game.owner(39), game.decision) == (1, ("roll", 1))


@every_mode
def test_time_to_bid(edition: str) -> None:
    """BRA-AUC-05: 20 seconds for each bid, and then a pass; BRA-AUTO-08."""
    game = brands(edition).landing(0, 39).do(0, c.Decline())
    assert game.deadline == ("bid", 20_000)
    game.do(1, c.Bid(4000), after_ms=19_999)
    assert game.deadline == ("bid", 20_000)
    game.expire("bid")
    assert game.events_of(BidderPassed) == [BidderPassed(2, "time")]


def test_a_bid_that_comes_too_late() -> None:
    """BRA-AUC-05: at 20 seconds the time is up."""
    game = declined().wait(20_000)
    game.refused(1, c.Bid(4000), "stale_deadline", "BRA-TIME-14", {"late_ms": 0})


@every_mode
def test_without_a_bid_it_stays_unowned(edition: str) -> None:
    """BRA-AUC-07, BRA-AUC-08: the last one left without any bid still gets a step."""
    game = brands(edition).landing(0, 39).do(0, c.Decline())
    others = range(1, len(game.state.cash))
    for seat in others:
        assert game.decision == ("auction_bid", seat)
        game.do(seat, c.Pass())
    assert game.events_of(AuctionClosed) == [AuctionClosed(1, NONE, 0, "no_bid")]
    assert (game.owner(39), game.decision, game.money()) == (BANK, ("roll", 1), [])


def test_the_last_one_left_may_bid() -> None:
    """BRA-AUC-08: and wins at once."""
    game = declined().do(1, c.Pass()).do(2, c.Pass()).do(3, c.Bid(4000))
    assert (game.owner(39), game.cash(3)) == (3, 11000)


def test_the_leader_alone_is_not_asked() -> None:
    """BRA-AUC-08: once all but the leader have passed, the leader has won."""
    game = declined(seats=2).do(1, c.Bid(4000))
    assert game.events_of(AuctionClosed) == [AuctionClosed(1, 1, 4000, "sold")]


def test_a_bid_within_reach() -> None:
    """BRA-AUC-10: above the cash, but not above what the bidder can raise."""
    game = brands(BRANDS, 3).owning_group(1, "technology", 1, 0).owning(1, 5).with_cash(1, 3000)
    game.landing(0, 34).do(0, c.Decline())
    # 3000, one level of 2000, half of 3500, 4000 and 2000.
    assert game.option("bid").range == AmountRange(3200, 3000 + 2000 + 1750 + 2000 + 1000)
    game.refused(1, c.Bid(9751), "bid_over_limit", "BRA-AUC-10", {"greatest": 9750})
    game.do(1, c.Bid(9750)).do(2, c.Pass())
    assert game.decision == ("payment", 1)


def test_raisable_in_a_brawl_counts_refunds_of_75_percent() -> None:
    """BRA-AUC-10: as the building refund of the mode."""
    game = brands("brands-brawl").owning_group(1, "technology", 1, 0).with_cash(1, 3000)
    game.landing(0, 34).do(0, c.Decline())
    assert game.option("bid").range == AmountRange(3200, 3000 + 1500 + 1750 + 2000)


@pytest.mark.parametrize(("cash", "asked"), [(1999, False), (2000, True)])
def test_who_cannot_raise_the_minimum_is_passed(cash: int, asked: bool) -> None:
    """BRA-AUC-10: at once."""
    game = brands(BRANDS, 3).owning(1, 39).with_cash(1, cash).landing(0, 37)
    game.with_cash(1, cash - 500).do(0, c.Decline())
    assert (game.decision == ("auction_bid", 1)) == asked
    passed = [BidderPassed(1, "no_money")] if not asked else []
    assert game.events_of(BidderPassed) == passed


def test_who_falls_behind_is_passed() -> None:
    """BRA-AUC-10: below the new minimum."""
    game = declined().with_cash(1, 4000).do(1, c.Bid(4000)).do(2, c.Bid(4100)).do(3, c.Pass())
    assert game.events_of(BidderPassed)[-1] == BidderPassed(1, "no_money")
    assert game.owner(39) == 2


def test_a_winner_short_of_cash_owes_the_bid() -> None:
    """BRA-AUC-11: the property changes hands only when it is paid."""
    game = brands(BRANDS, 3).owning(1, 37).with_cash(1, 4000).landing(0, 39).do(0, c.Decline())
    game.do(1, c.Bid(5000)).do(2, c.Pass())
    assert game.events_of(PaymentDue) == [PaymentDue(1, 1, (Claim(BANK, 5000),), "auction", 39)]
    assert (game.owner(39), game.decision, game.deadline) == (BANK, ("payment", 1), ("payment", 60_000))
    game.refused(1, c.Pay(), "not_enough_cash", "BRA-DEBT-05", {"least": 5000})
    game.do(1, c.Mortgage(37)).do(1, c.Pay())
    assert game.money() == [(1, BANK, 5000, "auction")]
    assert (game.owner(39), game.cash(1), game.decision) == (1, 750, ("roll", 1))


def test_a_winner_with_exactly_his_bid_pays_at_once() -> None:
    """BRA-AUC-11: from cash."""
    game = brands(BRANDS, 3).with_cash(1, 5000).landing(0, 39).do(0, c.Decline()).do(1, c.Bid(5000)).do(2, c.Pass())
    assert game.money() == [(1, BANK, 5000, "auction")]
    assert (game.owner(39), game.cash(1), game.decision) == (1, 0, ("roll", 1))


def test_a_winner_who_goes_bankrupt_over_the_bid() -> None:
    """BRA-AUC-11: it stays unowned, without a second auction."""
    game = brands(BRANDS, 3).owning(1, 37).with_cash(1, 4000).landing(0, 39).do(0, c.Decline())
    game.do(1, c.Bid(5750)).do(2, c.Pass())
    game.state.mortgaged_rounds[37] = 1
    game.do(1, c.DeclareBankruptcy())
    assert (game.owner(39), game.owner(37), game.decision) == (BANK, BANK, ("roll", 2))
    assert game.events_of(AuctionOpened) == []


def test_property_and_prisoners_in_an_auction() -> None:
    """BRA-AUC-12: nobody sells or mortgages while it runs; who is in jail may bid."""
    game = brands(BRANDS, 3).owning(1, 37).in_jail(1).landing(0, 39).do(0, c.Decline())
    game.refused(1, c.Mortgage(37), "wrong_decision", "BRA-AUC-04")
    game.refused(0, c.Mortgage(37), "excluded_bidder", "BRA-AUC-02")
    game.do(1, c.Bid(4000)).do(2, c.Pass())
    assert game.owner(39) == 1


def test_a_bidder_who_leaves_passes() -> None:
    """BRA-AUC-13: out when the auction is over; until then a pass."""
    game = declined().do(2, c.Surrender())
    assert game.state.in_play[2]
    game.do(1, c.Bid(4000))
    assert game.events_of(BidderPassed) == [BidderPassed(2, "leaving")]
    assert game.decision == ("auction_bid", 3)
    game.do(3, c.Pass())
    assert game.events_of(SeatOut) == [SeatOut(2, 4)]
    assert (game.owner(39), game.state.in_play) == (1, [True, True, False, True])


def test_who_leaves_while_being_asked_passes_at_once() -> None:
    """BRA-AUC-13: the next one is asked."""
    game = declined().do(1, c.Surrender())
    assert game.events_of(BidderPassed) == [BidderPassed(1, "leaving")]
    assert (game.decision, game.state.in_play[1]) == (("auction_bid", 2), True)


def test_a_leading_bid_of_a_leaver_stands() -> None:
    """BRA-AUC-13, BRA-BANK-11: it is paid, brings the property, and then the estate goes to the bank."""
    game = declined().do(1, c.Bid(4000)).do(1, c.Surrender()).do(2, c.Pass()).do(3, c.Pass())
    assert game.money() == [(1, BANK, 4000, "auction"), (1, BANK, 11000, "estate")]
    assert game.events_of(DeedMoved) == [DeedMoved(39, BANK, 1, "auction"), DeedMoved(39, 1, BANK, "estate")]
    assert game.decision == ("roll", 2)


def test_a_leavers_bid_beyond_his_cash_is_raised() -> None:
    """BRA-AUC-13, BRA-BANK-11: the debt for the bid is settled first."""
    game = declined().owning(1, 37).with_cash(1, 4000).do(1, c.Bid(5000)).do(1, c.Surrender())
    game.do(2, c.Pass()).do(3, c.Pass())
    assert game.money() == [
        (BANK, 1, 1750, "mortgage"),
        (1, BANK, 5000, "auction"),
        (1, BANK, 750, "estate"),
    ]
    assert game.events_of(DeedMoved)[0] == DeedMoved(39, BANK, 1, "auction")


def test_a_seller_who_leaves() -> None:
    """BRA-AUC-13: who declined is out when the auction is over, and his turn ends."""
    game = declined().do(0, c.Surrender())
    assert game.state.in_play[0]
    game.do(1, c.Bid(4000)).do(2, c.Pass()).do(3, c.Pass())
    assert (game.owner(39), game.state.in_play[0], game.decision) == (1, False, ("roll", 1))


@pytest.mark.parametrize("edition", [BRANDS, FAST])
def test_the_turn_goes_on_after_an_auction(edition: str) -> None:
    """BRA-AUC-08: with what the turn's clock had left (BRA-TIME-03)."""
    game = in_minute(brands(edition), 2).in_round(8 if edition == FAST else 1).at(0, 37).turn_of(0)
    if edition == FAST:
        game.roll(0, 1, 1, third=5, after_ms=5000).do(0, c.Decline(), after_ms=1000)
        game.do(1, c.Pass(), after_ms=15_000).do(2, c.Pass(), after_ms=15_000)
        assert (game.decision, game.deadline) == (("purchase", 0), ("turn", TURN_MS[FAST] - 6000))
        assert game.position(0) == 1
    else:
        game.roll(0, 1, 1, after_ms=5000).do(0, c.Decline(), after_ms=1000)
        game.do(1, c.Pass()).do(2, c.Pass(), after_ms=15_000)
        assert (game.decision, game.deadline) == (("roll", 0), ("turn", TURN_MS[BRANDS]))
