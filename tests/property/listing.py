"""Whether an action is among the listed options, read from the options and the board alone; and actions at and beyond
bounds."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from random import Random
from typing import Any

from services.rules.domain import commands as c
from services.rules.domain.board import CELL_COUNT
from services.rules.domain.commands import Action, Basket
from services.rules.domain.folds.seats import debt_of
from services.rules.domain.options import AmountRange, Option, OptionKind, TradeChoice
from services.rules.domain.parties import NONE
from services.rules.domain.state import ClaimsFrame, TradeFrame
from tests.support.bargaining import Terms, offer_fits, settlement_fits
from tests.support.play import Seen

#: actions without parameters, by the kind of option that lists them
PLAIN: dict[Action, OptionKind] = {
    c.Roll(): "roll",
    c.PayFine(): "pay_fine",
    c.Buy(): "buy",
    c.Decline(): "decline",
    c.Pass(): "pass",
    c.RefuseTrade(): "refuse_trade",
    c.Pay(): "pay",
    c.DeclareBankruptcy(): "declare_bankruptcy",
    c.EndTurn(): "end_turn",
    c.AskGap(): "ask_gap",
    c.CloseGap(): "close_gap",
    c.Surrender(): "surrender",
    c.AskPause(): "ask_pause",
    c.ConfirmReturn(): "confirm_return",
    c.VotePause(True): "vote_pause",
    c.VotePause(False): "vote_pause",
    c.ChooseMove("first"): "choose_move",
    c.ChooseMove("second"): "choose_move",
    c.ChooseMove("sum"): "choose_move",
}


def listed(seen: Seen, options: tuple[Option, ...], seat: int, action: Action) -> bool:
    """Whether the options allow exactly this action to the seat."""
    return any(option.seat == seat and _fits(seen, option, action) for option in options)


def _fits(seen: Seen, option: Option, action: Action) -> bool:
    if action in PLAIN:
        return option.kind == PLAIN[action]
    kind = _KINDS.get(action.__class__)
    return option.kind == kind and _FITS[kind](seen, option, action)


def _fits_lot(seen: Seen, option: Option, action: c.OpenAuction) -> bool:
    for lot in option.lots:
        if lot.cell == action.cell:
            return lot.opening.holds(action.opening_bid) if lot.opening is not None else action.opening_bid == 0
    return False


def _fits_build(seen: Seen, option: Option, action: c.Build) -> bool:
    """One listed step; where orders are taken, several of one kind, each legal after the ones before it."""
    edition = seen.edition
    firsts = [choice.cell for choice in option.buildings]
    if len(action.cells) <= 1 or edition.supply_short != "claim_auction":
        return len(action.cells) == 1 and action.cells[0] in firsts
    return _order_fits(seen, option.seat, action.cells, hotels=None) and all(
        set(edition.board.group_of_cell[cell]) & set(firsts) for cell in action.cells
    )


def _order_fits(seen: Seen, seat: int, cells: tuple[int, ...], *, hotels: bool | None) -> bool:
    edition, state = seen.edition, seen.state
    board, houses = edition.board, edition.houses_under_hotel
    levels, cost, kinds = state.levels[:], 0, set() if hotels is None else {hotels}
    for cell in cells:
        group = board.group_of_cell[cell] if 0 <= cell < len(levels) and board.is_street[cell] else ()
        if not group or any(state.owners[other] != seat or state.mortgaged_rounds[other] for other in group):
            return False
        kinds.add(levels[cell] == houses)
        if levels[cell] > houses or (edition.build_even and levels[cell] > min(levels[other] for other in group)):
            return False
        levels[cell] += 1
        cost += board.build_cost[cell]
    if len(kinds) > 1:
        return False
    stock = state.supply_hotels if True in kinds else state.supply_houses
    return len(cells) <= stock and cost <= state.cash[seat]


def _fits_claim(seen: Seen, option: Option, action: c.ClaimBuildings) -> bool:
    frame = seen.state.agenda[-1]
    assert isinstance(frame, ClaimsFrame)
    return _order_fits(seen, option.seat, action.cells, hotels=frame.hotels)


def _fits_sale(seen: Seen, option: Option, action: c.SellBuildings) -> bool:
    """A listed street and level; a group whose hotels go together may be named whole, or by any of its streets."""
    edition, levels = seen.edition, seen.state.levels
    if not action.cells:
        return False
    cell = action.cells[0]
    group = edition.board.group_of_cell[cell] if 0 <= cell < len(levels) else ()
    together = edition.sale_unit == "hotel_group" and any(levels[other] > edition.houses_under_hotel for other in group)
    if len(action.cells) > 1 and not (together and sorted(action.cells) == list(group)):
        return False
    named = group[0] if together else cell
    return any(choice.cell == named and choice.to_level == action.to_level for choice in option.buildings)


def _fits_acceptance(seen: Seen, option: Option, action: c.AcceptTrade) -> bool:
    """With a redemption only what is got and mortgaged, and only what the cash covers."""
    edition, state, offer = seen.edition, seen.state, seen.state.agenda[-1]
    assert isinstance(offer, TradeFrame)
    give, get = offer.give, offer.get
    if not action.redeem:
        return True
    mortgaged = [cell for cell in give.cells if state.mortgaged_rounds[cell]]
    if not edition.mortgage_transfer_fee or not set(action.redeem) <= set(mortgaged):
        return False
    terms = Terms(edition.mortgage_transfer_fee, edition.redeem_cost or 0)
    mine, other = state.cash[option.seat], state.cash[offer.from_seat]
    left, other_left = mine + _brought(seen, offer) - get.cash, other + get.cash - give.cash
    fallen_through = (
        give.cash > other
        or get.cash > mine
        or left < terms.due(edition, state, give.cells, ())
        or other_left < terms.due(edition, state, get.cells, offer.redeem)
    )
    # An offer that has fallen through is void whatever is redeemed.
    return fallen_through or left >= terms.due(edition, state, give.cells, action.redeem)


def _brought(seen: Seen, offer: TradeFrame) -> int:
    """The cash that reaches the partner: of a settlement's the bank keeps the tax of the debt."""
    debt = debt_of(seen.state, offer.from_seat)
    rate = debt.tax_rate if offer.settles and debt is not None else 0
    return offer.give.cash - offer.give.cash * rate // 100


