"""Deals: a seat weighs its own gain against its partner's, the same whoever proposes (IND-BOT-11)."""

from services.bots.domain.dangers import reserve
from services.bots.domain.holdings import completes, gain_of, group_worths, loss_of, owned_of, swap_gain
from services.rules.domain.commands import AcceptTrade, Action, Basket, OfferTrade, RefuseTrade
from services.rules.domain.edition import Edition
from services.rules.domain.options import AmountRange, Option, TradeChoice
from services.rules.domain.parties import BANK, NONE
from services.rules.domain.state import PaymentFrame, State, TradeFrame

#: part of the partner's gain that a deal must bring oneself, in percent: his gain is a danger
ENVY = 35
#: least gain, in units, for which a deal is worth the trouble
LEAST_GAIN = 10
#: money in a proposal is rounded up to such steps
ROUND_TO = 5


def is_good(own_gain: int, partner_gain: int) -> bool:
    """Whether a side agrees to a deal with these gains, cash included."""
    return own_gain * 100 >= LEAST_GAIN * 100 + max(0, partner_gain) * ENVY


def answer_offer(edition: Edition, state: State, seat: int) -> Action:
    """Accepts what is good for the seat and leaves it some of its reserve."""
    offer = state.agenda[-1]
    if not isinstance(offer, TradeFrame):
        return RefuseTrade()
    owed = _owed_to(state, seat) if offer.settles else 0
    own = swap_gain(edition, state, seat, offer.give.cells, offer.get.cells) + offer.give.cash - offer.get.cash - owed
    partner = swap_gain(edition, state, offer.from_seat, offer.get.cells, offer.give.cells)
    partner += offer.get.cash - offer.give.cash + owed
    if is_good(own, partner) and offer.get.cash <= affordable(edition, state, seat):
        return AcceptTrade()
    return RefuseTrade()


def _owed_to(state: State, seat: int) -> int:
    for frame in reversed(state.agenda):
        if isinstance(frame, PaymentFrame):
            due = sum(claim.amount for claim in frame.claims if claim.payee == seat)
            return min(due, state.cash[frame.payer])
    return 0


def affordable(edition: Edition, state: State, seat: int) -> int:
    """Cash that a seat puts into a deal: half of its reserve stays."""
    return state.cash[seat] - reserve(edition, state, seat) // 2


def fair_price(own: int, partner: int, bounds: AmountRange, most: int) -> int | None:
    """Money that a proposer adds so that both sides agree; `own` and `partner` are the gains without it.

    A quarter of the way from the least that the partner accepts to the most that the proposer would pay. None if
    there is no such sum within the bounds and `most`.
    """
    least = -(-(100 * LEAST_GAIN + ENVY * max(0, own) - 100 * partner) // (100 + ENVY))
    greatest = (100 * own - 100 * LEAST_GAIN - ENVY * partner) // (100 + ENVY)
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
    """The best exchange at a fair price that completes a group of the seat; failing that, one that comes nearer."""
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
    bounds = choice.exchange_range(cell, given)
    if bounds is None:
        return None
    gives = () if given == NONE else (given,)
    own = swap_gain(edition, state, seat, (cell,), gives)
    partner = swap_gain(edition, state, choice.to, gives, (cell,))
    cash = fair_price(own, partner, bounds, most)
    if cash is None:
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
    bounds = choice.sale_range(cell)
    if bounds is None or choice.bound(NONE, cell) is not None:
        return None
    partner, own = gain_of(edition, state, choice.to, cell), -loss_of(edition, state, seat, cell)
    # The rival agrees while partner - price >= LEAST_GAIN + ENVY * max(0, own + price).
    most = min(partner - LEAST_GAIN, (100 * (partner - LEAST_GAIN) - ENVY * own) // (100 + ENVY))
    price = min(bounds.greatest, most, affordable(edition, state, choice.to))
    return price if price >= bounds.least else None
