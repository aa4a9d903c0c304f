"""Play at random: draws among everything that a decision lists."""

from collections.abc import Callable, Sequence
from functools import partial
from random import Random
from typing import Any, get_args

from services.rules.domain import commands as c
from services.rules.domain.board import CELL_COUNT
from services.rules.domain.commands import Action, Basket, Command
from services.rules.domain.options import AmountRange, DeedChoice, Option, TradeChoice
from services.rules.domain.parties import NONE
from services.rules.domain.state import State

_CLASSES: dict[str, Any] = {
    "".join("_" * (letter.isupper() and index > 0) + letter.lower() for index, letter in enumerate(kind.__name__)): kind
    for kind in get_args(Action)
}


def random_action(rng: Random, options: Sequence[Option]) -> Action:
    """One of the legal actions, the kinds alike likely, its parameters anywhere within their bounds."""
    return action_of(rng, rng.choice(options))


def random_command(rng: Random, state: State, options: Sequence[Option]) -> Command:
    """A legal command in a state that waits for one."""
    option = rng.choice(options)
    decision_id = state.decision.id if state.decision is not None else 0
    return Command(option.seat, decision_id, _in_state(rng, state, option) or action_of(rng, option))


def _in_state(rng: Random, state: State, option: Option) -> Action | None:
    """What the listing leaves to the state: where the token stands, and who visited."""
    if option.kind == "choose_cell":
        return c.ChooseCell(rng.choice([cell for cell in range(CELL_COUNT) if cell != state.position[option.seat]]))
    if option.kind == "claim_rent":
        claim = rng.choice([claim for claim in state.rent_claims if claim.owner == option.seat])
        return c.ClaimRent(claim.visitor, claim.cell)
    return None


def action_of(rng: Random, option: Option) -> Action:
    """An action within the bounds of one option."""
    make = _MAKERS.get(option.kind)
    action: Action = make(rng, option) if make is not None else _CLASSES[option.kind]()
    return action


def amount_in(rng: Random, amounts: AmountRange) -> int:
    """An amount of a range; its ends come up often, because mistakes live there."""
    steps = (amounts.greatest - amounts.least) // amounts.step
    return amounts.least + amounts.step * rng.choice((0, steps, rng.randint(0, steps), rng.randint(0, steps)))


def _open_auction(rng: Random, option: Option) -> Action:
    lot = rng.choice(option.lots)
    return c.OpenAuction(lot.cell, amount_in(rng, lot.opening) if lot.opening is not None else 0)


def _sell(rng: Random, option: Option) -> Action:
    choice = rng.choice(option.buildings)
    return c.SellBuildings((choice.cell,), choice.to_level)


def _offer_trade(rng: Random, option: Option) -> Action:
    assert option.trade is not None
    give, get = rng.choice(deals(option.trade))(rng)
    return c.OfferTrade(option.trade.to, give, get)


def _offer_settlement(rng: Random, option: Option) -> Action:
    assert option.trade is not None
    give, _ = rng.choice(deals(option.trade))(rng)
    return c.OfferSettlement(give)


Deal = Callable[[Random], tuple[Basket, Basket]]


def deals(trade: TradeChoice) -> list[Deal]:
    """Every pair of deeds that may be offered to a partner; each is given its money when it is called.

    Where the shape is free: one deal of anything for anything, which may be too far from balance, or leave a side
    without the cash for its fees; the prices that tell are not in the listing.
    """
    if trade.free_shape:
        return [partial(_free_deal, trade)]
    found: list[Deal] = []
    for get_cell in trade.get_cells:
        for give_cell in (NONE, *trade.give_cells):
            cash = trade.exchange_range(get_cell, give_cell)
            if cash is not None:
                found.append(_exchange(get_cell, give_cell, cash))
    for sale in trade.sales:
        price = trade.sale_range(sale.cell)
        if price is not None and price.least <= price.greatest:
            found.append(_sale(sale.cell, price))
    return found


def _free_deal(trade: TradeChoice, rng: Random) -> tuple[Basket, Basket]:
    own_cash = trade.exchange_cash.greatest if trade.exchange_cash is not None else 0
    give = _basket(rng, own_cash, trade.give_cells, trade.give_release_cards)
    get = _basket(rng, trade.sale_cash_greatest, trade.get_cells, trade.get_release_cards)
    return give, get


def _basket(rng: Random, cash: int, cells: Sequence[int], cards: Sequence[str]) -> Basket:
    """Some of what a side has; empty only if it has nothing."""
    some_cells = tuple(sorted(rng.sample(cells, rng.randint(0, min(2, len(cells))))))
    some_cards = tuple(rng.sample(cards, rng.randint(0, min(1, len(cards)))))
    nothing_yet = not some_cells and not some_cards
    least = 1 if nothing_yet else 0
    money = rng.choice((least, rng.randint(least, cash))) if cash >= least else 0
    if nothing_yet and not cash:
        return Basket(0, tuple(cells[:1]), () if cells else tuple(cards[:1]))
    return Basket(money, some_cells, some_cards)


def _exchange(get_cell: int, give_cell: int, cash: AmountRange) -> Deal:
    cells = () if give_cell == NONE else (give_cell,)
    return lambda rng: (Basket(amount_in(rng, cash), cells), Basket(cells=(get_cell,)))


def _sale(cell: int, price: AmountRange) -> Deal:
    return lambda rng: (Basket(cells=(cell,)), Basket(amount_in(rng, price)))


def _some(rng: Random, deeds: Sequence[DeedChoice]) -> tuple[int, ...]:
    return tuple(deed.cell for deed in deeds if rng.random() < 0.5)


def _bid(rng: Random, option: Option) -> Action:
    assert option.range is not None
    return c.Bid(amount_in(rng, option.range))


#: the kinds whose commands have parameters
_MAKERS: dict[str, Callable[[Random, Option], Action]] = {
    "use_release_card": lambda rng, option: c.UseReleaseCard(option.deck),
    "choose_move": lambda rng, option: c.ChooseMove(rng.choice(("first", "second", "sum"))),
    "choose_cell": lambda rng, option: c.ChooseCell(rng.randrange(CELL_COUNT)),
    "place_bet": lambda rng, option: c.PlaceBet(tuple(sorted(rng.sample(range(1, 7), rng.randint(1, 3))))),
    "choose_building": lambda rng, option: c.ChooseBuilding(rng.choice(option.buildings).cell),
    "bid": _bid,
    "open_auction": _open_auction,
    "build": lambda rng, option: c.Build((rng.choice(option.buildings).cell,)),
    "sell_buildings": _sell,
    "mortgage": lambda rng, option: c.Mortgage(rng.choice(option.deeds).cell),
    "redeem": lambda rng, option: c.Redeem(rng.choice(option.deeds).cell),
    "offer_trade": _offer_trade,
    "offer_settlement": _offer_settlement,
    "sell_to_bank": lambda rng, option: c.SellToBank(rng.choice(option.deeds).cell),
    "choose_estate": lambda rng, option: c.ChooseEstate(_some(rng, option.deeds)),
    "claim_buildings": lambda rng, option: c.ClaimBuildings(tuple(choice.cell for choice in option.buildings[:1])),
    "claim_rent": lambda rng, option: c.ClaimRent(0, rng.choice(option.deeds).cell),
    "vote_pause": lambda rng, option: c.VotePause(rng.random() < 0.5),
}