def _fits_offer(seen: Seen, option: Option, action: c.OfferTrade) -> bool:
    trade, give, get = option.trade, action.give, action.get
    if trade is None or action.to != trade.to:
        return False
    if trade.free_shape:
        return offer_fits(seen.edition, seen.state, option, action)
    if action.redeem or give.release_cards or get.release_cards:
        return False
    if not get.cells:
        price = trade.sale_range(give.cells[0]) if len(give.cells) == 1 and give.cash == 0 else None
        return price is not None and price.holds(get.cash)
    if len(get.cells) != 1 or len(give.cells) > 1 or get.cash:
        return False
    cash = trade.exchange_range(get.cells[0], give.cells[0] if give.cells else NONE)
    return cash is not None and cash.holds(give.cash)


def _fits_estate(seen: Seen, option: Option, action: c.ChooseEstate) -> bool:
    costs = {deed.cell: deed.amount for deed in option.deeds}
    named = set(action.redeem)
    fits = len(named) == len(action.redeem) and named <= set(costs)
    return fits and sum(costs[cell] for cell in named) <= seen.state.cash[option.seat]


def _fits_rent_claim(seen: Seen, option: Option, action: c.ClaimRent) -> bool:
    claims = [(claim.visitor, claim.cell) for claim in seen.state.rent_claims if claim.owner == option.seat]
    return (action.visitor, action.cell) in claims and action.cell in [deed.cell for deed in option.deeds]


def _fits_bet(seen: Seen, option: Option, action: c.PlaceBet) -> bool:
    numbers = action.numbers
    return 1 <= len(numbers) <= 3 and len(set(numbers)) == len(numbers) and set(numbers) <= set(range(1, 7))


def _names_deed(seen: Seen, option: Option, action: c.Mortgage | c.Redeem | c.SellToBank) -> bool:
    return action.cell in [deed.cell for deed in option.deeds]


