"""Scarce buildings: claims, and their auction (TAB-BUILD-12)."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.events import (
    AuctionClosed,
    AuctionOpened,
    BidderAsked,
    BuildingBuilt,
    BuildingsClaimed,
    ClaimsClosed,
    ClaimsOpened,
)
from services.rules.domain.options import BuildingChoice
from services.rules.domain.parties import BANK, NONE
from tests.rules.tabletop.tables import TABLETOPS, a_table, tabletop
from tests.support.scenario import Game


def scarce(stock: int, *cash: int, edition: str = "tabletop") -> Game:
    """Seat 0 has the brown group (50), seat 1 the sky one (50), seat 2 the pink one (100); seat 3, without money, has
    built all other houses but `stock`. Cash of seats 0 to 2."""
    game = a_table(edition, 4).owning_group(0, "brown").owning_group(1, "sky").owning_group(2, "pink")
    return game.branches_left(stock, 3).cash_of_all(*cash, 0)


@pytest.mark.parametrize("edition", TABLETOPS)
def test_enough_for_all_that_could_be_wanted(edition: str) -> None:
    """TAB-BUILD-12.1: n + R = S is done at once at the deed's cost; with R one more, claims are taken."""
    game = scarce(4, 500, 150, 0, edition=edition).turn_of(0).do(0, c.Build((1,)))
    assert game.money() == [(0, BANK, 50, "build")]
    assert game.decision == ("roll", 0)
    game = scarce(4, 500, 200, 0, edition=edition).turn_of(0).do(0, c.Build((1,)))
    assert game.money() == []
    assert game.events_of(ClaimsOpened) == [ClaimsOpened(False, 4, (1,), 0, (1,))]
    game = scarce(4, 500, 150, 0, edition=edition).turn_of(0).do(0, c.Build((1, 3)))
    assert game.decision == ("building_claim", 1)


def test_nobody_else_could_build() -> None:
    """TAB-BUILD-12.1: with R = 0 the last houses go at once."""
    game = scarce(2, 500, 49, 99).turn_of(0).do(0, c.Build((1, 3)))
    assert (game.money(), game.supply[0]) == ([(0, BANK, 50, "build")] * 2, 0)


def test_each_piece_that_could_be_bought_counts() -> None:
    """TAB-BUILD-12.1: one after the other on every street, evenly: a bare group of three could take twelve houses."""
    game = scarce(13, 500, 600, 0).turn_of(0).do(0, c.Build((1,)))
    assert (game.decision, game.level(1)) == (("roll", 0), 1)
    game = scarce(12, 500, 600, 0).turn_of(0).do(0, c.Build((1,)))
    assert game.decision == ("building_claim", 1)


@pytest.mark.parametrize("spoiled", ["mortgaged", "incomplete"])
def test_only_what_others_could_buy_counts(spoiled: str) -> None:
    """TAB-BUILD-12.1: complete groups without a mortgage."""
    game = scarce(1, 500, 500, 0)
    if spoiled == "mortgaged":
        game.mortgaged(6)
    else:
        game.owning(BANK, 6)
    game.turn_of(0).do(0, c.Build((1,)))
    assert game.money() == [(0, BANK, 50, "build")]


def test_an_order_within_the_stock_and_of_one_kind() -> None:
    """TAB-BUILD-12.1: n may not exceed S; houses and hotels are not ordered together."""
    game = scarce(1, 500, 0, 0).turn_of(0)
    game.refused(0, c.Build((1, 3)), "no_supply", "TAB-BUILD-11")
    game = tabletop().owning_group(0, "brown", 4, 3).turn_of(0)
    game.refused(0, c.Build((3, 1)), "bad_choice", "TAB-BUILD-12")


def test_wants_are_counted_cheapest_first_within_even_building() -> None:
    """TAB-BUILD-12.1: with sky (50) up to its hotels and pink (100), 250 buy five pieces; one full group buys none."""
    game = scarce(6, 500, 250, 0).owning_group(1, "pink").turn_of(0).do(0, c.Build((1,)))
    assert game.decision == ("roll", 0)
    game = scarce(5, 500, 250, 0).owning_group(1, "pink").turn_of(0).do(0, c.Build((1,)))
    assert game.decision == ("building_claim", 1)


