"""Raising money in a debt: collapsing, auctions, the bank, and direct sales."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.commands import Basket
from services.rules.domain.events import AuctionClosed, DeedMoved
from services.rules.domain.options import AmountRange, DeedChoice
from services.rules.domain.parties import BANK
from tests.support.scenario import Game, a_game


def indebted(*cells: int, cash: int = 0, amount: int = 1000, seats: int = 3) -> Game:
    """Seat 0 owes the bank and owns some cells."""
    return a_game(seats).with_cash(0, cash).owning(0, *cells).owing(0, amount)


def unsold(game: Game, cell: int, opening: int) -> Game:
    """The debtor's auction of a cell at which nobody bids."""
    return game.do(0, c.OpenAuction(cell, opening)).do(1, c.Pass()).do(2, c.Pass())


def sale(to: int, cell: int, price: int) -> c.OfferTrade:
    """A direct sale."""
    return c.OfferTrade(to, Basket(cells=(cell,)), Basket(price))


def test_buildings_are_collapsed_for_half_their_cost() -> None:
    """IND-DEBT-05, IND-BUILD-14: 75 for a branch of 150."""
    game = a_game(3).with_cash(0, 0).owning_group(0, "construction", 1, 1, 1).owing(0, 1000)
    game.do(0, c.SellBuildings((21,), 0))
    assert game.money() == [(BANK, 0, 75, "building_sale")]
    assert game.decision == ("payment", 0)


def test_all_buildings_of_the_industry_go_before_an_auction() -> None:
    """IND-DEBT-06, IND-OWNAUC-03: also for the bare cells of the industry."""
    game = a_game(3).with_cash(0, 0).owning_group(0, "bakery", 1, 0, 0).owing(0, 1000)
    assert not game.options("open_auction")
    game.refused(0, c.OpenAuction(4, 40), "built", "IND-OWNAUC-03", {"cell": 4})
    game.refused(0, c.SellToBank(4), "built", "IND-DEBT-12", {"cell": 4})
    game.do(0, c.SellBuildings((1,), 0))
    assert [lot.cell for lot in game.option("open_auction").lots] == [1, 3, 4]


def test_only_rivals_bid_and_the_money_goes_to_the_debtor() -> None:
    """IND-DEBT-07, IND-OWNAUC-12, IND-OWNAUC-14: the rival next clockwise is asked first."""
    game = indebted(5, amount=120).do(0, c.OpenAuction(5, 100))
    assert game.decision == ("auction_bid", 1)
    game.refused(0, c.Bid(100), "excluded_bidder", "IND-OWNAUC-12")
    game.do(1, c.Bid(100)).do(2, c.Bid(110)).do(1, c.Pass())
    assert game.money() == [(2, 0, 110, "own_auction")]
    assert (game.owner(5), game.decision) == (2, ("payment", 0))


def test_a_sale_that_covers_the_debt_pays_it_in_the_same_step() -> None:
    """IND-DEBT-07, IND-DEBT-04, IND-OWNAUC-18: then the game goes on."""
    game = indebted(5, amount=110).do(0, c.OpenAuction(5, 100)).do(1, c.Bid(100)).do(2, c.Bid(110)).do(1, c.Pass())
    assert game.money() == [(2, 0, 110, "own_auction"), (0, BANK, 110, "card")]
    assert (game.cash(0), game.decision) == (0, ("manage", 0))


def test_the_starting_bid_is_not_below_what_the_bank_would_give() -> None:
    """IND-DEBT-08, IND-OWNAUC-10: from the bank price in tens up to the cash of the richest rival."""
    game = indebted(1).with_cash(1, 65).with_cash(2, 55)
    (lot,) = game.option("open_auction").lots
    assert (lot.cell, lot.opening) == (1, AmountRange(30, 60, 10))
    fields = {"least": 30, "greatest": 60, "step": 10}
    for opening in (20, 29, 31, 35, 65, 70):
        game.refused(0, c.OpenAuction(1, opening), "opening_out_of_range", "IND-OWNAUC-10", fields)
    game.do(0, c.OpenAuction(1, 60))
    assert game.decision == ("auction_bid", 1)


def test_a_cell_is_put_up_once_in_a_debt() -> None:
    """IND-DEBT-09: another cell may follow."""
    game = unsold(indebted(1, 5), 5, 100)
    assert [lot.cell for lot in game.option("open_auction").lots] == [1]
    game.refused(0, c.OpenAuction(5, 100), "already_put_up", "IND-DEBT-09", {"cell": 5})
    unsold(game, 1, 30)
    assert not game.options("open_auction")


def test_a_new_debt_allows_the_cell_anew() -> None:
    """IND-DEBT-09, IND-DEBT-18: once per debt, and only an auction of the present one opens the bank sale."""
    game = unsold(indebted(1, 5, amount=120), 5, 100).do(0, sale(1, 1, 120)).do(1, c.AcceptTrade())
    assert game.decision == ("manage", 0)
    game.owing(0, 1000)
    game.refused(0, c.SellToBank(5), "auction_first", "IND-DEBT-10", {"cell": 5})
    game.do(0, c.OpenAuction(5, 100))


