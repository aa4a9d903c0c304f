"""Deals: a seat weighs its own gain against its partner's, the same whoever proposes (IND-BOT-11)."""

from services.bots.domain.bargains import Bargain, after_tax, exchange_bounds, fees, is_good, owed_to, sale_bounds
from services.bots.domain.dangers import reserve
from services.bots.domain.holdings import burden, completes, gain_of, group_worths, loss_of, owned_of, swap_gain
from services.rules.domain.commands import AcceptTrade, Action, Basket, OfferTrade, RefuseTrade
from services.rules.domain.edition import Edition
from services.rules.domain.moves.trade_checks import side_value
from services.rules.domain.options import AmountRange, Option, TradeChoice
from services.rules.domain.parties import BANK, NONE
from services.rules.domain.state import PaymentFrame, State, TradeFrame

__all__ = ["affordable", "answer_offer", "fair_price", "is_good", "propose", "sale_price"]

#: money in a proposal is rounded up to such steps
ROUND_TO = 5


def answer_offer(edition: Edition, state: State, seat: int, accept: Option | None) -> Action:
    """Accepts what is good for the seat and leaves it some of its reserve; from an ally anything (BRA-BOT-02).

    Where the sides of a deal must balance, worth on paper alone decides: what loses nothing is accepted (MET-TRADE-11).
    """
    offer = state.agenda[-1]
    if accept is None or not isinstance(offer, TradeFrame):
        return RefuseTrade()
    seats = state.config.seats
    if seats[offer.from_seat].team == seats[seat].team:
        return AcceptTrade()
    if edition.trade_balance.percent and not offer.settles:
        given, got = (side_value(edition, state, side) for side in (offer.get, offer.give))
        return AcceptTrade() if got >= given else RefuseTrade()
    bargain = _of_offer(edition, state, offer)
    paid = offer.get.cash - offer.give.cash + fees(edition, state, offer.give.cells)
    if is_good(bargain.partner, bargain.own) and paid <= affordable(edition, state, seat):
        return AcceptTrade()
    return RefuseTrade()


def _of_offer(edition: Edition, state: State, offer: TradeFrame) -> Bargain:
    """What an open offer brings each side, the debt that it settles included."""
    give, get = offer.give, offer.get
    owed, brought = 0, give.cash
    debt = next((frame for frame in reversed(state.agenda) if isinstance(frame, PaymentFrame)), None)
    if offer.settles and debt is not None:
        owed, brought = owed_to(edition, state, offer.to_seat), after_tax(give.cash, debt)
    cards = edition.jail_fine * (len(give.release_cards) - len(get.release_cards))
    own = swap_gain(edition, state, offer.from_seat, get.cells, give.cells) + get.cash - give.cash - cards + owed
    partner = swap_gain(edition, state, offer.to_seat, give.cells, get.cells) + brought - get.cash + cards - owed
    return Bargain(own, partner - fees(edition, state, give.cells))


def affordable(edition: Edition, state: State, seat: int) -> int:
    """Cash that a seat puts into a deal: half of its reserve stays."""
    return state.cash[seat] - reserve(edition, state, seat) // 2


def fair_price(own: int, partner: int, bounds: AmountRange, most: int) -> int | None:
    """Money that a proposer adds so that both sides agree; `own` and `partner` are the gains without it.

    A quarter of the way from the least that the partner accepts to the most that the proposer would pay. None if
    there is no such sum within the bounds and `most`.
    """
    least, greatest = Bargain(own, partner).prices()
    if least > greatest:
        return None
    wanted = max(bounds.least, least + (greatest - least) // 4)
    wanted = -(-wanted // ROUND_TO) * ROUND_TO
    cap = min(most, bounds.greatest)
    if wanted > cap:
        wanted = max(bounds.least, least)
    if wanted > cap or not is_good(own - wanted, partner + wanted) or not is_good(partner + wanted, own - wanted):
        return None
    return wanted


def propose(edition: Edition, state: State, options: list[Option], seat: int) -> Action | None:
    """The best exchange at a fair price that completes a group of the seat; failing that, one that comes nearer.

    Once a turn: who was refused does not insist.
    """
    if ("turn", "trade", (seat,)) in state.counters:
        return None
    most = affordable(edition, state, seat)
    best: tuple[int, OfferTrade] | None = None
    nearer: list[tuple[TradeChoice, int]] = []
    for option in options:
        choice = option.trade
        if choice is None:
            continue
        for cell in choice.get_cells:
            if completes(edition, state, seat, cell):
                for given in (NONE, *_spare_cells(edition, state, choice, seat, cell)):
                    best = _better(best, _exchange(edition, state, choice, seat, (cell, given), most))
            elif _is_scattered(edition, state, seat, cell):
                nearer.append((choice, cell))
    if best is None:
        for choice, cell in nearer:
            best = _better(best, _exchange(edition, state, choice, seat, (cell, NONE), most))
    return best[1] if best else None


def _better(best: tuple[int, OfferTrade] | None, found: tuple[int, OfferTrade] | None) -> tuple[int, OfferTrade] | None:
    return found if found is not None and (best is None or found[0] > best[0]) else best


def _is_scattered(edition: Edition, state: State, seat: int, cell: int) -> bool:
    """Whether the deed is in a group of streets that is sold out and of which nobody but the seat can have two."""
    if not edition.board.is_street[cell]:
        return False
    owners = [state.owners[other] for other in edition.board.group_of_cell[cell]]
    return seat in owners and BANK not in owners and len(set(owners)) == len(owners)


def _exchange(
    edition: Edition, state: State, choice: TradeChoice, seat: int, pair: tuple[int, int], most: int
) -> tuple[int, OfferTrade] | None:
    """(the seat's gain, offer) of one pair of deeds, got and given, if both sides would agree."""
    cell, given = pair
    bounds = exchange_bounds(edition, state, choice, cell, given)
    if bounds is None:
        return None
    gives = () if given == NONE else (given,)
    own_fee, partner_fee = fees(edition, state, (cell,)), fees(edition, state, gives)
    own = swap_gain(edition, state, seat, (cell,), gives) - own_fee
    partner = swap_gain(edition, state, choice.to, gives, (cell,)) - partner_fee
    cash = fair_price(own, partner, bounds, most - own_fee)
    if cash is None or state.cash[choice.to] + cash < partner_fee:
        return None
    return own - cash, OfferTrade(choice.to, Basket(cash, gives), Basket(0, (cell,)))


def _spare_cells(edition: Edition, state: State, choice: TradeChoice, seat: int, wanted: int) -> list[int]:
    """Own deeds that may go: none of the wanted group, none of a group that is whole."""
    worths = group_worths(edition)
    spare = []
    for cell in choice.give_cells:
        group = worths[cell]
        if group is None or group is worths[wanted]:
            continue
        if owned_of(state, group.cells, seat) < len(group.cells):
            spare.append(cell)
    return spare


def sale_price(edition: Edition, state: State, choice: TradeChoice, seat: int, cell: int) -> int | None:
    """What a debtor asks of a rival for a deed: near the most that the rival would pay, if he pays the least at all."""
    bounds = sale_bounds(edition, state, choice, cell)
    if bounds is None:
        return None
    due = burden(edition, state, cell)
    fee = fees(edition, state, (cell,))
    partner = gain_of(edition, state, choice.to, cell) - due - fee
    own = due - loss_of(edition, state, seat, cell)
    # The rival agrees while a price leaves him a fair share of what both win by it.
    most = Bargain(partner, own).prices()[1]
    price = min(bounds.greatest, most, affordable(edition, state, choice.to) - fee)
    return price if price >= bounds.least else None