def test_the_window_of_claims() -> None:
    """TAB-BUILD-12.2: 30 seconds for everybody counted; the order is its sender's claim; the turn's clock stands."""
    game = scarce(2, 500, 500, 500).turn_of(0).wait(25_000).do(0, c.Build((1, 3)))
    assert (game.asked_seats, game.deadline) == ((1, 2), ("answer", 30_000))
    game.refused(0, c.ClaimBuildings((1,)), "not_asked", "TAB-PHASE-04")
    game.do(2, c.ClaimBuildings((11,)), after_ms=10_000)
    assert game.events_of(BuildingsClaimed) == [BuildingsClaimed(2, (11,))]
    assert game.deadline == ("answer", 20_000)
    game.refused(2, c.ClaimBuildings(()), "already_asked", "TAB-BUILD-12")
    game.do(1, c.ClaimBuildings(()))
    assert game.decision == ("auction_bid", 0)


def test_what_may_be_claimed() -> None:
    """TAB-BUILD-12.2: each step legal after the ones before, at most S, within cash."""
    game = scarce(2, 500, 149, 500).turn_of(0).do(0, c.Build((1, 3)))
    game.refused(1, c.ClaimBuildings((6, 8, 9)), "no_supply", "TAB-BUILD-12", {"greatest": 2})
    game.refused(1, c.ClaimBuildings((6, 6)), "bad_choice", "TAB-BUILD-12")
    game.refused(1, c.ClaimBuildings((1,)), "bad_choice", "TAB-BUILD-12")
    game.refused(1, c.ClaimBuildings((0,)), "unknown_cell", "TAB-BUILD-12")
    game.do(1, c.ClaimBuildings((6, 8)))
    game = scarce(3, 500, 149, 500).turn_of(0).do(0, c.Build((1, 3)))
    game.refused(1, c.ClaimBuildings((6, 8, 9)), "not_enough_cash", "TAB-BUILD-12", {"least": 150})


def test_what_is_listed_for_a_claim() -> None:
    """TAB-BUILD-12.2: the streets on which it may begin, with level and cost; only for who has not claimed."""
    game = scarce(2, 500, 50, 500).owning_group(1, "sky", 0, 0, 0).turn_of(0).do(0, c.Build((1, 3)))
    listed = {option.seat: option.buildings for option in game.options("claim_buildings")}
    assert listed == {
        1: tuple(BuildingChoice(cell, 1, 50) for cell in (6, 8, 9)),
        2: tuple(BuildingChoice(cell, 1, 100) for cell in (11, 13, 14)),
    }
    game.do(1, c.ClaimBuildings((6,)))
    assert [option.seat for option in game.options("claim_buildings")] == [2]


def test_levels_of_a_long_claim() -> None:
    """TAB-BUILD-12.1, -12.2: step by step; two streets with two houses each want four more, and can take eight from
    bare ground."""
    game = a_table("tabletop", 4).owning_group(0, "brown").owning_group(1, "sky", 2, 2, 2).branches_left(7, 3)
    game.cash_of_all(500, 5000, 0, 0).turn_of(0).do(0, c.Build((1,)))
    assert game.money() == [(0, BANK, 50, "build")]
    game = scarce(8, 500, 500, 0).owning_group(2, "brown").owning_group(0, "pink").turn_of(1)
    game.cash_of_all(500, 500, 400, 0).turn_of(1).do(1, c.Build((6, 8)))
    game.refused(2, c.ClaimBuildings((1, 3, 1, 1)), "bad_choice", "TAB-BUILD-12")
    game.do(2, c.ClaimBuildings((1, 3, 1, 3, 1, 3, 1, 3))).do(0, c.ClaimBuildings())
    assert game.decision == ("auction_bid", 1)


