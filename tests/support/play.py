"""Play at random: draws among everything that a decision lists.

Some options leave to the client what it can reckon from the board and the standings (how a deal of free shape must
balance, what a rent claim is about): those are drawn only where the edition and the state are given.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, get_args

from services.rules.domain import commands as c
from services.rules.domain.board import CELL_COUNT
from services.rules.domain.commands import Action, Basket, Command
from services.rules.domain.edition import Edition
from services.rules.domain.options import AmountRange, BuildingChoice, DeedChoice, Option, TradeChoice
from services.rules.domain.parties import NONE
from services.rules.domain.state import ClaimsFrame, State, TradeFrame
from tests.support.bargaining import percent_up, random_offer

_CLASSES: dict[str, Any] = {
    "".join("_" * (letter.isupper() and index > 0) + letter.lower() for index, letter in enumerate(kind.__name__)): kind
    for kind in get_args(Action)
}


@dataclass(frozen=True, slots=True)
class Seen:
    """What a client sees beside the options."""

    edition: Edition
    state: State


def random_action(rng: Random, options: Sequence[Option], seen: Seen | None = None) -> Action:
    """One of the legal actions, the kinds alike likely, its parameters anywhere within their bounds."""
    return _draw(rng, options, seen)[1]


def random_command(rng: Random, state: State, options: Sequence[Option], edition: Edition | None = None) -> Command:
    """A legal command in a state that waits for one."""
    option, action = _draw(rng, options, Seen(edition, state) if edition is not None else None)
    decision_id = state.decision.id if state.decision is not None else 0
    return Command(option.seat, decision_id, action)


def _draw(rng: Random, options: Sequence[Option], seen: Seen | None) -> tuple[Option, Action]:
    for option in rng.sample(options, len(options)):
        action = action_of(rng, option, seen)
        if action is not None:
            return option, action
    raise AssertionError(f"nothing can be drawn from {options}")


def action_of(rng: Random, option: Option, seen: Seen | None = None) -> Action | None:
    """An action within the bounds of one option; None if none was found, or not enough is seen."""
    if option.kind in _BY_SIGHT and seen is not None:
        return _BY_SIGHT[option.kind](rng, option, seen)
    make = _MAKERS.get(option.kind)
    return make(rng, option) if make is not None else _plain(option)


def _plain(option: Option) -> Action:
    action: Action = _CLASSES[option.kind]()
    return action


def amount_in(rng: Random, amounts: AmountRange) -> int:
    """An amount of a range; its ends come up often, because mistakes live there."""
    steps = (amounts.greatest - amounts.least) // amounts.step
    return amounts.least + amounts.step * rng.choice((0, steps, rng.randint(0, steps), rng.randint(0, steps)))


# ---- deals of the simple shape


Deal = Callable[[Random], tuple[Basket, Basket]]


def deals(trade: TradeChoice) -> list[Deal]:
    """Every pair of deeds that may be offered to a partner; each is given its money when it is called."""
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


def _exchange(get_cell: int, give_cell: int, cash: AmountRange) -> Deal:
    cells = () if give_cell == NONE else (give_cell,)
    return lambda rng: (Basket(amount_in(rng, cash), cells), Basket(cells=(get_cell,)))


def _sale(cell: int, price: AmountRange) -> Deal:
    return lambda rng: (Basket(cells=(cell,)), Basket(amount_in(rng, price)))


def _offer_trade(rng: Random, option: Option) -> Action | None:
    trade = option.trade
    assert trade is not None
    if trade.free_shape:
        return None
    give, get = rng.choice(deals(trade))(rng)
    return c.OfferTrade(trade.to, give, get)


# ---- kinds whose option tells all


def _open_auction(rng: Random, option: Option) -> Action:
    lot = rng.choice(option.lots)
    return c.OpenAuction(lot.cell, amount_in(rng, lot.opening) if lot.opening is not None else 0)


def _sell(rng: Random, option: Option) -> Action:
    choice = rng.choice(option.buildings)
    return c.SellBuildings((choice.cell,), choice.to_level)


def _bid(rng: Random, option: Option) -> Action:
    assert option.range is not None
    return c.Bid(amount_in(rng, option.range))


_MAKERS: dict[str, Callable[[Random, Option], Action | None]] = {
    "use_release_card": lambda rng, option: c.UseReleaseCard(option.deck),
    "choose_move": lambda rng, option: c.ChooseMove(rng.choice(("first", "second", "sum"))),
    "choose_cell": lambda rng, option: None,
    "place_bet": lambda rng, option: c.PlaceBet(tuple(sorted(rng.sample(range(1, 7), rng.randint(1, 3))))),
    "choose_building": lambda rng, option: c.ChooseBuilding(rng.choice(option.buildings).cell),
    "bid": _bid,
    "open_auction": _open_auction,
    "build": lambda rng, option: c.Build((rng.choice(option.buildings).cell,)),
    "sell_buildings": _sell,
    "mortgage": lambda rng, option: c.Mortgage(rng.choice(option.deeds).cell),
    "redeem": lambda rng, option: c.Redeem(rng.choice(option.deeds).cell),
    "offer_trade": _offer_trade,
    "offer_settlement": lambda rng, option: None,
    "sell_to_bank": lambda rng, option: c.SellToBank(rng.choice(option.deeds).cell),
    "choose_estate": lambda rng, option: c.ChooseEstate(()),
    "claim_buildings": lambda rng, option: c.ClaimBuildings(tuple(choice.cell for choice in option.buildings[:1])),
    "claim_rent": lambda rng, option: None,
    "vote_pause": lambda rng, option: c.VotePause(rng.random() < 0.7),
}


# ---- kinds for which one has to look


def _free_offer(rng: Random, option: Option, seen: Seen) -> Action | None:
    trade = option.trade
    assert trade is not None
    return random_offer(rng, seen.edition, seen.state, option) if trade.free_shape else _offer_trade(rng, option)


def _other_cell(rng: Random, option: Option, seen: Seen) -> Action:
    here = seen.state.position[option.seat]
    return c.ChooseCell((here + rng.randrange(1, CELL_COUNT)) % CELL_COUNT)


def _rent_claim(rng: Random, option: Option, seen: Seen) -> Action:
    claim = rng.choice([claim for claim in seen.state.rent_claims if claim.owner == option.seat])
    return c.ClaimRent(claim.visitor, claim.cell)


def _affordable(rng: Random, choices: Sequence[DeedChoice], cash: int) -> tuple[int, ...]:
    cells = []
    for deed in rng.sample(choices, len(choices)):
        if rng.random() < 0.6 and deed.amount <= cash:
            cash -= deed.amount
            cells.append(deed.cell)
    return tuple(cells)


def _estate(rng: Random, option: Option, seen: Seen) -> Action:
    return c.ChooseEstate(_affordable(rng, option.deeds, seen.state.cash[option.seat]))


def _pieces(rng: Random, choices: Sequence[BuildingChoice], cash: int, stock: int) -> tuple[int, ...]:
    """Some streets in any order, one step each, as far as cash and stock go (`stock` -1: without end)."""
    cells: list[int] = []
    for choice in rng.sample(choices, len(choices)):
        if choice.amount <= cash and len(cells) != stock and rng.random() < 0.6:
            cash -= choice.amount
            cells.append(choice.cell)
    return tuple(cells)


def _claim_buildings(rng: Random, option: Option, seen: Seen) -> Action:
    state, frame = seen.state, seen.state.agenda[-1]
    assert isinstance(frame, ClaimsFrame)
    stock = state.supply_hotels if frame.hotels else state.supply_houses
    return c.ClaimBuildings(_pieces(rng, option.buildings, state.cash[option.seat], stock))


def _build(rng: Random, option: Option, seen: Seen) -> Action:
    """One piece, or, where orders of several are taken, some of one kind."""
    one = rng.choice(option.buildings)
    if seen.edition.supply_short != "claim_auction" or rng.random() < 0.5:
        return c.Build((one.cell,))
    state, houses = seen.state, seen.edition.houses_under_hotel
    hotels = one.to_level > houses
    alike = [choice for choice in option.buildings if (choice.to_level > houses) == hotels]
    stock = state.supply_hotels if hotels else state.supply_houses
    return c.Build(_pieces(rng, alike, state.cash[option.seat], stock) or (one.cell,))


def _accept(rng: Random, option: Option, seen: Seen) -> Action:
    """Redeems some of the mortgaged deeds got, if the cash covers that; an offer that fell through takes none."""
    edition, state = seen.edition, seen.state
    offer = state.agenda[-1]
    assert isinstance(offer, TradeFrame)
    cells = [cell for cell in offer.give.cells if state.mortgaged_rounds[cell] and rng.random() < 0.5]
    price = edition.board.price
    kept = [cell for cell in offer.give.cells if state.mortgaged_rounds[cell] and cell not in cells]
    due = sum(percent_up(price[cell], edition.redeem_cost or 0) for cell in cells)
    due += sum(percent_up(price[cell], edition.mortgage_transfer_fee or 0) for cell in kept)
    left = state.cash[option.seat] + offer.give.cash - offer.get.cash
    return c.AcceptTrade(tuple(cells)) if cells and edition.mortgage_transfer_fee and left >= due else c.AcceptTrade()


_BY_SIGHT: dict[str, Callable[[Random, Option, Seen], Action | None]] = {
    "offer_trade": _free_offer,
    "offer_settlement": _free_offer,
    "choose_cell": _other_cell,
    "claim_rent": _rent_claim,
    "choose_estate": _estate,
    "claim_buildings": _claim_buildings,
    "build": _build,
    "accept_trade": _accept,
}
