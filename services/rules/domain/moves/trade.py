"""Offers between seats (IND-TRADE-01 to -22), and direct sales in a debt (IND-DEBT-13, -20, -21)."""

from functools import lru_cache

from services.rules.domain.commands import AcceptTrade, Basket, Command, OfferTrade
from services.rules.domain.edition import Edition
from services.rules.domain.events import DeedMoved, MoneyMoved, TradeClosed, TradeOffered
from services.rules.domain.folds.seats import debt_of, open_trade
from services.rules.domain.moves.asking import ask, close
from services.rules.domain.moves.checks import bad_cell, group_built
from services.rules.domain.moves.money import bank_value
from services.rules.domain.options import AmountRange, DeedChoice, TradeBound, TradeChoice
from services.rules.domain.parties import NONE
from services.rules.domain.play import Play, refuse
from services.rules.domain.refusals import Refusal
from services.rules.domain.rulebook import Rule
from services.rules.domain.state import State, TradeFrame


def trade_used(edition: Edition, state: State, seat: int) -> bool:
    """Whether this turn's trades are used (IND-TRADE-01, -12, -15, -17)."""
    return state.counters.get(("turn", "trade", (seat,)), 0) >= edition.trade_limit


def _bot_offers_used(edition: Edition, state: State, seat: int) -> bool:
    """A bot proposes so often in a turn (IND-TRADE-20)."""
    limit = edition.bot_offers
    if limit is None or state.config.seats[seat].kind != "bot":
        return False
    return state.counters.get(("turn", "offer_made", (seat,)), 0) >= limit.per_turn


def _refused_sales_used(edition: Edition, state: State, seat: int) -> bool:
    """So many direct sales were refused in this debt (IND-DEBT-20)."""
    limit = edition.debt_trade_limit
    return limit is not None and state.counters.get(("debt", "refused", (seat,)), 0) >= limit.count


def may_offer(edition: Edition, state: State, seat: int) -> bool:
    """Whether an allowance of offers is left."""
    if debt_of(state, seat) is not None:
        return not _refused_sales_used(edition, state, seat)
    return not trade_used(edition, state, seat) and not _bot_offers_used(edition, state, seat)


def tradable(edition: Edition, state: State, cell: int) -> bool:
    """Deeds of groups in which nobody has a building (IND-TRADE-02)."""
    return not group_built(edition, state, cell)


def silenced(edition: Edition, state: State, seat: int, to: int, cell: int) -> bool:
    """Whether a bot still keeps silent about a cell that the person refused (IND-TRADE-19)."""
    if edition.bot_offers is None:
        return False
    refused_in = state.counters.get(("game", "silence", (seat, to, cell)))
    return refused_in is not None and state.round - refused_in <= edition.bot_offers.silent_rounds


def money_bound(edition: Edition, state: State, seat: int, to: int, get_cell: int, give_cell: int) -> int | None:
    """Least money toward the partner for these deeds after a refusal (negative: greatest price asked); None: no bound.

    IND-TRADE-18 toward a bot; IND-DEBT-20 in a debt.
    """
    if not state.counters:
        return None
    step = edition.repeat_offer_step
    bounds = []
    last = state.counters.get(("game", "offer", (seat, to, get_cell, give_cell)))
    if last is not None:
        bounds.append(last + step)
    if get_cell == NONE and debt_of(state, seat) is not None:
        price = state.counters.get(("debt", "sale", (to, give_cell)))
        if price is not None:
            bounds.append(step - price)
    return max(bounds) if bounds else None


def offer(play: Play, command: Command) -> Refusal | None:
    """Offers a deal; it can be neither withdrawn nor changed (IND-TRADE-09)."""
    edition, state, seat = play.edition, play.state, command.seat
    action = command.action
    if not isinstance(action, OfferTrade):
        return refuse(edition, "wrong_shape", "trade_shape", "no offer")
    refusal = (
        _allowance_refusal(edition, state, seat)
        or _partner_refusal(edition, state, seat, action)
        or _shape_refusal(edition, state, seat, action)
        or _deeds_refusal(edition, state, seat, action)
        or _money_refusal(edition, state, seat, action)
        or _repeat_refusal(edition, state, seat, action)
    )
    if refusal is not None:
        return refusal
    close(play)
    play.emit(TradeOffered(state.next_trade, seat, action.to, action.give, action.get))
    return None


def _allowance_refusal(edition: Edition, state: State, seat: int) -> Refusal | None:
    if debt_of(state, seat) is not None:
        if _refused_sales_used(edition, state, seat):
            return refuse(edition, "trade_limit_used", "debt_sale_limit", "too many sales were refused in this debt")
        return None
    if trade_used(edition, state, seat):
        return refuse(edition, "trade_limit_used", "trade_limit", "this turn's trade is used")
    if _bot_offers_used(edition, state, seat):
        return refuse(edition, "trade_limit_used", "trade_bot_limit", "a bot proposes once in a turn")
    return None


def _partner_refusal(edition: Edition, state: State, seat: int, action: OfferTrade) -> Refusal | None:
    if not 0 <= action.to < len(state.in_play) or action.to == seat:
        return refuse(edition, "bad_choice", "trade_shape", "the partner is a rival", {"seat": action.to})
    if not state.in_play[action.to]:
        return refuse(edition, "seat_out", "out", "the partner is out", {"seat": action.to})
    return None


