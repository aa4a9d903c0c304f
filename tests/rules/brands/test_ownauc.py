"""Auctions of one's own mortgaged property, in a brawl (BRA-OWNAUC)."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.events import AuctionClosed, AuctionOpened, BidderPassed, DeedMoved, DeedRedeemed
from services.rules.domain.options import AmountRange, LotChoice
from services.rules.domain.parties import BANK, NONE
from tests.rules.brands.games import BRANDS, BRAWL, FAST, INCOME_TAX, TEAMS, TURN_MS, brands, offer
from tests.support.scenario import Game

LATTICE, COBALT = 39, 37


def seller(edition: str = BRAWL) -> Game:
    """Seat 0 has a mortgaged property of 4000 and one of 2000 that is not."""
    return brands(edition).owning(0, LATTICE, 5).mortgaged(LATTICE, since=1).in_round(3)


def test_a_mortgaged_property_is_put_up() -> None:
    """BRA-OWNAUC-01, BRA-OWNAUC-03: without waiting for the mortgage to run out; the next player bids first."""
    game = seller().turn_of(0)
    assert game.option("open_auction").lots == (LotChoice(LATTICE, None),)
    game.refused(0, c.OpenAuction(LATTICE, 4000), "opening_out_of_range", "BRA-OWNAUC-02", {"greatest": 0})
    game.do(0, c.OpenAuction(LATTICE))
    assert game.events_of(AuctionOpened) == [AuctionOpened(1, "own", LATTICE, 0, (1, 2), 4000)]
    assert game.decision == ("auction_bid", 1)
    game.refused(0, c.Bid(4000), "excluded_bidder", "BRA-AUC-02")


@pytest.mark.parametrize("edition", [BRANDS, FAST, TEAMS])
def test_only_in_a_brawl(edition: str) -> None:
    """BRA-OWNAUC-01: the other modes have no such right."""
    game = seller(edition).turn_of(0)
    assert "open_auction" not in game.option_kinds()
    game.refused(0, c.OpenAuction(LATTICE), "wrong_decision", "BRA-TURN-01")


def test_what_cannot_be_put_up() -> None:
    """BRA-OWNAUC-01: property that is not mortgaged, another's, or none at all."""
    game = seller().owning(1, COBALT).mortgaged(COBALT).turn_of(0)
    game.refused(0, c.OpenAuction(5), "not_mortgaged", "BRA-OWNAUC-01")
    game.refused(0, c.OpenAuction(COBALT), "not_owner", "BRA-OWNAUC-01")
    game.refused(0, c.OpenAuction(0), "unknown_cell", "BRA-TIME-14")


def test_when_it_is_legal() -> None:
    """BRA-OWNAUC-02: in the seller's own `roll`, `buy` and `debt`; not in `pay`, nor in others' turns."""
    assert seller().in_jail(0).turn_of(0).do(0, c.OpenAuction(LATTICE)).decision == ("auction_bid", 1)
    game = seller().landing(0, COBALT).do(0, c.OpenAuction(LATTICE)).do(1, c.Pass()).do(2, c.Pass())
    assert game.decision == ("purchase", 0)
    covered = seller().landing(0, INCOME_TAX)
    assert "open_auction" not in covered.option_kinds()
    covered.refused(0, c.OpenAuction(LATTICE), "wrong_decision", "BRA-OWNAUC-02")
    debt = seller().with_cash(0, 1999).landing(0, INCOME_TAX).do(0, c.OpenAuction(LATTICE))
    debt.do(1, c.Pass()).do(2, c.Pass())
    assert debt.decision == ("payment", 0)
    foreign = seller().with_cash(0, 0).owing(0, 500, 1, turn=1).do(0, c.OpenAuction(LATTICE))
    assert foreign.decision == ("auction_bid", 1)
    seller().turn_of(1).refused(0, c.OpenAuction(LATTICE), "not_asked", "BRA-TURN-02")


def test_a_debt_that_is_covered_by_now_stays_a_debt() -> None:
    """BRA-OWNAUC-02: `auction_own` is legal in `debt` until it is paid."""
    game = seller().with_cash(0, 1999).landing(0, INCOME_TAX).do(0, c.Mortgage(5)).do(0, c.OpenAuction(LATTICE))
    assert game.decision == ("auction_bid", 1)


def test_start_and_step() -> None:
    """BRA-OWNAUC-02: the full price, then at least 100 more; the seller names no start of his own."""
    game = seller().turn_of(0)
    game.refused(0, c.OpenAuction(LATTICE, 5000), "opening_out_of_range", "BRA-OWNAUC-02")
    game.do(0, c.OpenAuction(LATTICE))
    assert game.option("bid").range == AmountRange(4000, 25000)
    game.refused(1, c.Bid(3999), "bid_too_low", "BRA-AUC-03", {"least": 4000})
    game.do(1, c.Bid(4000)).refused(2, c.Bid(4099), "bid_too_low", "BRA-AUC-03", {"least": 4100})
    assert game.deadline == ("bid", 20_000)