def test_the_bank_buys_only_in_a_debt() -> None:
    """IND-DEBT-10: not in MANAGE, though an auction has failed."""
    game = a_game(3).owning(0, 5).managing(0).do(0, c.OpenAuction(5, 100)).do(1, c.Pass()).do(2, c.Pass())
    assert "sell_to_bank" not in game.option_kinds()
    game.refused(0, c.SellToBank(5), "wrong_decision", "IND-PHASE-05")


def test_the_bank_buys_only_after_an_auction_without_a_buyer() -> None:
    """IND-DEBT-10, IND-DEBT-12: half the price, and the cell becomes free."""
    game = indebted(1, 5)
    assert not game.options("sell_to_bank")
    game.refused(0, c.SellToBank(5), "auction_first", "IND-DEBT-10", {"cell": 5})
    unsold(game, 5, 100)
    assert game.option("sell_to_bank").deeds == (DeedChoice(5, 100),)
    game.refused(0, c.SellToBank(1), "auction_first", "IND-DEBT-10", {"cell": 1})
    game.do(0, c.SellToBank(5))
    assert game.money() == [(BANK, 0, 100, "bank_sale")]
    assert game.events_of(DeedMoved) == [DeedMoved(5, 0, BANK, "bank_sale")]
    assert (game.owner(5), game.decision) == (BANK, ("payment", 0))


@pytest.mark.parametrize(("cell", "amount"), [(1, 30), (9, 60), (12, 75), (37, 185), (39, 200)])
def test_the_bank_pays_half_the_price(cell: int, amount: int) -> None:
    """IND-DEBT-12: what it pays may cover the debt in the same step."""
    game = unsold(indebted(cell, amount=amount), cell, amount).do(0, c.SellToBank(cell))
    assert game.money() == [(BANK, 0, amount, "bank_sale"), (0, BANK, amount, "card")]
    assert game.decision == ("manage", 0)


def test_a_cancelled_auction_counts_as_unsold() -> None:
    """IND-DEBT-18, IND-OWNAUC-16: 60 seconds without a bid."""
    game = indebted(5).do(0, c.OpenAuction(5, 100)).expire("lot")
    assert game.events_of(AuctionClosed)[0].outcome == "cancelled"
    assert game.decision == ("payment", 0)
    game.do(0, c.SellToBank(5))


def test_an_auction_before_the_debt_does_not_open_the_bank_sale() -> None:
    """IND-DEBT-18, IND-OWNAUC-20: only one held within the present debt; and it does not use the one of the debt up."""
    game = a_game(3).owning(0, 5).managing(0)
    unsold(game, 5, 100).with_cash(0, 0).owing(0, 1000)
    assert game.state.counters == {("turn", "lot", (5,)): 1}
    game.refused(0, c.SellToBank(5), "auction_first", "IND-DEBT-10", {"cell": 5})
    unsold(game, 5, 100).do(0, c.SellToBank(5))


@pytest.mark.parametrize("cell", [-1, 0, 7, 40])
def test_the_bank_buys_no_other_cells(cell: int) -> None:
    """IND-DEBT-12: only a business."""
    indebted(5).refused(0, c.SellToBank(cell), "unknown_cell", "IND-PHASE-10", {"cell": cell})


def test_the_bank_buys_only_the_debtors_own() -> None:
    """IND-DEBT-12: not a rival's, and not its own."""
    game = indebted(5).owning(1, 18)
    for cell in (18, 32):
        game.refused(0, c.SellToBank(cell), "not_owner", "IND-DEBT-12", {"cell": cell})


def stuck(branches: int, levels: tuple[int, int, int] = (5, 4, 4)) -> Game:
    """Seat 0 owes, has a holding, and the bank has so few branches (seat 1 built the others)."""
    game = a_game(3).with_cash(0, 0).owning_group(0, "bakery", *levels).owning(0, 5)
    return game.branches_left(branches, holder=1).owing(0, 3000)


@pytest.mark.parametrize("branches", [0, 1, 3])
def test_the_bank_takes_cells_of_an_industry_with_a_stuck_holding_at_once(branches: int) -> None:
    """IND-DEBT-11, IND-DEBT-16: any cell of the industry while the supply has fewer than 4 branches."""
    game = stuck(branches)
    assert [deed.cell for deed in game.option("sell_to_bank").deeds] == [1, 3, 4]
    assert not game.options("sell_buildings")
    game.refused(0, c.SellBuildings((1,), 4), "no_supply", "IND-BUILD-16", {"cell": 1, "least": 4})
    game.refused(0, c.SellToBank(5), "auction_first", "IND-DEBT-10", {"cell": 5})


def test_with_four_branches_the_holding_is_broken_up_instead() -> None:
    """IND-DEBT-11, IND-DEBT-16: then it is no exception."""
    game = stuck(4)
    assert not game.options("sell_to_bank")
    game.refused(0, c.SellToBank(1), "built", "IND-DEBT-12", {"cell": 1})
    game.do(0, c.SellBuildings((1,), 4))
    assert game.supply == (0, 12)
    assert game.level(1) == 4


