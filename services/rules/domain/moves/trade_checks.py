"""Why an offer may not be made: allowances, shape, deeds, money, and offers refused before (IND-TRADE, MET-TRADE,
BRA-TRADE, TAB-TRADE)."""

from dataclasses import replace

from services.rules.domain.commands import Basket, OfferTrade
from services.rules.domain.edition import Edition
from services.rules.domain.folds.deals import counts_in_turn, outside_turn
from services.rules.domain.folds.seats import allied, counted, debt_of
from services.rules.domain.moves.checks import bad_cell, group_built
from services.rules.domain.moves.money import bank_value
from services.rules.domain.moves.mortgages import redemption, transfer_fee
from services.rules.domain.parties import NONE
from services.rules.domain.play import refuse
from services.rules.domain.refusals import Refusal
from services.rules.domain.rulebook import Rule
from services.rules.domain.state import PaymentFrame, State


def trade_used(edition: Edition, state: State, seat: int) -> bool:
    """Whether this turn's trades are used (IND-TRADE-01, -12, -15, -17)."""
    return counted(state, ("turn", "trade", (seat,))) >= edition.trade_limit


def _bot_offers_used(edition: Edition, state: State, seat: int) -> bool:
    """A bot proposes so often in a turn (IND-TRADE-20)."""
    limit = edition.bot_offers
    if limit is None or state.config.seats[seat].kind != "bot":
        return False
    return counted(state, ("turn", "offer_made", (seat,))) >= limit.per_turn


def _refused_sales_used(edition: Edition, state: State, seat: int) -> bool:
    """So many direct sales were refused in this debt (IND-DEBT-20)."""
    limit = edition.debt_trade_limit
    return limit is not None and counted(state, ("debt", "refused", (seat,))) >= limit.count


def _debt_offers_used(edition: Edition, state: State, seat: int) -> bool:
    """So many offers were made in this debt outside the own turn (MET-TRADE-09, BRA-TRADE-11, TAB-TRADE-12)."""
    limit = edition.debt_trade_limit
    return limit is not None and counted(state, ("debt", "offers", (seat,))) >= limit.count


def may_offer(edition: Edition, state: State, seat: int) -> bool:
    """Whether an allowance of offers is left."""
    if debt_of(state, seat) is not None:
        if not counts_in_turn(edition):
            return not _refused_sales_used(edition, state, seat)
        if outside_turn(edition, state, seat):
            return not _debt_offers_used(edition, state, seat)
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


def offer_refusal(edition: Edition, state: State, seat: int, action: OfferTrade) -> Refusal | None:
    """Why the seat may not make this offer now."""
    return (
        _allowance_refusal(edition, state, seat)
        or _partner_refusal(edition, state, seat, action)
        or _shape_refusal(edition, state, seat, action)
        or deeds_refusal(edition, state, seat, action)
        or _money_refusal(edition, state, seat, action)
        or _repeat_refusal(edition, state, seat, action)
    )


def _allowance_refusal(edition: Edition, state: State, seat: int) -> Refusal | None:
    if debt_of(state, seat) is not None and not counts_in_turn(edition):
        if _refused_sales_used(edition, state, seat):
            return refuse(edition, "trade_limit_used", "debt_sale_limit", "too many sales were refused in this debt")
        return None
    if debt_of(state, seat) is not None and outside_turn(edition, state, seat):
        if _debt_offers_used(edition, state, seat):
            return refuse(edition, "trade_limit_used", "debt_sale_limit", "this debt's offers are used")
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
    give, get = action.give, action.get
    if give.cash < 0 or get.cash < 0:
        return refuse(edition, "bad_amount", "trade_cash", "money is whole and not below 0")
    if (give.release_cards or get.release_cards) and not edition.trade_cards:
        return refuse(edition, "card_not_tradable", "trade_cards", "release cards are not traded")
    if edition.trade_shape == "free":
        return _free_shape_refusal(edition, state, seat, action)
    return _single_shape_refusal(edition, state, seat, action)


