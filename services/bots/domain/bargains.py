"""What a deal brings its two sides, and the money that may go with it."""

from dataclasses import dataclass

from services.rules.domain.edition import Edition
from services.rules.domain.moves.money import raisable
from services.rules.domain.options import AmountRange, TradeChoice
from services.rules.domain.parties import NONE
from services.rules.domain.state import PaymentFrame, State

#: part of the partner's gain that a deal must bring oneself, in percent: his gain is a danger
ENVY = 35
#: least gain, in units, for which a deal is worth the trouble
LEAST_GAIN = 10


@dataclass(frozen=True, slots=True)
class Bargain:
    """Gains of the two sides of a deal, in units."""

    own: int
    partner: int

    def prices(self) -> tuple[int, int]:
        """(the least money from the one to the other with which the other agrees, the most with which the one does)."""
        least = -(-(100 * LEAST_GAIN + ENVY * max(0, self.own) - 100 * self.partner) // (100 + ENVY))
        greatest = (100 * self.own - 100 * LEAST_GAIN - ENVY * self.partner) // (100 + ENVY)
        return least, min(greatest, self.own - LEAST_GAIN)


def is_good(own_gain: int, partner_gain: int) -> bool:
    """Whether a side agrees to a deal with these gains, cash included."""
    return own_gain * 100 >= LEAST_GAIN * 100 + max(0, partner_gain) * ENVY


def owed_to(edition: Edition, state: State, seat: int) -> int:
    """What a creditor can hope for of the open debt, in units."""
    for frame in reversed(state.agenda):
        if isinstance(frame, PaymentFrame):
            due = sum([claim.amount for claim in frame.claims if claim.payee == seat])
            return min(due, raisable(edition, state, frame.payer))
    return 0


def after_tax(cash: int, debt: PaymentFrame) -> int:
    """What a creditor gets of cash offered for the whole debt, in units."""
    return cash - cash * debt.tax_rate // 100


def fees(edition: Edition, state: State, cells: tuple[int, ...]) -> int:
    """What the receiver of these deeds pays the bank at once, in units."""
    percent = edition.mortgage_transfer_fee
    if not percent:
        return 0
    price = edition.board.price
    return sum([-(-price[cell] * percent // 100) for cell in cells if state.mortgaged_rounds[cell]])


def worth_on_paper(edition: Edition, state: State, cell: int) -> int:
    """What a deed counts for where the sides of a deal must balance (TAB-TRADE-14)."""
    return edition.board.half_price[cell] if state.mortgaged_rounds[cell] else edition.board.price[cell]


def _balanced(percent: int, fixed: int, beside: int, most: int, *, buys: bool) -> AmountRange | None:
    """Money up to `most` that may be added to `beside` so that it balances `fixed`, and the partner, who gives what is
    fixed (`buys`) or gets it, loses nothing on paper (MET-TRADE-11, BRA-BOT-02)."""
    least, greatest = max(0 if beside else 1, 0), most
    if percent:
        least = max(least, (fixed if buys else -(-fixed * percent // 100)) - beside)
        greatest = min(greatest, (fixed * 100 // percent if buys else fixed) - beside)
    return AmountRange(least, greatest) if least <= greatest else None


def exchange_bounds(edition: Edition, state: State, choice: TradeChoice, cell: int, given: int) -> AmountRange | None:
    """Money that may be added for a deed of the partner to an own one (NONE: to none); None: no legal sum."""
    if not choice.free_shape:
        return choice.exchange_range(cell, given)
    beside = 0 if given == NONE else worth_on_paper(edition, state, given)
    most = choice.exchange_cash.greatest if choice.exchange_cash is not None else 0
    return _balanced(choice.balance_percent, worth_on_paper(edition, state, cell), beside, most, buys=True)


def sale_bounds(edition: Edition, state: State, choice: TradeChoice, cell: int) -> AmountRange | None:
    """Money that may be asked for an own deed; None: no legal sum, or the partner has refused one before."""
    if choice.free_shape:
        worth, most = worth_on_paper(edition, state, cell), choice.sale_cash_greatest
        return _balanced(choice.balance_percent, worth, 0, most, buys=False)
    return choice.sale_range(cell) if choice.bound(NONE, cell) is None else None