def test_a_holding_on_the_board_is_needed_for_the_exception() -> None:
    """IND-DEBT-16: an industry where he has a holding, not only branches."""
    game = stuck(2, (4, 4, 4))
    assert not game.options("sell_to_bank")
    game.refused(0, c.SellToBank(1), "built", "IND-DEBT-12", {"cell": 1})


def test_a_holding_of_another_industry_does_not_help() -> None:
    """IND-DEBT-16: the exception is of the industry with the holding."""
    game = a_game(3).with_cash(0, 0).owning_group(0, "bakery", 5, 4, 4).owning_group(0, "agro", 1, 0, 0)
    game.branches_left(2, holder=1).owing(0, 3000)
    assert [deed.cell for deed in game.option("sell_to_bank").deeds] == [1, 3, 4]
    game.refused(0, c.SellToBank(8), "built", "IND-DEBT-12", {"cell": 8})


def test_the_bank_pays_for_every_level_and_takes_the_pieces() -> None:
    """IND-DEBT-12, IND-DEBT-15: 30 and five times 25 for a holding; its piece returns to the supply."""
    game = stuck(2)
    holdings = game.supply[1]
    game.do(0, c.SellToBank(1))
    assert game.money() == [(BANK, 0, 30 + 5 * 25, "bank_sale")]
    assert (game.owner(1), game.level(1)) == (BANK, 0)
    assert game.supply == (2, holdings + 1)


def test_the_exception_is_tested_anew_before_each_sale() -> None:
    """IND-DEBT-16, IND-DEBT-15: the four branches of a sold cell end it; the holding can now be broken up."""
    game = stuck(1).do(0, c.SellToBank(3))
    assert game.money() == [(BANK, 0, 30 + 4 * 25, "bank_sale")]
    assert game.supply[0] == 5
    assert not game.options("sell_to_bank")
    game.refused(0, c.SellToBank(4), "built", "IND-DEBT-12", {"cell": 4})
    game.do(0, c.SellBuildings((1,), 4))


def test_two_holdings_keep_the_exception_after_a_sale() -> None:
    """IND-DEBT-16: a sold holding brings no branches, so the next cell may follow."""
    game = stuck(1, (5, 5, 4)).do(0, c.SellToBank(1))
    assert [deed.cell for deed in game.option("sell_to_bank").deeds] == [3, 4]


def test_the_bank_takes_a_cell_whose_industry_another_has_built_on() -> None:
    """IND-DEBT-17: after a sale under the exception such a cell can have been bought by somebody."""
    game = a_game(3).with_cash(0, 0).owning_group(1, "bakery", 2, 2, 0).owning(0, 4, 5)
    game.after_bank_sale_in("bakery").owing(0, 1000)
    assert game.option("sell_to_bank").deeds == (DeedChoice(4, 40),)
    game.refused(0, c.OpenAuction(4, 40), "built", "IND-OWNAUC-03", {"cell": 4})
    game.refused(0, sale(1, 4, 40), "built", "IND-TRADE-02", {"cell": 4})
    game.do(0, c.SellToBank(4))
    assert game.money() == [(BANK, 0, 40, "bank_sale")]


def test_own_buildings_in_a_shared_industry_are_sold_with_the_cell() -> None:
    """IND-DEBT-17, IND-DEBT-15: half the price and half of each level."""
    game = a_game(3).with_cash(0, 0).owning_group(1, "bakery", 2, 2, 0).owning(0, 4).building(4, 1)
    game.after_bank_sale_in("bakery").owing(0, 1000)
    assert game.option("sell_to_bank").deeds == (DeedChoice(4, 65),)


def test_a_direct_sale_goes_from_the_bank_price_to_the_cash_of_the_rival() -> None:
    """IND-DEBT-13, IND-DEBT-21: a whole price, no building in the industry."""
    game = indebted(5, amount=150).with_cash(1, 130).owning_group(0, "bakery", 1, 0, 0)
    trade = game.options("offer_trade")[0].trade
    assert trade is not None
    assert (trade.to, trade.sales, trade.sale_range(5)) == (1, (DeedChoice(5, 100),), AmountRange(100, 130))
    game.refused(0, sale(1, 5, 99), "below_bank_value", "IND-TRADE-06", {"least": 100})
    game.refused(0, sale(1, 5, 131), "over_partner_cash", "IND-TRADE-06", {"greatest": 130})
    game.refused(0, sale(1, 3, 40), "built", "IND-TRADE-02", {"cell": 3})
    game.do(0, sale(1, 5, 130))
    assert game.decision == ("trade_answer", 1)
    game.do(1, c.AcceptTrade())
    assert game.money() == [(1, 0, 130, "trade")]
    assert (game.owner(5), game.cash(0), game.decision) == (1, 130, ("payment", 0))


def test_a_direct_sale_that_covers_the_debt_pays_it() -> None:
    """IND-DEBT-13, IND-DEBT-02: in the step of the acceptance."""
    game = indebted(5, amount=130).do(0, sale(2, 5, 130)).do(2, c.AcceptTrade())
    assert game.money() == [(2, 0, 130, "trade"), (0, BANK, 130, "card")]
    assert game.decision == ("manage", 0)