def test_bids_are_cash() -> None:
    """BRA-OWNAUC-03: whose cash is below the minimum is passed at once, whatever else he has."""
    game = seller().owning(1, COBALT).cash_of_all(0, 3999, 4000).turn_of(0).do(0, c.OpenAuction(LATTICE))
    assert game.events_of(BidderPassed) == [BidderPassed(1, "no_money")]
    game.refused(2, c.Bid(4001), "bid_over_limit", "BRA-AUC-10", {"greatest": 4000})
    assert game.do(2, c.Bid(4000)).cash(2) == 0


def test_who_gets_what() -> None:
    """BRA-OWNAUC-04: 60% of the price to the bank, the rest to the seller; free of mortgage."""
    game = seller().with_cash(0, 100).turn_of(0).do(0, c.OpenAuction(LATTICE)).do(1, c.Bid(4321)).do(2, c.Pass())
    assert game.money() == [(1, BANK, 2400, "redemption"), (1, 0, 1921, "own_auction")]
    assert game.events_of(DeedRedeemed) == [DeedRedeemed(LATTICE)]
    assert game.events_of(DeedMoved) == [DeedMoved(LATTICE, 0, 1, "auction")]
    assert (game.cash(0), game.cash(1), game.state.mortgaged_rounds[LATTICE]) == (2021, 25000 - 4321, 0)
    assert game.decision == ("roll", 0)


def test_without_a_bid() -> None:
    """BRA-OWNAUC-05: it stays with the seller, mortgaged since the same round; once per turn."""
    game = seller().turn_of(0).do(0, c.OpenAuction(LATTICE)).do(1, c.Pass()).do(2, c.Pass())
    assert game.events_of(AuctionClosed) == [AuctionClosed(1, NONE, 0, "no_bid")]
    assert (game.owner(LATTICE), game.state.mortgaged_rounds[LATTICE]) == (0, 1)
    assert game.decision == ("roll", 0)
    assert "open_auction" not in game.option_kinds()
    game.refused(0, c.OpenAuction(LATTICE), "already_put_up", "BRA-OWNAUC-05", {"cell": LATTICE})
    game.do(0, c.Mortgage(5)).do(0, c.OpenAuction(5)).do(1, c.Pass()).do(2, c.Pass())
    game.at(0, 7).roll(0, 1, 2)
    game.turn_of(0)
    game.state.counters.clear()
    assert {lot.cell for lot in game.option("open_auction").lots} == {LATTICE, 5}


def test_an_extra_throw_is_the_same_turn() -> None:
    """BRA-OWNAUC-05: once per turn, also after a double."""
    game = seller().at(0, 6).turn_of(0).do(0, c.OpenAuction(LATTICE)).do(1, c.Pass()).do(2, c.Pass())
    game.roll(0, 2, 2)
    assert game.decision == ("roll", 0)
    game.refused(0, c.OpenAuction(LATTICE), "already_put_up", "BRA-OWNAUC-05")


def test_once_per_debt() -> None:
    """BRA-OWNAUC-05: a debt counts for itself, after a try in the same turn."""
    game = seller().at(0, 1).with_cash(0, 1999).turn_of(0)
    game.do(0, c.OpenAuction(LATTICE)).do(1, c.Pass()).do(2, c.Pass()).roll(0, 1, 2)
    assert game.decision == ("payment", 0)
    game.do(0, c.OpenAuction(LATTICE)).do(1, c.Pass()).do(2, c.Pass())
    game.refused(0, c.OpenAuction(LATTICE), "already_put_up", "BRA-OWNAUC-05")


def test_clocks_stand_during_an_own_auction() -> None:
    """BRA-OWNAUC-02, BRA-TIME-03, BRA-TIME-04: the turn's and the debt's go on with exactly what was left."""
    game = seller().turn_of(0).do(0, c.OpenAuction(LATTICE), after_ms=12_000)
    game.do(1, c.Pass(), after_ms=19_000).do(2, c.Pass(), after_ms=19_000)
    assert game.deadline == ("turn", TURN_MS[BRAWL] - 12_000)
    game = seller().with_cash(0, 1999).landing(0, INCOME_TAX).do(0, c.OpenAuction(LATTICE), after_ms=50_000)
    game.do(1, c.Pass(), after_ms=19_000).do(2, c.Pass(), after_ms=19_000)
    assert game.deadline == ("payment", 10_000)


def test_the_money_may_cover_a_debt() -> None:
    """BRA-OWNAUC-02, BRA-DEBT-05: the seller then pays himself."""
    game = seller().with_cash(0, 1999).landing(0, INCOME_TAX).do(0, c.OpenAuction(LATTICE)).do(1, c.Bid(4000))
    game.do(2, c.Pass())
    assert (game.decision, game.cash(0)) == (("payment", 0), 1999 + 1600)
    game.refused(0, offer(1, 1), "empty_side", "BRA-TRADE-09")
    game.do(0, c.Pay())
    assert (game.decision, game.cash(0)) == (("roll", 1), 1599)