def test_a_claim_of_all_ones_money() -> None:
    """TAB-BUILD-12.2, -12.3: the total equals the cash; it is placed to the last unit."""
    game = scarce(3, 500, 50, 100).turn_of(0).do(0, c.Build((1, 3)))
    game.do(1, c.ClaimBuildings((6,))).do(2, c.ClaimBuildings())
    assert game.money() == [(0, BANK, 50, "build"), (0, BANK, 50, "build"), (1, BANK, 50, "build")]
    assert (game.cash(1), game.decision) == (0, ("roll", 0))
    game = scarce(1, 50, 50, 0).turn_of(0).do(0, c.Build((1,))).do(1, c.ClaimBuildings((6,)))
    assert game.events_of(AuctionOpened)[0].bidders == (0, 1)


def test_a_claim_lapses_with_the_first_street_that_cannot_be_paid() -> None:
    """TAB-BUILD-12.5: a cheaper one behind it is not built either."""
    game = scarce(4, 500, 250, 0).owning_group(1, "pink").turn_of(0).do(0, c.Build((1,)))
    game.do(1, c.ClaimBuildings((6, 8, 11, 9))).do(0, c.Pass()).do(1, c.Bid(130))
    game.do(0, c.Bid(50)).do(1, c.Pass())
    assert game.money() == [(0, BANK, 50, "build"), (1, BANK, 50, "build")]
    assert ([game.level(cell) for cell in (6, 8, 11, 9)], game.supply[0]) == ([1, 1, 0, 0], 1)
    assert game.events_of(ClaimsClosed) == [ClaimsClosed(1, 2)]


def test_no_claim_in_time_is_a_claim_of_nothing() -> None:
    """TAB-BUILD-12.2, TAB-TIME-06: and no missed decision."""
    game = scarce(2, 500, 500, 500).turn_of(0).do(0, c.Build((1, 3))).expire("answer")
    assert game.events_of(BuildingsClaimed) == [BuildingsClaimed(1, ()), BuildingsClaimed(2, ())]
    assert game.money() == [(0, BANK, 50, "build")] * 2
    assert (game.decision, game.state.strikes) == (("roll", 0), [0, 0, 0, 0])


def test_enough_for_all_that_is_claimed() -> None:
    """TAB-BUILD-12.3: T = S: all placed at their cost, claimant by claimant in seat order from the orderer."""
    game = scarce(5, 500, 500, 500).turn_of(2).do(2, c.Build((11, 13)))
    game.do(1, c.ClaimBuildings((6,))).do(0, c.ClaimBuildings((3, 1)))
    assert [event.cell for event in game.events_of(BuildingBuilt)] == [11, 13, 3, 1, 6]
    assert game.money() == [(2, BANK, 100, "build")] * 2 + [(0, BANK, 50, "build")] * 2 + [(1, BANK, 50, "build")]
    assert game.events_of(ClaimsClosed) == [ClaimsClosed(5, 0)]
    assert game.decision == ("roll", 2)


def test_the_clock_of_the_turn_goes_on() -> None:
    """TAB-BUILD-12, TAB-PHASE-02: with what was left when the window opened."""
    game = scarce(2, 500, 500, 0).turn_of(0).wait(25_000).do(0, c.Build((1, 3))).wait(9_000)
    game.do(1, c.ClaimBuildings(()))
    assert (game.decision, game.deadline) == (("roll", 0), ("turn", 65_000))


def contested() -> Game:
    """One house; seats 0 (brown, 50), 1 (sky, 50) and 2 (pink, 100) want it."""
    game = scarce(1, 500, 500, 500).turn_of(0).do(0, c.Build((3,)))
    return game.do(1, c.ClaimBuildings((9,))).do(2, c.ClaimBuildings((14,)))


def test_a_lot_of_one_building() -> None:
    """TAB-BUILD-12.4: in turn from the orderer in seat order; the lowest cost opens it."""
    game = contested()
    (opened,) = game.events_of(AuctionOpened)
    assert (opened.kind, opened.cell, opened.seller, opened.bidders, opened.opening) == (
        "shortage",
        NONE,
        BANK,
        (0, 1, 2),
        50,
    )
    assert game.events_of(BidderAsked) == [BidderAsked(0, 50)]
    assert game.deadline == ("bid", 30_000)
    game.refused(0, c.Bid(49), "bid_too_low", "TAB-AUC-05", {"least": 50})
    game.do(0, c.Bid(50))
    assert game.events_of(BidderAsked) == [BidderAsked(1, 60)]
    game.refused(1, c.Bid(59), "bid_too_low", "TAB-AUC-06", {"least": 60})


