"""Charging seats, and the payments that wait (IND-DEBT-01 to -04, -22)."""

from services.rules.domain.edition import Edition
from services.rules.domain.events import DeedMoved, MoneyMoved, PaymentClosed, PaymentDue
from services.rules.domain.moves.timing import tax_rate
from services.rules.domain.parties import BANK, NONE
from services.rules.domain.play import Play
from services.rules.domain.state import Claim, MoneyReason, PaymentFrame, State

#: payments that wait for `pay` under `payment_confirm` rent_tax (BRA-DEBT-04)
CONFIRMED_RENT_TAX = ("rent", "tax")
#: what follows from a bid or an estate is taken at once where cash suffices: only rent, tax, card and fine wait
NEVER_CONFIRMED = ("auction", "transfer_fee")


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


def raisable(edition: Edition, state: State, seat: int) -> int:
    """Cash, the refund of every level, and half the price of every deed not mortgaged (TAB-DEBT-02), in units."""
    half_price, owners, levels, mortgaged = edition.board.half_price, state.owners, state.levels, state.mortgaged_rounds
    mortgages = edition.mortgage is not None
    money = state.cash[seat]
    for cell in edition.board.deeds:
        if owners[cell] == seat:
            if levels[cell]:
                money += refund(edition, cell) * levels[cell]
            if mortgages and not mortgaged[cell]:
                money += half_price[cell]
    return money


def refund(edition: Edition, cell: int) -> int:
    """What the bank pays for one level sold (IND-BUILD-14), in units."""
    return edition.board.build_cost[cell] * edition.building_refund // 100


def tax_of(edition: Edition, play: Play, reason: MoneyReason) -> int:
    """Percent of tax on what falls due now for this reason (MET-RENT-14, -15, BRA-RENT-14, TAB-TAX-12, -13)."""
    kind = "rent" if reason == "rent" else "cards" if reason == "card" else ""
    return tax_rate(edition, play.state, play.play_time_ms) if kind in edition.rent_tax_on else 0


def charge(
    play: Play,
    payer: int,
    claims: tuple[Claim, ...],
    reason: MoneyReason,
    cell: int = NONE,
    card: str = "",
) -> None:
    """Takes a covered sum at once, unless it waits for a confirmation; otherwise the whole sum waits as a payment."""
    state, edition = play.state, play.edition
    total = 0
    for claim in claims:
        total += claim.amount
    rate = tax_of(edition, play, reason)
    if state.cash[payer] >= total and not waits(edition, reason):
        pay_claims(play, payer, claims, reason, cell=cell, card=card, rate=rate)
    else:
        play.emit(PaymentDue(state.next_payment, payer, claims, reason, cell, card, rate))


def waits(edition: Edition, reason: MoneyReason) -> bool:
    """Whether a covered payment for this reason waits for `pay` (MET-DEBT-01, BRA-DEBT-04, TAB-DEBT-01)."""
    confirm = edition.payment_confirm
    if confirm is None or reason in NEVER_CONFIRMED:
        return False
    return confirm == "all" or reason in CONFIRMED_RENT_TAX


def pay_claims(
    play: Play,
    payer: int,
    claims: tuple[Claim, ...],
    reason: MoneyReason,
    *,
    cell: int = NONE,
    card: str = "",
    rate: int = 0,
) -> None:
    """Pays each claim; of a taxed one the bank keeps its share (BRA-RENT-13)."""
    for claim in claims:
        pay_taxed(play, payer, claim, reason, cell=cell, card=card, rate=rate)


def pay_taxed(
    play: Play, payer: int, claim: Claim, reason: MoneyReason, *, cell: int = NONE, card: str = "", rate: int = 0
) -> None:
    """The receiver's part with its own reason, then the bank's as rent tax (BRA-RENT-13, MET-RENT-14, TAB-TAX-12); of a
    settlement without money there is neither (TAB-DEBT-05)."""
    tax = claim.amount * rate // 100 if rate and claim.payee != BANK else 0
    if claim.amount > tax:
        play.emit(MoneyMoved(payer, claim.payee, claim.amount - tax, reason, cell, card))
    if tax:
        play.emit(MoneyMoved(payer, BANK, tax, "rent_tax", cell, card))


def settle(play: Play, frame: PaymentFrame) -> None:
    """Pays a covered payment whole; a won lot then changes hands (BRA-AUC-11)."""
    pay_claims(play, frame.payer, frame.claims, frame.reason, cell=frame.cell, card=frame.card, rate=frame.tax_rate)
    play.emit(PaymentClosed(frame.id, "paid"))
    if frame.reason == "auction":
        play.emit(DeedMoved(frame.cell, BANK, frame.payer, "auction"))


def estate_shares(cash: int, claims: tuple[Claim, ...], debtor: int) -> tuple[Claim, ...]:
    """What each creditor gets of a bankrupt's cash (IND-BANK-05): proportional whole parts, then one unit each from the
    debtor's neighbour on; the bank comes last."""
    total = sum(claim.amount for claim in claims)
    ordered = sorted(claims, key=lambda claim: (claim.payee == BANK, claim.payee in range(debtor), claim.payee))
    shares = [cash * claim.amount // total for claim in ordered]
    for index in range(cash - sum(shares)):
        shares[index] += 1
    return tuple(Claim(claim.payee, share) for claim, share in zip(ordered, shares, strict=True))
