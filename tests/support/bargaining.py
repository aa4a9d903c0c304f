"""Deals of free shape at random, reckoned from what a decision lists and what the board says, as a client would."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from services.rules.domain import commands as c
from services.rules.domain.commands import Action, Basket
from services.rules.domain.edition import Edition
from services.rules.domain.folds.seats import debt_of
from services.rules.domain.options import Option, TradeChoice
from services.rules.domain.state import State

#: draws after which no deal is thought to be possible
TRIES = 40


def paper_value(edition: Edition, state: State, basket: Basket) -> int:
    """Cash, prices, half of them for mortgaged deeds."""
    price = edition.board.price
    deeds = [-(-price[cell] // 2) if state.mortgaged_rounds[cell] else price[cell] for cell in basket.cells]
    return basket.cash + sum(deeds)


def percent_up(amount: int, percent: int) -> int:
    """A share, rounded up."""
    return -(-amount * percent // 100)


@dataclass(frozen=True, slots=True)
class Terms:
    """What a mortgaged deed costs its receiver at once, in percent of its price: kept, or redeemed."""

    fee: int
    redemption: int

    def due(self, edition: Edition, state: State, cells: tuple[int, ...], redeem: tuple[int, ...]) -> int:
        """For all of these deeds, in units."""
        return sum(
            percent_up(edition.board.price[cell], self.redemption if cell in redeem else self.fee)
            for cell in cells
            if state.mortgaged_rounds[cell]
        )


def _sides_fit(trade: TradeChoice, mine: int, other: int) -> bool:
    small, great = sorted((mine, other))
    return not trade.balance_percent or (small > 0 and small * 100 >= great * trade.balance_percent)


def _within(trade: TradeChoice, give: Basket, get: Basket) -> bool:
    """Whether both sides hold nothing but what is listed, and each thing once."""
    most = trade.exchange_cash.greatest if trade.exchange_cash is not None else 0
    return (
        0 <= give.cash <= most
        and 0 <= get.cash <= trade.sale_cash_greatest
        and len(set(give.cells)) == len(give.cells)
        and len(set(get.cells)) == len(get.cells)
        and set(give.cells) <= set(trade.give_cells)
        and set(get.cells) <= set(trade.get_cells)
        and _holds(trade.give_release_cards, give.release_cards)
        and _holds(trade.get_release_cards, get.release_cards)
    )


def _holds(held: tuple[str, ...], named: tuple[str, ...]) -> bool:
    return all(named.count(deck) <= held.count(deck) for deck in named)


def offer_fits(edition: Edition, state: State, option: Option, action: c.OfferTrade) -> bool:
    """Whether an option of free shape lists this offer."""
    trade, give, get = option.trade, action.give, action.get
    assert trade is not None
    if action.to != trade.to or not _within(trade, give, get):
        return False
    empty = [basket == Basket() for basket in (give, get)]
    if all(empty) or (any(empty) and not trade.gifts):
        return False
    if action.redeem and not trade.transfer_fee_percent:
        return False
    if not all(cell in get.cells and state.mortgaged_rounds[cell] for cell in action.redeem):
        return False
    if not _sides_fit(trade, paper_value(edition, state, give), paper_value(edition, state, get)):
        return False
    return _fees_fit(edition, state, option, action)


def _fees_fit(edition: Edition, state: State, option: Option, action: c.OfferTrade) -> bool:
    trade, give, get = option.trade, action.give, action.get
    assert trade is not None
    if not trade.transfer_fee_percent:
        return True
    terms = Terms(trade.transfer_fee_percent, trade.redeem_percent)
    own_due = terms.due(edition, state, get.cells, action.redeem)
    partner_due = terms.due(edition, state, give.cells, ())
    own_cash = state.cash[option.seat] + get.cash - give.cash
    return own_cash >= own_due and state.cash[trade.to] + give.cash - get.cash >= partner_due


def settlement_fits(edition: Edition, state: State, option: Option, give: Basket) -> bool:
    """Whether an option lists this settlement of the open debt."""
    trade, debt = option.trade, debt_of(state, option.seat)
    assert trade is not None
    assert debt is not None
    if not _within(trade, give, Basket()) or give == Basket():
        return False
    percent = trade.balance_percent
    small, great = sorted((paper_value(edition, state, give), debt.total))
    if percent and small * 100 < great * percent:
        return False
    due = Terms(trade.transfer_fee_percent, trade.redeem_percent).due(edition, state, give.cells, ())
    received = give.cash - give.cash * debt.tax_rate // 100
    return not trade.transfer_fee_percent or state.cash[trade.to] + received >= due


def random_offer(rng: Random, edition: Edition, state: State, option: Option) -> Action | None:
    """Some offer or settlement that the option lists; None if none was found."""
    trade = option.trade
    assert trade is not None
    wanted: Callable[[], Action | None] = {
        "offer_trade": lambda: _an_offer(rng, edition, state, option, trade),
        "offer_settlement": lambda: _a_settlement(rng, edition, state, option, trade),
    }[option.kind]
    for _ in range(TRIES):
        found = wanted()
        if found is not None:
            return found
    return None


def _an_offer(rng: Random, edition: Edition, state: State, option: Option, trade: TradeChoice) -> Action | None:
    give = _side(rng, trade.exchange_cash.greatest if trade.exchange_cash else 0, trade.give_cells)
    get = _side(rng, trade.sale_cash_greatest, trade.get_cells)
    give = Basket(give.cash, give.cells, _some_cards(rng, trade.give_release_cards))
    get = Basket(get.cash, get.cells, _some_cards(rng, trade.get_release_cards))
    if rng.random() < 0.7:
        give, get = _evened(edition, state, trade, give, get)
    mortgaged = [cell for cell in get.cells if state.mortgaged_rounds[cell]]
    redeem = tuple(cell for cell in mortgaged if trade.transfer_fee_percent and rng.random() < 0.5)
    action = c.OfferTrade(trade.to, give, get, redeem)
    return action if offer_fits(edition, state, option, action) else None


def _evened(edition: Edition, state: State, trade: TradeChoice, give: Basket, get: Basket) -> tuple[Basket, Basket]:
    """The same deeds with money that makes the sides alike."""
    give, get = Basket(0, give.cells, give.release_cards), Basket(0, get.cells, get.release_cards)
    gap = paper_value(edition, state, get) - paper_value(edition, state, give)
    most = trade.exchange_cash.greatest if trade.exchange_cash else 0
    if gap > 0:
        return Basket(min(gap, most), give.cells, give.release_cards), get
    return give, Basket(min(-gap, trade.sale_cash_greatest), get.cells, get.release_cards)


def _a_settlement(rng: Random, edition: Edition, state: State, option: Option, trade: TradeChoice) -> Action | None:
    side = _side(rng, trade.exchange_cash.greatest if trade.exchange_cash else 0, trade.give_cells)
    give = Basket(side.cash, side.cells, _some_cards(rng, trade.give_release_cards))
    return c.OfferSettlement(give) if settlement_fits(edition, state, option, give) else None


def _side(rng: Random, most: int, cells: tuple[int, ...]) -> Basket:
    cash = rng.choice((0, 0, most, rng.randint(0, most), rng.randint(0, min(most, 500))))
    share = rng.choice((0.1, 0.3, 0.6))
    return Basket(cash, tuple(cell for cell in cells if rng.random() < share))


def _some_cards(rng: Random, decks: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(deck for deck in decks if rng.random() < 0.4)
