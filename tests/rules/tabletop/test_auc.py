"""Auctions after a declined purchase (TAB-AUC-01 to -13)."""

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
    StrikeCounted,
)
from services.rules.domain.parties import BANK, NONE
from tests.rules.tabletop.tables import FIVE, TABLETOPS, a_table, online, rent_tax, tabletop
from tests.support.scenario import Game

WITH_DECLINER = [*TABLETOPS, "rent-tax"]
#: (edition, least first bid, least raise)
STEPS = [(one, 1, 10) for one in FIVE[:4]] + [("rent-tax", 10, 100)]


def declined(edition: str = "tabletop", seats: int = 3, cell: int = 39, game: Game | None = None) -> Game:
    """Seat 0 has stopped on a deed and declined it."""
    table = game or a_table(edition, seats)
    return table.at(0, cell - 3).turn_of(0).roll(0, 1, 2).do(0, c.Decline())


@pytest.mark.parametrize("edition", FIVE)
def test_the_highest_bidder_pays_his_bid(edition: str) -> None:
    """TAB-AUC-01: to the bank, and receives the deed."""
    game = declined(edition).do(1, c.Bid(300)).do(2, c.Bid(500))
    if edition != "online-classic":
        game.do(0, c.Pass())
    game.do(1, c.Pass())
    assert game.money() == [(2, BANK, 500, "auction")]
    assert game.events_of(DeedMoved) == [DeedMoved(39, BANK, 2, "auction")]
    (closed,) = game.events_of(AuctionClosed)
    assert (closed.winner, closed.amount, closed.outcome) == (2, 500, "sold")


def test_online_the_decliner_does_not_take_part() -> None:
    """TAB-AUC-02."""
    game = declined("online-classic")
    assert game.events_of(AuctionOpened)[0].bidders == (1, 2)
    game.refused(0, c.Bid(100), "excluded_bidder", "TAB-AUC-02")
    game.do(1, c.Pass()).do(2, c.Pass())
    assert (game.owner(39), game.decision) == (BANK, ("roll", 1))


@pytest.mark.parametrize("edition", TABLETOPS)
@pytest.mark.parametrize("cell", [12, 35, 39])
def test_the_decliner_may_bid(edition: str, cell: int) -> None:
    """TAB-AUC-03: also for utilities and stations; he is asked last."""
    game = declined(edition, cell=cell).do(1, c.Pass()).do(2, c.Pass())
    assert game.decision == ("auction_bid", 0)
    game.do(0, c.Bid(1))
    assert (game.owner(cell), game.money()) == (0, [(0, BANK, 1, "auction")])


@pytest.mark.parametrize("edition", WITH_DECLINER)
def test_the_order_of_bidding(edition: str) -> None:
    """TAB-AUC-04: from the seat after the decliner, who is last; prisoners take part; bankrupts do not."""
    game = a_table(edition, 5).in_jail(4).out(3).at(2, 36).turn_of(2).roll(2, 1, 2).do(2, c.Decline())
    assert game.events_of(AuctionOpened)[0].bidders == (4, 0, 1, 2)
    asked = []
    for _ in range(4):
        assert game.decision is not None
        asked.append(game.decision[1])
        game.do(game.decision[1], c.Pass())
    assert asked == [4, 0, 1, 2]


def test_a_pass_is_final_and_the_leader_is_not_asked() -> None:
    """TAB-AUC-04: round and round among those who are left."""
    game = declined(seats=4)
    asked = [1]
    steps: list[tuple[int, c.Action]] = [
        (1, c.Bid(10)),
        (2, c.Pass()),
        (3, c.Bid(20)),
        (0, c.Bid(30)),
        (1, c.Bid(40)),
        (3, c.Pass()),
        (0, c.Bid(50)),
        (1, c.Pass()),
    ]
    for seat, action in steps:
        assert game.decision == ("auction_bid", seat)
        game.do(seat, action)
        asked += [event.seat for event in game.events_of(BidderAsked)]
    assert asked == [1, 2, 3, 0, 1, 3, 0, 1]
    assert (game.owner(39), game.cash(0)) == (0, 1450)
    assert game.decision == ("manage", 0)


