"""Auctions of one's own property (IND-OWNAUC)."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.chance import SCRIPT
from services.rules.domain.commands import Basket
from services.rules.domain.decide import advance
from services.rules.domain.events import AuctionClosed, AuctionOpened, BidderAsked, BidderPassed, DeedMoved
from services.rules.domain.legal import legal_actions
from services.rules.domain.new_game import Setup, begin
from services.rules.domain.options import AmountRange
from services.rules.domain.parties import NONE
from services.rules.domain.play import Advance
from services.rules.domain.refusals import Refusal
from services.rules.domain.state import SeatSetup
from tests.support.positions import CATALOGUE
from tests.support.scenario import Game, a_game


def lot_cells(game: Game) -> list[int]:
    """Cells that the actor may put up now."""
    return [lot.cell for option in game.options("open_auction") for lot in option.lots]


def opening(game: Game, cell: int) -> AmountRange | None:
    """Starting bids allowed for a cell."""
    return next(lot.opening for lot in game.option("open_auction").lots if lot.cell == cell)


def test_a_player_puts_his_own_property_up() -> None:
    """IND-OWNAUC-01: he picks the business and the auction opens for the rivals."""
    game = a_game(3).owning(1, "river_port").managing(1).do(1, c.OpenAuction(18, 100))
    assert game.events_of(AuctionOpened) == [AuctionOpened(1, "own", 18, 1, (2, 0), 100)]
    assert game.decision == ("auction_bid", 2)


def test_what_may_be_put_up() -> None:
    """IND-OWNAUC-02: own logistics, own utilities, own enterprises of an industry without any building."""
    game = a_game(3).owning(0, "river_port", "power_grid", "bread_stall").owning_group(0, "agro", 1, 0, 0)
    game.owning(1, "flour_mill", "freight_station").managing(0)
    assert lot_cells(game) == [1, 12, 18]
    game.refused(0, c.OpenAuction(5, 100), "not_owner", "IND-OWNAUC-02")
    game.refused(0, c.OpenAuction(28, 80), "not_owner", "IND-OWNAUC-02")
    for cell in (0, 7, 10, 40, -1):
        game.refused(0, c.OpenAuction(cell, 100), "unknown_cell", "IND-PHASE-10")


def test_buildings_are_collapsed_first() -> None:
    """IND-OWNAUC-03: one branch anywhere in the industry bars all three cells; without it they may go."""
    game = a_game(2).owning_group(0, "agro", 0, 0, 1).managing(0)
    for cell in (6, 8, 9):
        game.refused(0, c.OpenAuction(cell, 60), "built", "IND-OWNAUC-03")
    game.do(0, c.SellBuildings((9,), 0))
    assert lot_cells(game) == [6, 8, 9]


def test_buildings_of_others_bar_a_cell_too() -> None:
    """IND-OWNAUC-02: there is no branch in the whole group, whoever has it."""
    game = a_game(2).owning_group(1, "agro", 1, 1, 0).owning(0, "grain_elevator").after_bank_sale_in("agro").managing(0)
    game.refused(0, c.OpenAuction(9, 60), "built", "IND-OWNAUC-03")


def test_it_is_open_after_the_roll_while_the_trade_is_unused() -> None:
    """IND-OWNAUC-04: a used trade closes the window."""
    game = a_game(2).owning(0, "river_port").owning(1, "power_grid").managing(0)
    assert lot_cells(game) == [18]
    game.do(0, c.OfferTrade(1, Basket(10), Basket(0, (12,)))).do(1, c.RefuseTrade())
    assert lot_cells(game) == []
    game.refused(0, c.OpenAuction(18, 100), "trade_limit_used", "IND-OWNAUC-04")


def test_a_debtor_may_put_up() -> None:
    """IND-OWNAUC-05: next to selling, also with the trade used, and outside his own turn."""
    game = a_game(2).owning(0, "river_port").with_cash(0, 10).counted("turn", "trade", (0,)).owing(0, 100)
    assert lot_cells(game) == [18]
    assert {"open_auction", "offer_trade"} <= game.option_kinds()
    game.do(0, c.OpenAuction(18, 100))
    assert game.decision == ("auction_bid", 1)
    game = a_game(3).owning(2, "river_port").with_cash(2, 10).owing(2, 50, 0, turn=0).do(2, c.OpenAuction(18, 100))
    assert game.decision == ("auction_bid", 0)


def test_it_is_not_open_before_the_roll_or_in_other_decisions() -> None:
    """IND-OWNAUC-06: not before the roll, nor during another player's decision, nor in one's own purchase."""
    action = c.OpenAuction(18, 100)
    game = a_game(2).owning(0, "river_port").turn_of(0)
    game.refused(0, action, "wrong_decision", "IND-PHASE-01")
    game.managing(1)
    game.refused(0, action, "not_asked", "IND-PHASE-10")
    game.landing(0, "bread_stall")
    game.refused(0, action, "wrong_decision", "IND-PHASE-03")


def test_starting_bids_go_in_steps_of_10() -> None:
    """IND-OWNAUC-07: from the bank price on."""
    game = a_game(2).owning(0, "power_grid").cash_of_all(0, 108).managing(0)
    assert opening(game, 12) == AmountRange(75, 105, 10)
    for amount in (80, 84, 86, 100):
        game.refused(0, c.OpenAuction(12, amount), "opening_out_of_range", "IND-OWNAUC-10")
    game.do(0, c.OpenAuction(12, 85))
    assert game.events_of(BidderAsked) == [BidderAsked(1, 85)]


@pytest.mark.parametrize(("cell", "bank_price"), [(1, 30), (12, 75), (18, 100), (36, 175), (39, 200)])
def test_the_starting_bid_is_not_below_the_bank_price(cell: int, bank_price: int) -> None:
    """IND-OWNAUC-08: half the price, exactly that being allowed."""
    game = a_game(2).owning(0, cell).managing(0)
    for amount in (bank_price - 10, bank_price - 1, 0):
        game.refused(0, c.OpenAuction(cell, amount), "opening_out_of_range", "IND-OWNAUC-10")
    game.do(0, c.OpenAuction(cell, bank_price))
    assert game.decision == ("auction_bid", 1)


def test_the_upper_bound_is_the_cash_of_the_richest_rival() -> None:
    """IND-OWNAUC-09: the richest, and not one's own cash."""
    game = a_game(4).owning(0, "river_port").cash_of_all(1000, 120, 160, 130).managing(0)
    assert opening(game, 18) == AmountRange(100, 160, 10)
    game.refused(
        0, c.OpenAuction(18, 170), "opening_out_of_range", "IND-OWNAUC-10", {"least": 100, "greatest": 160, "step": 10}
    )
    game.do(0, c.OpenAuction(18, 160))
    # seat 1 lacks the money, seat 2 has exactly enough
    assert (game.events_of(BidderPassed), game.decision) == ([BidderPassed(1, "no_money")], ("auction_bid", 2))


