"""What may be offered to each rival, with its bounds."""

from functools import lru_cache

from services.rules.domain.edition import Edition
from services.rules.domain.moves.holdings import Holdings
from services.rules.domain.moves.money import bank_value
from services.rules.domain.moves.trade_checks import (
    may_offer,
    money_bound,
    silenced,
    sole_creditor,
)
from services.rules.domain.options import AmountRange, DeedChoice, TradeBound, TradeChoice
from services.rules.domain.parties import NONE
from services.rules.domain.state import PaymentFrame, State


@lru_cache(maxsize=1024)
def _deed(cell: int, amount: int) -> DeedChoice:
    return DeedChoice(cell, amount)


@lru_cache(maxsize=8192)
def _cash_up_to(greatest: int) -> AmountRange:
    return AmountRange(0, greatest)


def trade_choices(
    edition: Edition, state: State, seat: int, held: Holdings, *, sale_only: bool
) -> tuple[TradeChoice, ...]:
    """What may be offered to each rival, with the money allowed."""
    if not may_offer(edition, state, seat):
        return ()
    if edition.trade_shape == "free":
        return _free_choices(edition, state, seat, held)
    half_price = edition.board.half_price
    own = held.bare[seat]
    values = tuple([_deed(cell, half_price[cell]) for cell in own])
    heard = any([key[1] == "silence" for key in state.counters])
    choices = []
    for to, deeds in enumerate(held.bare):
        if to == seat or not state.in_play[to]:
            continue
        wanted = () if sale_only else deeds
        if heard and _keeps_silent(state, seat, to):
            choice = _quiet_choice(edition, state, seat, to, own, wanted)
        elif own or wanted:
            choice = _choice(edition, state, seat, to, values, own, wanted)
        else:
            choice = None
        if choice is not None:
            choices.append(choice)
    return tuple(choices)


def _quiet_choice(
    edition: Edition, state: State, seat: int, to: int, own: tuple[int, ...], wanted: tuple[int, ...]
) -> TradeChoice | None:
    """As _choice, without the deeds that a bot keeps silent about (IND-TRADE-19)."""
    own = tuple([cell for cell in own if not silenced(edition, state, seat, to, cell)])
    wanted = tuple([cell for cell in wanted if not silenced(edition, state, seat, to, cell)])
    values = tuple([_deed(cell, edition.board.half_price[cell]) for cell in own])
    return _choice(edition, state, seat, to, values, own, wanted)


def _choice(
    edition: Edition,
    state: State,
    seat: int,
    to: int,
    values: tuple[DeedChoice, ...],
    own: tuple[int, ...],
    wanted: tuple[int, ...],
) -> TradeChoice | None:
    limit = state.cash[to]
    sales = tuple([deed for deed in values if deed.amount <= limit])
    cash = state.cash[seat]
    if not sales and not (wanted and (own or cash)):
        return None
    bounds = _bounds(edition, state, seat, to, limit) if state.counters else ()
    choice = TradeChoice(to, wanted, own, _cash_up_to(cash) if wanted else None, sales, limit, bounds)
    return choice if not bounds or _leaves_a_deal(choice) else None


def _leaves_a_deal(choice: TradeChoice) -> bool:
    """Whether the bounds of refused pairs leave anything to offer."""
    return any([choice.sale_range(sale.cell) is not None for sale in choice.sales]) or any(
        [
            choice.exchange_range(get, give) is not None
            for get in choice.get_cells
            for give in (NONE, *choice.give_cells)
        ]
    )


def _keeps_silent(state: State, seat: int, to: int) -> bool:
    """Whether the partner has refused anything of this bot (IND-TRADE-19)."""
    return any([what == "silence" and keys[:2] == (seat, to) for _, what, keys in state.counters])


def _bounds(edition: Edition, state: State, seat: int, to: int, limit: int) -> tuple[TradeBound, ...]:
    """Pairs that were refused before, with the money that is better enough."""
    pairs = set()
    for scope, what, keys in state.counters:
        if what == "offer" and keys[:2] == (seat, to):
            pairs.add(keys[2:])
        elif scope == "debt" and what == "sale" and keys[0] == to:
            pairs.add((NONE, keys[1]))
    bounds = []
    for get_cell, give_cell in sorted(pairs):
        least = money_bound(edition, state, seat, to, get_cell, give_cell)
        if least is None:
            continue
        if get_cell == NONE:
            low, high = bank_value(edition, state, give_cell), min(limit, -least)
        else:
            low, high = least, state.cash[seat]
        bounds.append(TradeBound(get_cell, give_cell, AmountRange(low, high) if low <= high else None))
    return tuple(bounds)


def _free_choices(edition: Edition, state: State, seat: int, held: Holdings) -> tuple[TradeChoice, ...]:
    """Any cash, deeds and cards; the shares that a deal must keep stand beside them (MET-TRADE-04, BRA-TRADE-02)."""
    choices = []
    for to, in_play in enumerate(state.in_play):
        if in_play and to != seat:
            choice = _free_choice(edition, state, seat, to, held)
            if choice is not None:
                choices.append(choice)
    return tuple(choices)


def _free_choice(edition: Edition, state: State, seat: int, to: int, held: Holdings) -> TradeChoice | None:
    cash, most = state.cash[seat], state.cash[to]
    seats = state.config.seats
    ally = seats[to].team == seats[seat].team
    moves = edition.trade_mortgaged == "yes" or (ally and edition.trade_mortgaged == "allies")
    deeds = held.bare if moves else held.free
    give, get = deeds[seat], deeds[to]
    cards, wanted_cards = (state.release_cards[seat], state.release_cards[to]) if edition.trade_cards else ((), ())
    own_side = give or cards or cash
    other_side = get or wanted_cards or most
    if not (own_side and other_side) and not (ally and (own_side or other_side)):
        return None
    balance = edition.trade_balance
    return TradeChoice(
        to,
        get,
        give,
        _cash_up_to(cash),
        (),
        most,
        (),
        True,
        balance.allies if ally else balance.percent,
        cards,
        wanted_cards,
        (edition.mortgage_transfer_fee or 0) if moves else 0,
        edition.redeem_cost or 0,
        ally,
    )


def settlement_choice(
    edition: Edition, state: State, seat: int, debt: PaymentFrame, held: Holdings
) -> TradeChoice | None:
    """What may be offered to the sole creditor for the whole debt (TAB-DEBT-05)."""
    creditor = sole_creditor(debt)
    if not edition.settlement or creditor == NONE or state.cash[seat] >= debt.total:
        return None
    if not may_offer(edition, state, seat):
        return None
    choice = _free_choice(edition, state, seat, creditor, held)
    if choice is None or not (choice.give_cells or choice.give_release_cards or state.cash[seat]):
        return None
    return TradeChoice(
        creditor,
        (),
        choice.give_cells,
        choice.exchange_cash,
        (),
        0,
        (),
        True,
        edition.trade_balance.percent,
        choice.give_release_cards,
        (),
        choice.transfer_fee_percent,
        choice.redeem_percent,
    )