def test_only_the_asked_bidder_bids() -> None:
    """TAB-AUC-04: bidding goes in turn."""
    game = declined()
    game.refused(2, c.Bid(100), "not_asked", "TAB-PHASE-04", {"seat": 1})
    game.do(1, c.Bid(100))
    game.refused(1, c.Bid(200), "not_asked", "TAB-PHASE-04", {"seat": 2})


@pytest.mark.parametrize(("edition", "least", "step"), STEPS)
def test_the_first_bid(edition: str, least: int, step: int) -> None:
    """TAB-AUC-05: any whole number from 1, in rent-tax from 10; there is no reserve."""
    game = declined(edition)
    bids = game.option("bid").range
    assert bids is not None
    assert (bids.least, bids.greatest, bids.step) == (least, game.edition.start_cash, 1)
    game.refused(1, c.Bid(least - 1), "bid_too_low", "TAB-AUC-05", {"least": least})
    game.do(1, c.Bid(least))
    assert game.events_of(BidPlaced) == [BidPlaced(1, least)]
    declined(edition).do(1, c.Bid(least + 6))


@pytest.mark.parametrize(("edition", "least", "step"), STEPS)
def test_later_bids(edition: str, least: int, step: int) -> None:
    """TAB-AUC-06: at least the leading bid + 10, in rent-tax + 100; any larger one is allowed."""
    game = declined(edition, 4).do(1, c.Bid(437))
    game.refused(2, c.Bid(437 + step - 1), "bid_too_low", "TAB-AUC-06", {"least": 437 + step})
    game.do(2, c.Bid(437 + step))
    game.do(3, c.Bid(437 + 2 * step + 3))
    assert game.events_of(BidPlaced) == [BidPlaced(3, 440 + 2 * step)]


@pytest.mark.parametrize("edition", FIVE)
def test_a_bid_is_within_cash(edition: str) -> None:
    """TAB-AUC-07: equal to the cash is legal, one more is not."""
    game = declined(game=a_table(edition).with_cash(1, 345))
    game.refused(1, c.Bid(346), "bid_over_limit", "TAB-AUC-07", {"greatest": 345})
    game.do(1, c.Bid(345))
    assert game.events_of(BidPlaced) == [BidPlaced(1, 345)]


@pytest.mark.parametrize("edition", TABLETOPS)
def test_a_bidder_may_raise_cash_first(edition: str) -> None:
    """TAB-AUC-07: by sales and mortgages in the own turn of bidding, while the clock runs on; others may as well."""
    game = declined(game=a_table(edition).with_cash(1, 20).owning_group(1, "brown", 1, 1).owning(1, 5).owning(2, 15))
    game.wait(10_000).do(1, c.SellBuildings((1,), 0)).do(1, c.Mortgage(5)).do(2, c.Mortgage(15))
    assert (game.decision, game.deadline) == (("auction_bid", 1), ("bid", 20_000))
    game.refused(1, c.Bid(146), "bid_over_limit", "TAB-AUC-07", {"greatest": 145})
    game.do(1, c.Bid(145))


@pytest.mark.parametrize("edition", ["online-classic", "rent-tax"])
def test_elsewhere_nobody_raises_cash_in_an_auction(edition: str) -> None:
    """TAB-AUC-07."""
    group = "perfume" if edition == "rent-tax" else "brown"
    game = declined(game=a_table(edition).owning_group(1, group, 1, 1).owning(1, 6))
    assert {option.kind for option in game.own_options(1)} == {"bid", "pass", "surrender"}
    game.refused(1, c.Mortgage(6), "wrong_decision", "TAB-AUC-04")
    game.refused(1, c.SellBuildings((1,), 0), "wrong_decision", "TAB-AUC-04")


@pytest.mark.parametrize("edition", FIVE)
def test_nothing_else_is_done_in_an_auction(edition: str) -> None:
    """TAB-AUC-07: neither buying nor building, redeeming or dealing, so every standing bid stays covered."""
    game = declined(game=a_table(edition).owning_group(1, "perfume" if edition == "rent-tax" else "brown").owning(1, 6))
    game.mortgaged(6)
    for action in (c.Buy(), c.Build((1,)), c.Redeem(6), c.OfferTrade(2, Basket(1), Basket(1)), c.Roll()):
        game.refused(1, action, "wrong_decision", "TAB-AUC-04")