@pytest.mark.parametrize(
    ("richest", "greatest"), [(0, 100), (99, 100), (100, 100), (109, 100), (110, 110), (119, 110), (120, 120)]
)
def test_legal_starting_bids(richest: int, greatest: int) -> None:
    """IND-OWNAUC-10: L, L + 10, ... up to the largest not above R; if R < L only L."""
    game = a_game(2).owning(0, "river_port").cash_of_all(1500, richest).managing(0)
    assert opening(game, 18) == AmountRange(100, greatest, 10)
    game.refused(0, c.OpenAuction(18, greatest + 10), "opening_out_of_range", "IND-OWNAUC-10")
    game.do(0, c.OpenAuction(18, greatest))


def test_a_rival_who_is_out_does_not_count_for_the_upper_bound() -> None:
    """IND-OWNAUC-10: rivals are those in play, in order from the seller."""
    game = a_game(4).out(1).owning(0, "river_port").cash_of_all(1500, 0, 120, 130).managing(0)
    game.do(0, c.OpenAuction(18, 130))
    assert game.events_of(AuctionOpened)[0].bidders == (2, 3)


def test_the_first_bid_is_the_starting_bid_and_further_ones_add_10() -> None:
    """IND-OWNAUC-11: exactly."""
    game = a_game(3).owning(0, "river_port").managing(0).do(0, c.OpenAuction(18, 120))
    for amount in (100, 119, 130, 150):
        game.refused(1, c.Bid(amount), "bid_not_exact", "IND-AUC-05", {"least": 120})
    game.do(1, c.Bid(120))
    for amount in (120, 125, 140):
        game.refused(2, c.Bid(amount), "bid_not_exact", "IND-AUC-06", {"least": 130})
    game.do(2, c.Bid(130))
    assert game.events_of(BidderAsked) == [BidderAsked(1, 140)]