_KINDS: dict[type, OptionKind] = {
    c.Bid: "bid",
    c.OpenAuction: "open_auction",
    c.Build: "build",
    c.SellBuildings: "sell_buildings",
    c.Mortgage: "mortgage",
    c.Redeem: "redeem",
    c.SellToBank: "sell_to_bank",
    c.OfferTrade: "offer_trade",
    c.OfferSettlement: "offer_settlement",
    c.AcceptTrade: "accept_trade",
    c.ChooseEstate: "choose_estate",
    c.ClaimBuildings: "claim_buildings",
    c.ClaimRent: "claim_rent",
    c.PlaceBet: "place_bet",
    c.ChooseCell: "choose_cell",
    c.ChooseBuilding: "choose_building",
    c.UseReleaseCard: "use_release_card",
}
_FITS: dict[OptionKind, Callable[[Seen, Option, Any], bool]] = {
    "bid": lambda seen, option, action: option.range is not None and option.range.holds(action.amount),
    "open_auction": _fits_lot,
    "build": _fits_build,
    "sell_buildings": _fits_sale,
    "mortgage": _names_deed,
    "redeem": _names_deed,
    "sell_to_bank": _names_deed,
    "offer_trade": _fits_offer,
    "offer_settlement": lambda seen, option, action: settlement_fits(seen.edition, seen.state, option, action.give),
    "accept_trade": _fits_acceptance,
    "choose_estate": _fits_estate,
    "claim_buildings": _fits_claim,
    "claim_rent": _fits_rent_claim,
    "place_bet": _fits_bet,
    "choose_cell": lambda seen, option, action: (
        0 <= action.cell < CELL_COUNT and action.cell != seen.state.position[option.seat]
    ),
    "choose_building": lambda seen, option, action: action.cell in [choice.cell for choice in option.buildings],
    "use_release_card": lambda seen, option, action: action.deck == option.deck,
}


def at_bounds(seen: Seen, option: Option) -> Iterator[Action]:
    """Every choice of an option, with the least and the greatest amount of each."""
    yield from (action for action, kind in PLAIN.items() if option.kind == kind)
    if option.kind in _BOUNDS:
        yield from _BOUNDS[option.kind](option)
    elif option.kind == "offer_trade" and option.trade is not None and not option.trade.free_shape:
        yield from _offers_at_bounds(option.trade)
    elif option.kind == "choose_cell":
        here = seen.state.position[option.seat]
        yield from (c.ChooseCell(cell) for cell in range(CELL_COUNT) if cell != here)
    elif option.kind == "claim_rent":
        claims = [claim for claim in seen.state.rent_claims if claim.owner == option.seat]
        yield from (c.ClaimRent(claim.visitor, claim.cell) for claim in claims)


def _bids(option: Option) -> Iterator[Action]:
    yield from (c.Bid(amount) for amount in _ends(option.range))


def _lots(option: Option) -> Iterator[Action]:
    for lot in option.lots:
        yield from (c.OpenAuction(lot.cell, amount) for amount in (_ends(lot.opening) if lot.opening else (0,)))


_BOUNDS: dict[OptionKind, Callable[[Option], Iterable[Action]]] = {
    "bid": _bids,
    "open_auction": _lots,
    "build": lambda option: [c.Build((choice.cell,)) for choice in option.buildings],
    "sell_buildings": lambda option: [c.SellBuildings((choice.cell,), choice.to_level) for choice in option.buildings],
    "mortgage": lambda option: [c.Mortgage(deed.cell) for deed in option.deeds],
    "redeem": lambda option: [c.Redeem(deed.cell) for deed in option.deeds],
    "sell_to_bank": lambda option: [c.SellToBank(deed.cell) for deed in option.deeds],
    "accept_trade": lambda option: [c.AcceptTrade()],
    "choose_estate": lambda option: [c.ChooseEstate()],
    "claim_buildings": lambda option: [
        c.ClaimBuildings(),
        *[c.ClaimBuildings((choice.cell,)) for choice in option.buildings],
    ],
    "place_bet": lambda option: [c.PlaceBet((1,)), c.PlaceBet((6, 3, 1))],
    "choose_building": lambda option: [c.ChooseBuilding(choice.cell) for choice in option.buildings],
    "use_release_card": lambda option: [c.UseReleaseCard(option.deck)],
}


def _offers_at_bounds(trade: TradeChoice) -> Iterator[Action]:
    for get_cell in trade.get_cells:
        for give_cell in (NONE, *trade.give_cells):
            for amount in _ends(trade.exchange_range(get_cell, give_cell)):
                give = Basket(amount, () if give_cell == NONE else (give_cell,))
                yield c.OfferTrade(trade.to, give, Basket(cells=(get_cell,)))
    for sale in trade.sales:
        for amount in _ends(trade.sale_range(sale.cell)):
            yield c.OfferTrade(trade.to, Basket(cells=(sale.cell,)), Basket(amount))


def _ends(amounts: AmountRange | None) -> tuple[int, ...]:
    if amounts is None:
        return ()
    greatest = amounts.greatest - (amounts.greatest - amounts.least) % amounts.step
    assert amounts.least <= greatest, f"an empty range: {amounts}"
    return tuple(sorted({amounts.least, greatest}))


