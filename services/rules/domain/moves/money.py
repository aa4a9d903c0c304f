"""Charging seats, and the payments that wait (IND-DEBT-01 to -04, -22)."""

from services.rules.domain.edition import Edition
from services.rules.domain.events import MoneyMoved, PaymentClosed, PaymentDue
from services.rules.domain.moves.asking import ask
from services.rules.domain.parties import BANK, NONE
from services.rules.domain.play import Play
from services.rules.domain.state import Claim, MoneyReason, PaymentFrame, State


def bank_value(edition: Edition, state: State, cell: int) -> int:
    """Half the price and half the build cost of every level (IND-DEBT-12, -15), in units."""
    board = edition.board
    level = state.levels[cell]
    if level:
        return board.half_price[cell] + board.build_cost[cell] * level // 2
    return board.half_price[cell]


def net_worth(edition: Edition, state: State, seat: int) -> int:
    """Cash, prices (half if mortgaged), and the build cost of every level (IND-WIN-05), in units."""
    board = edition.board
    worth = state.cash[seat]
    for cell in board.deeds:
        if state.owners[cell] == seat:
            worth += board.half_price[cell] if state.mortgaged_rounds[cell] else board.price[cell]
            worth += board.build_cost[cell] * state.levels[cell]
    return worth


def charge(
    play: Play,
    payer: int,
    claims: tuple[Claim, ...],
    reason: MoneyReason,
    cell: int = NONE,
    card: str = "",
) -> None:
    """Takes a covered sum at once; otherwise the whole sum waits as a payment."""
    state = play.state
    total = 0
    for claim in claims:
        total += claim.amount
    if state.cash[payer] >= total:
        _pay(play, payer, claims, reason, cell, card)
    else:
        play.emit(PaymentDue(state.next_payment, payer, claims, reason, cell, card))


def _pay(play: Play, payer: int, claims: tuple[Claim, ...], reason: MoneyReason, cell: int, card: str) -> None:
    for claim in claims:
        play.emit(MoneyMoved(payer, claim.payee, claim.amount, reason, cell, card))


def run_payment(play: Play, frame: PaymentFrame) -> None:
    """Pays as soon as the cash reaches the sum (IND-DEBT-04), or asks the debtor."""
    if play.state.cash[frame.payer] >= frame.total:
        _pay(play, frame.payer, frame.claims, frame.reason, frame.cell, frame.card)
        play.emit(PaymentClosed(frame.id, "paid"))
    else:
        ask(play, "payment", frame.payer, "payment")


def estate_shares(cash: int, claims: tuple[Claim, ...], debtor: int) -> tuple[Claim, ...]:
    """What each creditor gets of a bankrupt's cash (IND-BANK-05): proportional whole parts, then one unit each from the
    debtor's neighbour on; the bank comes last."""
    total = sum(claim.amount for claim in claims)
    ordered = sorted(claims, key=lambda claim: (claim.payee == BANK, claim.payee <= debtor, claim.payee))
    shares = [cash * claim.amount // total for claim in ordered]
    for index in range(cash - sum(shares)):
        shares[index] += 1
    return tuple(Claim(claim.payee, share) for claim, share in zip(ordered, shares, strict=True))