def _single_shape_refusal(edition: Edition, state: State, seat: int, action: OfferTrade) -> Refusal | None:
    """One deed of the partner for cash and at most one own deed, or one own deed for cash (IND-TRADE-04 to -07)."""
    give, get = action.give, action.get
    exchange = len(get.cells) == 1 and len(give.cells) <= 1 and not get.cash
    sale = not get.cells and len(give.cells) == 1 and not give.cash
    if action.redeem or not (exchange or sale):
        return refuse(edition, "wrong_shape", "trade_shape", "an exchange of one deed each, or a sale of one")
    if exchange and not give.cells and not give.cash:
        return refuse(edition, "empty_side", "trade_shape", "something must be given")
    if exchange and debt_of(state, seat) is not None:
        return refuse(edition, "wrong_shape", "debt_actions", "in a debt only own deeds are sold")
    return None


def deeds_refusal(edition: Edition, state: State, seat: int, action: OfferTrade) -> Refusal | None:
    for basket, owner in ((action.give, seat), (action.get, action.to)):
        if len(set(basket.cells)) != len(basket.cells):
            return refuse(edition, "bad_choice", "trade_shape", "a deed is named twice")
        held = list(state.release_cards[owner])
        for deck in basket.release_cards:
            if deck not in held:
                return refuse(edition, "not_owner", "trade_cards", "the card is not held")
            held.remove(deck)
        for cell in basket.cells:
            refusal = deed_refusal(edition, state, seat, action.to, cell, owner)
            if refusal is not None:
                return refusal
    return None


def deed_refusal(edition: Edition, state: State, seat: int, to: int, cell: int, owner: int) -> Refusal | None:
    """Why a deed of `owner` may not change hands between the two seats."""
    refusal = bad_cell(edition, cell)
    if refusal is not None:
        return refusal
    if state.owners[cell] != owner:
        return refuse(edition, "not_owner", "trade_owner", "the deed is somebody else's", {"cell": cell})
    if not tradable(edition, state, cell):
        return refuse(edition, "built", "trade_tradable", "the group has buildings", {"cell": cell})
    if state.mortgaged_rounds[cell] and not mortgages_move(edition, state, seat, to):
        return refuse(edition, "deed_mortgaged", "trade_mortgaged", "mortgaged deeds are not traded", {"cell": cell})
    return None


def mortgages_move(edition: Edition, state: State, seat: int, to: int) -> bool:
    """Whether mortgaged deeds may change hands between the two (TAB-TRADE-06, -07, BRA-TRADE-05, MET-TRADE-04)."""
    rule = edition.trade_mortgaged
    return rule == "yes" or (rule == "allies" and allied(state, seat, to))


def _money_refusal(edition: Edition, state: State, seat: int, action: OfferTrade) -> Refusal | None:
    if action.give.cash > state.cash[seat]:
        fields = {"greatest": state.cash[seat]}
        return refuse(edition, "not_enough_cash", "trade_cash", "more than the own cash", fields)
    if edition.trade_shape == "free":
        if action.get.cash > state.cash[action.to]:
            fields = {"greatest": state.cash[action.to]}
            return refuse(edition, "over_partner_cash", "trade_cash", "more than the partner has", fields)
        return fees_refusal(edition, state, seat, action.to, action.give, action.get, action.redeem)
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
    if not edition.repeat_offer_step:
        return None
    get_cell = action.get.cells[0] if action.get.cells else NONE
    give_cell = action.give.cells[0] if action.give.cells else NONE
    least = money_bound(edition, state, seat, action.to, get_cell, give_cell)
    if least is not None and action.give.cash - action.get.cash < least:
        rule: Rule = "debt_sale_repeat" if debt_of(state, seat) is not None else "trade_repeat"
        return refuse(edition, "not_better_enough", rule, "the last offer was refused", {"least": least})
    return None