def test_nobody_bids_below_the_cost_of_the_own_next_street() -> None:
    """TAB-BUILD-12.4: pink costs 100, whatever leads."""
    game = contested().do(0, c.Bid(50)).do(1, c.Bid(60))
    assert game.events_of(BidderAsked) == [BidderAsked(2, 100)]
    game.refused(2, c.Bid(99), "bid_too_low", "TAB-AUC-06", {"least": 100})
    game.do(2, c.Bid(100))
    assert game.events_of(BidderAsked) == [BidderAsked(0, 110)]


def test_the_winner_pays_the_bid_instead_of_the_cost() -> None:
    """TAB-BUILD-12.4: and the building goes on his next street; a pass is final for the lot."""
    game = contested().do(0, c.Pass()).do(1, c.Bid(140)).do(2, c.Pass())
    assert game.money() == [(1, BANK, 140, "build")]
    assert game.events_of(BuildingBuilt) == [BuildingBuilt(9, 1)]
    assert (game.level(9), game.supply[0]) == (1, 0)
    assert game.events_of(ClaimsClosed) == [ClaimsClosed(0, 2)]
    assert game.decision == ("roll", 0)


def test_bids_are_within_cash_and_nobody_raises_any() -> None:
    """TAB-BUILD-12.4, -14: no sales and no mortgages while the shortage is auctioned."""
    game = scarce(1, 60, 500, 0).owning(0, 5).turn_of(0).do(0, c.Build((3,))).do(1, c.ClaimBuildings((9,)))
    game.refused(0, c.Bid(61), "bid_over_limit", "TAB-AUC-07", {"greatest": 60})
    for seat in (0, 3):
        game.refused(seat, c.Mortgage(5 if seat == 0 else 39), "wrong_decision", "TAB-BUILD-14")
    assert game.option_kinds() == {"bid", "pass", "surrender"}


def test_a_bidder_without_the_money_is_passed() -> None:
    """TAB-BUILD-12.4, TAB-AUC-08: cash alone counts here."""
    game = scarce(1, 500, 60, 0).owning(1, 5).turn_of(0).do(0, c.Build((3,))).do(1, c.ClaimBuildings((9,)))
    game.do(0, c.Bid(51))
    assert game.money() == [(0, BANK, 51, "build")]


def test_one_building_after_another() -> None:
    """TAB-BUILD-12.4, -12.5: two houses and five claims; after the last house the claims left lapse."""
    game = scarce(2, 500, 500, 500).turn_of(0).do(0, c.Build((1, 3))).do(1, c.ClaimBuildings((6, 8)))
    game.do(2, c.ClaimBuildings((11,)))
    game.do(0, c.Bid(50)).do(1, c.Pass()).do(2, c.Pass())
    assert game.level(1) == 1
    assert game.events_of(AuctionOpened)[0].bidders == (0, 1, 2)
    game.do(0, c.Pass()).do(1, c.Bid(70)).do(2, c.Pass())
    assert (game.level(6), game.supply[0]) == (1, 0)
    assert game.events_of(ClaimsClosed) == [ClaimsClosed(0, 3)]
    assert game.decision == ("roll", 0)


def test_the_rest_is_placed_as_soon_as_it_suffices() -> None:
    """TAB-BUILD-12.5: a claim that can no longer be paid lapses, and what is left is within the stock."""
    game = scarce(2, 70, 500, 500).turn_of(0).do(0, c.Build((1,))).do(1, c.ClaimBuildings((6, 8)))
    game.do(2, c.ClaimBuildings(()))
    # three pieces for two houses: seat 0 wins the first one for all its money
    game.do(0, c.Bid(70)).do(1, c.Pass())
    assert game.money() == [(0, BANK, 70, "build"), (1, BANK, 50, "build")]
    assert game.events_of(ClaimsClosed) == [ClaimsClosed(1, 1)]