def test_only_rivals_bid() -> None:
    """IND-OWNAUC-12: bots too, and not the seller."""
    game = a_game(3, "solo").owning(0, "river_port").managing(0).do(0, c.OpenAuction(18, 100))
    game.refused(0, c.Bid(100), "excluded_bidder", "IND-OWNAUC-12")
    game.refused(0, c.Pass(), "excluded_bidder", "IND-OWNAUC-12")
    game.do(1, c.Bid(100)).do(2, c.Pass())
    assert game.owner(18) == 1


def test_the_next_rival_clockwise_is_asked_first() -> None:
    """IND-OWNAUC-13: then as in any auction: turns, passes, lack of money, the standing bid, the end."""
    game = a_game(4).owning(2, "river_port").cash_of_all(105, 1500, 0, 1500).managing(2).do(2, c.OpenAuction(18, 100))
    assert game.decision == ("auction_bid", 3)
    game.do(3, c.Bid(100))
    # seat 0 has 105 and the price is 110
    assert (game.events_of(BidderPassed), game.decision) == ([BidderPassed(0, "no_money")], ("auction_bid", 1))
    game.do(1, c.Bid(110)).do(3, c.Bid(120))
    assert game.decision == ("auction_bid", 1)
    game.do(1, c.Bid(130))
    assert game.decision == ("auction_bid", 3)
    game.do(3, c.Pass())
    assert game.events_of(AuctionClosed) == [AuctionClosed(1, 1, 130, "sold")]


def test_the_winner_pays_the_seller() -> None:
    """IND-OWNAUC-14: his own bid, and gets the property."""
    game = a_game(3).owning(0, "river_port").managing(0).do(0, c.OpenAuction(18, 110))
    game.do(1, c.Bid(110)).do(2, c.Bid(120)).do(1, c.Pass())
    assert game.money() == [(2, 0, 120, "own_auction")]
    assert game.events_of(DeedMoved) == [DeedMoved(18, 0, 2, "auction")]
    assert (game.owner(18), game.state.cash) == (2, [1620, 1500, 1380])


def test_without_a_bid_the_property_stays() -> None:
    """IND-OWNAUC-15: with the seller, and no money moves."""
    game = a_game(3).owning(0, "river_port").managing(0).do(0, c.OpenAuction(18, 110)).do(1, c.Pass()).do(2, c.Pass())
    assert game.events_of(AuctionClosed) == [AuctionClosed(1, NONE, 0, "no_bid")]
    assert (game.owner(18), game.money(), game.decision) == (0, [], ("manage", 0))


def test_without_a_first_bid_it_is_cancelled_after_60_seconds() -> None:
    """IND-OWNAUC-16: a pass does not restart that time; the property stays with its owner."""
    game = a_game(3).owning(0, "river_port").managing(0).do(0, c.OpenAuction(18, 110))
    lot = game.state.deadlines[0].id
    assert game.deadline == ("lot", 60_000)
    game.do(1, c.Pass(), after_ms=59_000)
    assert game.deadline == ("lot", 1_000)
    game.wait(999).refused(-1, c.Expire(lot), "not_due", "IND-TIME-16", {"left_ms": 1})
    game.wait(1).do(-1, c.Expire(lot))
    assert game.events_of(AuctionClosed) == [AuctionClosed(1, NONE, 0, "cancelled")]
    assert (game.owner(18), game.money(), game.decision) == (0, [], ("manage", 0))


def test_after_the_first_bid_the_limit_of_the_lot_is_gone() -> None:
    """IND-OWNAUC-16: the next one asked has 60 seconds of his own."""
    game = a_game(3).owning(0, "river_port").managing(0).do(0, c.OpenAuction(18, 110))
    game.do(1, c.Bid(110), after_ms=59_999)
    assert game.deadline == ("bid", 60_000)
    game.expire("bid")
    assert (game.owner(18), game.events_of(BidderPassed)) == (1, [BidderPassed(2, "time")])


def test_it_does_not_use_up_the_trade() -> None:
    """IND-OWNAUC-17: a trade may be offered after it, sold or not."""
    game = a_game(2).owning(0, "river_port", "freight_station").owning(1, "power_grid").managing(0)
    game.do(0, c.OpenAuction(18, 100)).do(1, c.Bid(100))
    assert "offer_trade" in game.option_kinds()
    game.do(0, c.OpenAuction(5, 100)).do(1, c.Pass())
    game.do(0, c.OfferTrade(1, Basket(10), Basket(0, (12,))))
    assert game.decision == ("trade_answer", 1)


