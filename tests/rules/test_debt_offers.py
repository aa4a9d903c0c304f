"""Direct sales in a debt: their bounds after refusals; and the clock of a debtor."""

from services.rules.domain import commands as c
from services.rules.domain.commands import Basket
from services.rules.domain.options import AmountRange, TradeBound, TradeChoice
from services.rules.domain.parties import NONE
from services.rules.domain.state import Seating
from tests.support.scenario import Game, a_game


def sale(to: int, cell: int, price: int) -> c.OfferTrade:
    """A direct sale."""
    return c.OfferTrade(to, Basket(cells=(cell,)), Basket(price))


def indebted(seating: Seating = "people", amount: int = 2000) -> Game:
    """Seat 0 of three owes the bank, and owns all logistics and a utility."""
    return a_game(3, seating).with_cash(0, 0).owning(0, 5, 18, 32, 12).owing(0, amount)


def refused(game: Game, offer: c.OfferTrade) -> Game:
    """A direct sale that its partner refuses."""
    return game.do(0, offer).do(offer.to, c.RefuseTrade())


def choice(game: Game, to: int) -> TradeChoice:
    """What may be offered to a partner."""
    (found,) = [item.trade for item in game.options("offer_trade") if item.trade is not None and item.trade.to == to]
    return found


def test_a_refused_price_must_fall_by_ten() -> None:
    """IND-DEBT-20: the same cell, the same rival, this debt."""
    game = refused(indebted(), sale(1, 5, 150))
    assert choice(game, 1).bounds == (TradeBound(NONE, 5, AmountRange(100, 140)),)
    assert choice(game, 2).bounds == ()
    for price in (150, 160, 141):
        game.refused(0, sale(1, 5, price), "not_better_enough", "IND-DEBT-20", {"least": -140})
    game.do(0, sale(1, 5, 140)).do(1, c.AcceptTrade())
    assert game.owner(5) == 1


def test_another_rival_or_another_cell_is_not_bound() -> None:
    """IND-DEBT-20: sales may be repeated."""
    refused(indebted(), sale(1, 5, 150)).do(0, sale(2, 5, 150))
    refused(indebted(), sale(1, 5, 150)).do(0, sale(1, 18, 150))
    game = indebted().do(0, sale(1, 5, 150)).do(1, c.AcceptTrade()).do(0, sale(1, 18, 150)).do(1, c.AcceptTrade())
    assert game.decision == ("payment", 0)
    game.do(0, sale(2, 32, 150)).do(2, c.AcceptTrade()).do(0, sale(2, 12, 150))


def test_a_price_that_cannot_fall_any_more_is_not_offered() -> None:
    """IND-DEBT-20, IND-DEBT-21: never below the bank price."""
    game = refused(indebted(), sale(1, 5, 109))
    assert choice(game, 1).bounds == (TradeBound(NONE, 5, None),)
    game.refused(0, sale(1, 5, 100), "not_better_enough", "IND-DEBT-20", {"least": -99})
    game = refused(indebted(), sale(1, 5, 110))
    assert choice(game, 1).bounds == (TradeBound(NONE, 5, AmountRange(100, 100)),)
    game.do(0, sale(1, 5, 100))
    assert game.decision == ("trade_answer", 1)


def test_three_refused_sales_end_the_offers_of_a_debt() -> None:
    """IND-DEBT-20: at a table of people; the auctions stay open."""
    game = refused(refused(indebted(), sale(1, 5, 150)), sale(2, 5, 150))
    assert len(game.options("offer_trade")) == 2
    refused(game, sale(1, 18, 150))
    assert not game.options("offer_trade")
    game.refused(0, sale(2, 32, 150), "trade_limit_used", "IND-DEBT-20")
    assert [lot.cell for lot in game.option("open_auction").lots] == [5, 12, 18, 32]


def test_silence_counts_as_a_refusal() -> None:
    """IND-DEBT-20, IND-TRADE-16: so does an answer that never came."""
    game = indebted()
    for to in (1, 2):
        game.do(0, sale(to, 5, 150)).expire("answer")
    game.refused(0, sale(1, 5, 141), "not_better_enough", "IND-DEBT-20", {"least": -140})
    game.do(0, sale(1, 5, 140)).expire("answer")
    game.refused(0, sale(2, 32, 150), "trade_limit_used", "IND-DEBT-20")