def test_a_single_bidder_pays_the_cost_of_the_deed() -> None:
    """TAB-BUILD-12.5: the others have spent what they had."""
    game = scarce(2, 60, 500, 110).turn_of(0).do(0, c.Build((1,)))
    game.do(1, c.ClaimBuildings((6, 8))).do(2, c.ClaimBuildings((11,)))
    game.do(0, c.Pass()).do(1, c.Pass()).do(2, c.Bid(100))
    assert game.money()[0] == (2, BANK, 100, "build")
    # one house and three claims are left of seats 0 and 1
    assert game.events_of(AuctionOpened)[0].bidders == (0, 1)
    game.do(0, c.Bid(60)).do(1, c.Pass())
    assert game.supply[0] == 0


def test_a_lot_without_a_bid() -> None:
    """TAB-BUILD-12.5: the buildings stay in the bank, all claims lapse, and the orderer orders no more of the kind
    until the next turn."""
    game = contested().do(0, c.Pass()).do(1, c.Pass()).do(2, c.Pass())
    assert game.events_of(AuctionClosed)[0].outcome == "no_bid"
    assert game.events_of(ClaimsClosed) == [ClaimsClosed(0, 3, True)]
    assert (game.supply[0], game.decision) == (1, ("roll", 0))
    game.refused(0, c.Build((1,)), "kind_locked", "TAB-BUILD-12")
    game.at(0, 17).roll(0, 1, 2)
    game.refused(0, c.Build((1,)), "kind_locked", "TAB-BUILD-12")
    game.end_turn(0).do(1, c.Build((6,)))
    assert game.asked_seats == (0, 2)


def test_hotels_are_claimed_in_the_same_way() -> None:
    """TAB-BUILD-12: their kind is its own."""
    game = a_table("tabletop", 3).owning_group(0, "brown", 4, 4).owning_group(1, "sky", 4, 4, 4).holdings_left(1, 2)
    game.cash_of_all(500, 500, 0).turn_of(0).do(0, c.Build((1,)))
    assert game.events_of(ClaimsOpened) == [ClaimsOpened(True, 1, (1,), 0, (1,))]
    game.do(1, c.ClaimBuildings((8,))).do(0, c.Pass()).do(1, c.Bid(50))
    assert (game.level(8), game.supply[1]) == (5, 0)


def test_claims_in_a_gap() -> None:
    """TAB-BUILD-12, -17, TAB-PHASE-02: 30 seconds for the claims, then the gap goes on with its rest."""
    game = scarce(1, 500, 500, 0).managing(2).do(0, c.AskGap()).end_turn(2).wait(8_000).do(0, c.Build((1,)))
    assert (game.decision, game.deadline) == (("building_claim", 1), ("answer", 30_000))
    game.do(1, c.ClaimBuildings((6,)), after_ms=5_000).do(0, c.Pass()).do(1, c.Bid(50))
    assert game.state.decision is not None
    assert (game.state.decision.kind, game.deadline) == ("gap", ("answer", 22_000))


@pytest.mark.parametrize("leaver", [0, 1])
def test_leaving_while_buildings_are_claimed(leaver: int) -> None:
    """TAB-BANK-09: out when the window is over; until then the seat claims nothing, and the window keeps its clock."""
    game = scarce(1, 500, 500, 500).turn_of(0).do(0, c.Build((3,))).wait(10_000).do(leaver, c.Surrender())
    assert game.state.in_play[leaver]
    assert game.deadline == ("answer", 20_000)
    if leaver == 0:
        game.do(1, c.ClaimBuildings((9,)))
    game.do(2, c.ClaimBuildings((14,)))
    if leaver == 1:
        game.do(0, c.Pass()).do(2, c.Bid(100))
        assert game.level(14) == 1
    else:
        game.do(1, c.Bid(50)).do(2, c.Pass())
        assert game.level(9) == 1
    assert not game.state.in_play[leaver]