@pytest.mark.parametrize("edition", TABLETOPS)
@pytest.mark.parametrize(("leading", "asked"), [(20, True), (21, False)])
def test_whoever_cannot_reach_the_least_bid_is_passed(edition: str, leading: int, asked: bool) -> None:
    """TAB-AUC-08: in TT all that could be sold and mortgaged counts: here 30."""
    game = declined(game=a_table(edition).with_cash(2, 0).owning(2, 1))
    game.do(1, c.Bid(leading))
    assert game.decision == ("auction_bid", 2 if asked else 0)
    assert game.events_of(BidderPassed) == ([] if asked else [BidderPassed(2, "no_money")])


@pytest.mark.parametrize(("edition", "step"), [("online-classic", 10), ("rent-tax", 100)])
def test_elsewhere_only_cash_counts(edition: str, step: int) -> None:
    """TAB-AUC-08: one unit short is a pass."""
    for cash, asked in ((300 + step, True), (300 + step - 1, False)):
        game = declined(game=a_table(edition, 4).with_cash(2, cash).owning(2, 1, 3)).do(1, c.Bid(300))
        assert game.decision == ("auction_bid", 2 if asked else 3)


def test_the_end_of_a_lot() -> None:
    """TAB-AUC-09: one leader and all others passed, or all passed."""
    game = declined().do(1, c.Pass()).do(2, c.Bid(10))
    assert game.decision == ("auction_bid", 0)
    game.do(0, c.Pass())
    assert game.events_of(AuctionClosed)[0].outcome == "sold"
    game = declined().do(1, c.Pass()).do(2, c.Pass()).do(0, c.Pass())
    (closed,) = game.events_of(AuctionClosed)
    assert (closed.winner, closed.outcome) == (NONE, "no_bid")


@pytest.mark.parametrize("edition", FIVE)
def test_an_unsold_deed_stays_free(edition: str) -> None:
    """TAB-AUC-10: the next visitor may buy it."""
    game = declined(edition).do(1, c.Pass()).do(2, c.Pass())
    if edition != "online-classic":
        game.do(0, c.Pass())
    assert (game.owner(39), game.money()) == (BANK, [])
    game.at(1, 36).turn_of(1).roll(1, 1, 2)
    assert game.decision == ("purchase", 1)


def test_nobody_can_buy() -> None:
    """TAB-AUC-10, -08: all are passed for want of money."""
    game = declined(game=online().with_cash(1, 0).with_cash(2, 0))
    assert game.events_of(BidderPassed) == [BidderPassed(1, "no_money"), BidderPassed(2, "no_money")]
    assert (game.owner(39), game.decision) == (BANK, ("roll", 1))


def test_a_single_participant() -> None:
    """TAB-AUC-11: takes the deed for any legal first bid, or passes."""
    game = declined("online-classic", 2).do(1, c.Bid(1))
    assert (game.owner(39), game.money()) == (1, [(1, BANK, 1, "auction")])
    game = declined("online-classic", 2).do(1, c.Pass())
    assert (game.owner(39), game.decision) == (BANK, ("roll", 1))


def test_the_server_is_the_auctioneer() -> None:
    """TAB-AUC-12: no seat calls the lot; the same command that declines opens it, and the last pass closes it."""
    game = declined()
    assert game.event_names() == [
        "DecisionClosed",
        "AuctionOpened",
        "BidderAsked",
        "DeadlineSet",
        "DecisionOpened",
    ]
    assert game.events_of(AuctionOpened)[0].seller == BANK


@pytest.mark.parametrize("edition", FIVE)
def test_a_missed_bid_is_a_pass_and_no_missed_decision(edition: str) -> None:
    """TAB-AUC-13: 30 seconds for each bid; the seat stays in the game."""
    game = declined(edition)
    assert game.deadline == ("bid", 30_000)
    game.wait(12_000).expire("bid")
    assert game.events_of(BidderPassed) == [BidderPassed(1, "time")]
    assert game.events_of(StrikeCounted) == []
    assert (game.decision, game.deadline) == (("auction_bid", 2), ("bid", 30_000))
    assert game.state.in_play == [True] * 3


def test_rent_tax_asks_the_decliner_too() -> None:
    """TAB-AUC-04: TB."""
    assert declined("rent-tax").events_of(AuctionOpened)[0].bidders == (1, 2, 0)
    assert rent_tax().edition.auction_style == tabletop().edition.auction_style == "in_turn"