def _shape_refusal(edition: Edition, state: State, seat: int, action: OfferTrade) -> Refusal | None:
    """One deed of the partner for cash and at most one own deed, or one own deed for cash (IND-TRADE-04 to -07)."""
    give, get = action.give, action.get
    if give.cash < 0 or get.cash < 0:
        return refuse(edition, "bad_amount", "trade_cash", "money is whole and not below 0")
    if give.release_cards or get.release_cards:
        return refuse(edition, "card_not_tradable", "trade_cards", "release cards are not traded")
    exchange = len(get.cells) == 1 and len(give.cells) <= 1 and not get.cash
    sale = not get.cells and len(give.cells) == 1 and not give.cash
    if action.redeem or not (exchange or sale):
        return refuse(edition, "wrong_shape", "trade_shape", "an exchange of one deed each, or a sale of one")
    if exchange and not give.cells and not give.cash:
        return refuse(edition, "empty_side", "trade_shape", "something must be given")
    if exchange and debt_of(state, seat) is not None:
        return refuse(edition, "wrong_shape", "debt_actions", "in a debt only own deeds are sold")
    return None


def _deeds_refusal(edition: Edition, state: State, seat: int, action: OfferTrade) -> Refusal | None:
    for cells, owner in ((action.give.cells, seat), (action.get.cells, action.to)):
        for cell in cells:
            refusal = bad_cell(edition, cell)
            if refusal is not None:
                return refusal
            if state.owners[cell] != owner:
                return refuse(edition, "not_owner", "trade_tradable", "the deed is somebody else's", {"cell": cell})
            if not tradable(edition, state, cell):
                return refuse(edition, "built", "trade_tradable", "the group has buildings", {"cell": cell})
    return None


def _money_refusal(edition: Edition, state: State, seat: int, action: OfferTrade) -> Refusal | None:
    if action.give.cash > state.cash[seat]:
        fields = {"greatest": state.cash[seat]}
        return refuse(edition, "not_enough_cash", "trade_cash", "more than the own cash", fields)
    if not action.get.cells:
        least = bank_value(edition, state, action.give.cells[0])
        if action.get.cash < least:
            return refuse(edition, "below_bank_value", "trade_sale_price", "below the bank value", {"least": least})
        if action.get.cash > state.cash[action.to]:
            fields = {"greatest": state.cash[action.to]}
            return refuse(edition, "over_partner_cash", "trade_sale_price", "more than the partner has", fields)
    return None


def _repeat_refusal(edition: Edition, state: State, seat: int, action: OfferTrade) -> Refusal | None:
    for cell in (*action.give.cells, *action.get.cells):
        if silenced(edition, state, seat, action.to, cell):
            return refuse(edition, "ask_later", "trade_silence", "the person refused this deed lately", {"cell": cell})
    get_cell = action.get.cells[0] if action.get.cells else NONE
    give_cell = action.give.cells[0] if action.give.cells else NONE
    least = money_bound(edition, state, seat, action.to, get_cell, give_cell)
    if least is not None and action.give.cash - action.get.cash < least:
        rule: Rule = "debt_sale_repeat" if debt_of(state, seat) is not None else "trade_repeat"
        return refuse(edition, "not_better_enough", rule, "the last offer was refused", {"least": least})
    return None


def run_trade(play: Play, frame: TradeFrame) -> None:
    """The partner is asked (IND-TRADE-16)."""
    ask(play, "trade_answer", frame.to_seat, "answer")


def accept(play: Play, command: Command) -> Refusal | None:
    """Carries the deal out at once and completely (IND-TRADE-09)."""
    frame = open_trade(play.state)
    if frame is None:
        return refuse(play.edition, "wrong_decision", "window_trade_answer", "no offer is open")
    if isinstance(command.action, AcceptTrade) and command.action.redeem:
        return refuse(play.edition, "bad_choice", "mortgage", "there is no mortgage to redeem")
    close(play)
    play.emit(TradeClosed(frame.id, "accepted"))
    _hand_over(play, frame.give, frame.from_seat, frame.to_seat)
    _hand_over(play, frame.get, frame.to_seat, frame.from_seat)
    return None


def _hand_over(play: Play, basket: Basket, from_seat: int, to_seat: int) -> None:
    if basket.cash:
        play.emit(MoneyMoved(from_seat, to_seat, basket.cash, "trade"))
    for cell in basket.cells:
        play.emit(DeedMoved(cell, from_seat, to_seat, "trade"))


def refuse_trade(play: Play, command: Command) -> Refusal | None:
    """Nothing moves."""
    frame = open_trade(play.state)
    if frame is None:
        return refuse(play.edition, "wrong_decision", "window_trade_answer", "no offer is open")
    close(play)
    play.emit(TradeClosed(frame.id, "refused"))
    return None


@lru_cache(maxsize=1024)
def _deed(cell: int, amount: int) -> DeedChoice:
    return DeedChoice(cell, amount)


@lru_cache(maxsize=8192)
def _cash_up_to(greatest: int) -> AmountRange:
    return AmountRange(0, greatest)


def trade_choices(
    edition: Edition, state: State, seat: int, bare: list[list[int]], *, sale_only: bool
) -> tuple[TradeChoice, ...]:
    """What may be offered to each rival, with the money allowed; `bare`: by seat, the deeds that may be traded."""
    if not may_offer(edition, state, seat):
        return ()
    half_price = edition.board.half_price
    own = tuple(bare[seat])
    values = tuple([_deed(cell, half_price[cell]) for cell in own])
    heard = any([key[1] == "silence" for key in state.counters])
    choices = []
    for to, deeds in enumerate(bare):
        if to == seat or not state.in_play[to]:
            continue
        wanted = () if sale_only else tuple(deeds)
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