def test_accepted_sales_do_not_count() -> None:
    """IND-DEBT-20: three that have been refused."""
    game = indebted()
    for cell in (5, 18, 32):
        game.do(0, sale(1, cell, 150)).do(1, c.AcceptTrade())
    assert len(game.options("offer_trade")) == 2


def test_refusals_are_forgotten_with_the_debt() -> None:
    """IND-DEBT-20: in this debt only."""
    game = indebted(amount=150)
    for to, price in ((1, 150), (2, 150), (1, 140)):
        refused(game, sale(to, 5, price))
    game.do(0, c.OpenAuction(18, 150)).do(1, c.Bid(150)).do(2, c.Pass())
    assert game.decision == ("manage", 0)
    game.owing(0, 2000)
    assert choice(game, 1).bounds == ()
    game.do(0, sale(1, 5, 150))


def test_a_direct_sale_neither_needs_nor_uses_the_trade_of_the_turn() -> None:
    """IND-DEBT-20, IND-TRADE-01: before and after it."""
    game = a_game(3).owning(0, 5, 18).managing(0).do(0, sale(1, 18, 100)).do(1, c.RefuseTrade())
    game.with_cash(0, 0).owing(0, 120).do(0, sale(1, 5, 120)).do(1, c.AcceptTrade())
    assert game.decision == ("manage", 0)
    game.refused(0, sale(1, 18, 100), "trade_limit_used", "IND-TRADE-01")
    game = indebted(amount=120).do(0, sale(1, 5, 120)).do(1, c.AcceptTrade())
    assert game.decision == ("manage", 0)
    game.do(0, sale(1, 18, 120))


def test_at_a_bot_table_refusals_are_not_limited() -> None:
    """IND-DEBT-20, IND-TRADE-18: but toward a bot every offer is 10 better, also beyond the debt."""
    game = indebted("solo")
    for price in (150, 140, 130, 120):
        refused(game, sale(1, 5, price))
    game.refused(0, sale(1, 5, 111), "not_better_enough", "IND-DEBT-20", {"least": -110})
    game.do(0, sale(1, 5, 110))
    assert game.decision == ("trade_answer", 1)


def test_a_bots_memory_of_the_turn_holds_in_a_debt() -> None:
    """IND-DEBT-20, IND-TRADE-18: the same cells, refused before the debt."""
    game = a_game(3, "solo").owning(0, 5).managing(0).do(0, sale(1, 5, 150)).do(1, c.RefuseTrade())
    game.with_cash(0, 0).owing(0, 2000)
    assert choice(game, 1).bounds == (TradeBound(NONE, 5, AmountRange(100, 140)),)
    game.refused(0, sale(1, 5, 141), "not_better_enough", "IND-DEBT-20", {"least": -140})
    game.do(0, sale(1, 5, 140)).do(1, c.AcceptTrade())


def test_the_bound_is_the_narrower_of_the_bots_and_the_debts() -> None:
    """IND-DEBT-20, IND-TRADE-18: both hold, here the lower price."""
    game = a_game(3, "solo").owning(0, 5).managing(0).do(0, sale(1, 5, 150)).do(1, c.RefuseTrade())
    refused(game.with_cash(0, 0).owing(0, 2000), sale(1, 5, 120))
    assert choice(game, 1).bounds == (TradeBound(NONE, 5, AmountRange(100, 110)),)


def test_the_clock_of_the_debtor_stands_still_during_his_auction() -> None:
    """IND-DEBT-19: afterwards he has the full 300 seconds anew."""
    game = indebted()
    assert game.deadline == ("payment", 300_000)
    game.wait(299_000).do(0, c.OpenAuction(5, 100))
    assert [deadline.kind for deadline in game.state.deadlines] == ["lot"]
    game.wait(59_000).do(1, c.Pass()).do(2, c.Pass())
    assert game.deadline == ("payment", 300_000)
    assert [deadline.kind for deadline in game.state.deadlines] == ["payment"]


def test_the_clock_of_the_debtor_stands_still_during_his_offer() -> None:
    """IND-DEBT-19: he cannot be eliminated by it."""
    game = indebted().wait(299_000).do(0, sale(1, 5, 150))
    assert [deadline.kind for deadline in game.state.deadlines] == ["answer"]
    game.wait(59_000).do(1, c.RefuseTrade())
    assert game.deadline == ("payment", 300_000)