_ONE_CELL = (c.SellToBank, c.Mortgage, c.Redeem, c.ChooseCell, c.ChooseBuilding)


def perturbed(rng: Random, action: Action) -> Action:
    """An action a little beside the given one; it may still be legal."""
    shift = rng.choice((-100, -10, -1, 1, 10, 100))
    if isinstance(action, _ONE_CELL):
        return action.__class__(_beside(rng, action.cell))
    match action:
        case c.Bid(amount):
            return c.Bid(amount + shift)
        case c.OpenAuction(cell, opening):
            return rng.choice((c.OpenAuction(cell, opening + shift), c.OpenAuction(_beside(rng, cell), opening)))
        case c.Build(cells):
            return c.Build(rng.choice(((_beside(rng, cells[0]),), (*cells, *cells), ())))
        case c.ClaimBuildings((first, *_)):
            return c.ClaimBuildings(rng.choice(((_beside(rng, first),), (first, first), (first,) * 30)))
        case c.SellBuildings(cells, to_level):
            return rng.choice(
                (c.SellBuildings(cells, to_level + rng.choice((-1, 1))), c.SellBuildings((_beside(rng, cells[0]),), 0))
            )
        case c.OfferTrade(to, give, get, redeem):
            return c.OfferTrade(*_beside_offer(rng, to, give, get), redeem)
        case c.OfferSettlement(give):
            return c.OfferSettlement(_beside_offer(rng, 0, give, Basket())[1])
        case _:
            return _beside_rare(rng, action)


def _beside_rare(rng: Random, action: Action) -> Action:
    match action:
        case c.UseReleaseCard():
            return c.UseReleaseCard(rng.choice(("market", "support", "chance", "chest", "x", "")))
        case c.PlaceBet(numbers):
            return c.PlaceBet(rng.choice(((), (*numbers, 7), (*numbers, *numbers), (1, 2, 3, 4))))
        case c.ChooseEstate(redeem):
            return c.ChooseEstate((*redeem, *redeem, rng.randrange(CELL_COUNT)))
        case c.ClaimRent(visitor, cell):
            return rng.choice((c.ClaimRent(visitor + 1, cell), c.ClaimRent(visitor, _beside(rng, cell))))
        case _:
            return any_action(rng)


def _beside_offer(rng: Random, to: int, give: Basket, get: Basket) -> tuple[int, Basket, Basket]:
    change, shift = rng.randrange(6), rng.choice((-100, -10, -1, 1, 10, 100))
    if change == 0:
        return to + rng.choice((-1, 1)), give, get
    if change == 1:
        return to, replace(give, cash=give.cash + shift), get
    if change == 2:
        return to, give, replace(get, cash=get.cash + shift)
    if change == 3:
        return to, replace(give, release_cards=(*give.release_cards, rng.choice(("market", "chance")))), get
    if change == 4:
        return to, give, replace(get, cells=tuple(_beside(rng, cell) for cell in get.cells))
    return to, get, give


def _beside(rng: Random, cell: int) -> int:
    return cell + rng.choice((-3, -2, -1, 1, 2, 3, 100))


def any_action(rng: Random) -> Action:
    """Any action of any kind with any parameters near the possible ones."""
    cell, other, money = rng.randint(-1, 40), rng.randint(-1, 40), rng.randint(-20, 1200)
    cells = rng.choice(((), (other,), (cell, other)))
    made: tuple[Action, ...] = (
        *PLAIN,
        c.AcceptTrade(),
        c.AcceptTrade((cell,)),
        c.UseReleaseCard(),
        c.Bid(money),
        c.OpenAuction(cell, money),
        c.OpenAuction(cell),
        c.Build((cell,)),
        c.SellBuildings((cell,), rng.randint(-1, 5)),
        c.SellToBank(cell),
        c.OfferTrade(rng.randint(-1, 6), Basket(money, cells), Basket(rng.choice((0, 0, money)), (cell,))),
        c.OfferTrade(rng.randint(-1, 6), Basket(0, (cell,)), Basket(money)),
        c.Mortgage(cell),
        c.Redeem(cell),
        c.OfferSettlement(Basket(money)),
        c.ChooseCell(cell),
        c.PlaceBet((1, 2)),
        c.ChooseBuilding(cell),
        c.ChooseEstate(rng.choice(((), (cell,)))),
        c.ClaimBuildings(cells),
        c.ClaimRent(rng.randint(-1, 6), cell),
    )
    return rng.choice(made)