def test_the_game_goes_back_to_ending_the_turn() -> None:
    """IND-OWNAUC-18: with the extra roll kept."""
    game = (
        a_game(2).owning(0, "river_port").extra_roll_owed().managing(0).do(0, c.OpenAuction(18, 100)).do(1, c.Bid(100))
    )
    assert (game.decision, game.deadline) == (("manage", 0), ("turn", 300_000))
    game.end_turn(0)
    assert game.decision == ("roll", 0)


@pytest.mark.parametrize(("bid", "back"), [(100, ("payment", 0)), (140, ("manage", 0))])
def test_the_game_goes_back_to_paying_the_debt(bid: int, back: tuple[str, int]) -> None:
    """IND-OWNAUC-18: which is paid in the same step if the sale covers it."""
    game = a_game(2).owning(0, "river_port").with_cash(0, 10).owing(0, 150).do(0, c.OpenAuction(18, bid))
    game.do(1, c.Bid(bid))
    assert game.decision == back
    assert game.cash(0) == (110 if bid == 100 else 0)


def test_each_cell_once_per_turn() -> None:
    """IND-OWNAUC-19: another cell may follow, the same one only in the next turn."""
    game = a_game(2).owning(0, "river_port", "freight_station").managing(0)
    game.do(0, c.OpenAuction(18, 100)).do(1, c.Pass())
    assert lot_cells(game) == [5]
    game.refused(0, c.OpenAuction(18, 100), "already_put_up", "IND-OWNAUC-19")
    game.do(0, c.OpenAuction(5, 100))
    assert [event.auction_id for event in game.events_of(AuctionOpened)] == [2]
    game.do(1, c.Pass())
    assert lot_cells(game) == []
    game.end_turn(0).managing(1).end_turn(1)
    game.roll(0, 4, 6)
    assert lot_cells(game) == [5, 18]


def test_an_auction_of_the_turn_does_not_count_for_a_debt() -> None:
    """IND-OWNAUC-20: in the debt the cell may be put up again once, and only then the bank takes it."""
    game = a_game(3).owning(0, "river_port").managing(0).do(0, c.OpenAuction(18, 100)).do(1, c.Pass()).do(2, c.Pass())
    game.with_cash(0, 10).owing(0, 500)
    assert game.state.counters == {("turn", "lot", (18,)): 1}
    assert lot_cells(game) == [18]
    game.refused(0, c.SellToBank(18), "auction_first", "IND-DEBT-10")
    game.do(0, c.OpenAuction(18, 100)).do(1, c.Pass()).do(2, c.Pass())
    game.refused(0, c.OpenAuction(18, 100), "already_put_up", "IND-DEBT-09")
    game.do(0, c.SellToBank(18))
    assert game.cash(0) == 110


@pytest.mark.parametrize(("cash", "may"), [(2000, False), (1999, True)])
def test_a_payment_that_is_covered_is_no_debt(cash: int, may: bool) -> None:
    """BRA-OWNAUC-02: a tax that only waits to be confirmed lets nobody put a deed up; one short of cash does."""
    edition = CATALOGUE.get("brands-brawl").at("mixed")
    script = (0, *range(20, 0, -1), *range(27, 0, -1), 0, 2)
    seats = tuple(SeatSetup("person", seat) for seat in range(3))
    state = begin(edition, Setup("mixed", seats, bytes(32), algorithm=SCRIPT, script=script), 0).state
    state.mortgaged_rounds[1], state.cash[0] = 1, cash
    assert state.decision is not None
    rolled = advance(edition, state, c.Command(0, state.decision.id, c.Roll()), 0)
    assert isinstance(rolled, Advance)
    decision = rolled.state.decision
    assert decision is not None
    assert (decision.kind, rolled.state.position[0]) == ("payment", 4)
    kinds = [option.kind for option in legal_actions(edition, rolled.state) if option.seat == 0]
    assert ("open_auction" in kinds) is may
    result = advance(edition, rolled.state, c.Command(0, decision.id, c.OpenAuction(1)), 0)
    refused = (result.reason, result.statement) if isinstance(result, Refusal) else None
    assert refused == (None if may else ("wrong_decision", "BRA-OWNAUC-02"))