def _free_shape_refusal(edition: Edition, state: State, seat: int, action: OfferTrade) -> Refusal | None:
    """Any mix on both sides; no empty side, and balanced, except between allies (MET-TRADE-05, -06, BRA-TRADE-09);
    deeds got may be redeemed at once where mortgaged ones move (TAB-TRADE-06)."""
    give, get = action.give, action.get
    gift = allied(state, seat, action.to)
    if is_empty(give) and is_empty(get):
        return refuse(edition, "empty_side", "trade_shape", "both sides are empty")
    if not gift and (is_empty(give) or is_empty(get)):
        return refuse(edition, "empty_side", "trade_shape", "each side gives something")
    if action.redeem and not edition.mortgage_transfer_fee:
        return refuse(edition, "bad_choice", "trade_redeem", "nothing is redeemed in a deal in this edition")
    foreign = [cell for cell in action.redeem if cell not in get.cells or not state.mortgaged_rounds[cell]]
    if foreign:
        return refuse(
            edition, "bad_choice", "trade_shape", "only mortgaged deeds got are redeemed", {"cell": foreign[0]}
        )
    percent = edition.trade_balance.allies if gift else edition.trade_balance.percent
    if percent:
        less, more = sorted((side_value(edition, state, give), side_value(edition, state, get)))
        if not less or less * 100 < more * percent:
            return refuse(edition, "unbalanced", "trade_balance", "the sides are too far apart", {"least": percent})
    return None


def is_empty(basket: Basket) -> bool:
    """Whether a side gives nothing."""
    return not (basket.cash or basket.cells or basket.release_cards)


def side_value(edition: Edition, state: State, basket: Basket) -> int:
    """Cash and prices, half if mortgaged (TAB-TRADE-14), in units; twice that for a deed would be no whole number."""
    board = edition.board
    worth = basket.cash
    for cell in basket.cells:
        if board.has_deed(cell):
            worth += board.half_price[cell] if state.mortgaged_rounds[cell] else board.price[cell]
    return worth


def fees_refusal(
    edition: Edition,
    state: State,
    seat: int,
    to: int,
    give: Basket,
    get: Basket,
    redeem: tuple[int, ...],
) -> Refusal | None:
    """After the exchange each side's cash must cover what its mortgaged deeds cost at once (TAB-TRADE-06)."""
    if not edition.mortgage_transfer_fee:
        return None
    for receiver, change, cells, redeemed in (
        (seat, get.cash - give.cash, get.cells, redeem),
        (to, give.cash - get.cash, give.cells, ()),
    ):
        due = sum([cost_of(edition, cell, cell in redeemed) for cell in cells if state.mortgaged_rounds[cell]])
        if state.cash[receiver] + change < due:
            return refuse(
                edition, "not_enough_cash", "trade_fees", "fees must be covered", {"seat": receiver, "least": due}
            )
    return None


def cost_of(edition: Edition, cell: int, redeemed: bool) -> int:
    return redemption(edition, cell) if redeemed else transfer_fee(edition, cell)


def sole_creditor(debt: PaymentFrame) -> int:
    """The only creditor if it is a seat, else NONE."""
    return debt.claims[0].payee if len(debt.claims) == 1 and debt.claims[0].payee >= 0 else NONE


def received(give: Basket, debt: PaymentFrame | None) -> Basket:
    """What reaches the other side: of a settlement's cash the bank keeps the tax of the debt (TAB-DEBT-05)."""
    if debt is None or not debt.tax_rate:
        return give
    return replace(give, cash=give.cash - give.cash * debt.tax_rate // 100)


def settlement_refusal(
    edition: Edition, state: State, seat: int, creditor: int, give: Basket, debt: PaymentFrame
) -> Refusal | None:
    offered = OfferTrade(creditor, give, Basket())
    refusal = _allowance_refusal(edition, state, seat) or deeds_refusal(edition, state, seat, offered)
    if refusal is not None:
        return refusal
    if is_empty(give):
        return refuse(edition, "empty_side", "settlement", "something must be given")
    if give.release_cards and not edition.trade_cards:
        return refuse(edition, "card_not_tradable", "trade_cards", "release cards are not traded")
    if not 0 <= give.cash <= state.cash[seat]:
        return refuse(
            edition, "not_enough_cash", "trade_cash", "more than the own cash", {"greatest": state.cash[seat]}
        )
    percent = edition.trade_balance.percent
    less, more = sorted((side_value(edition, state, give), debt.total))
    if percent and less * 100 < more * percent:
        return refuse(edition, "unbalanced", "trade_balance", "too far from the debt", {"least": percent})
    return fees_refusal(edition, state, seat, creditor, received(give, debt), Basket(), ())
