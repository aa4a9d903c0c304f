"""Payments that wait, and what only a debtor may do (IND-DEBT, MET-DEBT, BRA-DEBT, TAB-DEBT)."""

from services.rules.domain.commands import Command, SellToBank
from services.rules.domain.edition import Edition
from services.rules.domain.events import DeedMoved, MoneyMoved
from services.rules.domain.folds.seats import debt_of
from services.rules.domain.moves.asking import ask, close
from services.rules.domain.moves.checks import bad_cell, group_built
from services.rules.domain.moves.leaving import go_bankrupt
from services.rules.domain.moves.money import bank_value, net_worth, raisable, settle
from services.rules.domain.moves.raising import raise_cash
from services.rules.domain.options import DeedChoice
from services.rules.domain.parties import BANK
from services.rules.domain.play import Play, refuse
from services.rules.domain.refusals import Refusal
from services.rules.domain.state import PaymentFrame, State


def run_payment(play: Play, frame: PaymentFrame) -> None:
    """Pays as soon as the cash reaches the sum (IND-DEBT-04) unless `pay` is asked for, or asks the debtor, whose turn
    clock stands meanwhile where it spans a segment (MET-TIME-03, BRA-TIME-03)."""
    edition, state = play.edition, play.state
    covered = state.cash[frame.payer] >= frame.total
    if covered and edition.payment_confirm is None:
        settle(play, frame)
    elif not covered and frame.fresh and _out_of_reach(edition, state, frame):
        go_bankrupt(play, frame.payer, frame.claims, "insolvent", frame.tax_rate)
    elif covered and on_turn_clock(edition, state, frame):
        ask(play, "payment", frame.payer, "turn")
    else:
        ask(play, "payment", frame.payer, "payment")


def on_turn_clock(edition: Edition, state: State, frame: PaymentFrame) -> bool:
    """A covered payment of the turn player may run on the turn clock; once short it has its own (BRA-DEBT-04)."""
    if edition.payment_s.covered != "turn" or frame.payer != state.turn_seat or "payment" in state.clocks:
        return False
    return not any([deadline.kind == "payment" for deadline in state.deadlines])


def is_debt(edition: Edition, state: State, frame: PaymentFrame) -> bool:
    """Whether a payment is or was short of cash, and so is more than a wait for `pay` (BRA-DEBT-04)."""
    return state.cash[frame.payer] < frame.total or not on_turn_clock(edition, state, frame)


def _out_of_reach(edition: Edition, state: State, frame: PaymentFrame) -> bool:
    """Whether the sum exceeds everything when it falls due (BRA-BANK-06, TAB-DEBT-04)."""
    measure = net_worth if edition.insolvent_at_once == "net_worth" else raisable
    return frame.total > measure(edition, state, frame.payer)


def settles_itself(edition: Edition, state: State) -> bool:
    """Whether the open payment is covered by now and waits for no `pay`."""
    top = state.agenda[-1]
    if not isinstance(top, PaymentFrame) or edition.payment_confirm is not None:
        return False
    return state.cash[top.payer] >= top.total


def pay(play: Play, command: Command) -> Refusal | None:
    """Pays the whole sum (MET-DEBT-02, -05, BRA-DEBT-05, TAB-DEBT-03)."""
    edition, state = play.edition, play.state
    debt = debt_of(state, command.seat)
    if debt is None or edition.payment_confirm is None:
        return refuse(edition, "wrong_decision", "confirm", "payments are made by themselves")
    if state.cash[command.seat] < debt.total:
        return refuse(edition, "not_enough_cash", "confirm", "the cash does not suffice", {"least": debt.total})
    close(play)
    settle(play, debt)
    return None


def payment_default(play: Play) -> None:
    """Time is up: the money is raised and paid, or the debtor is bankrupt over it (MET-AUTO-05, BRA-DEBT-06,
    TAB-TIME-07)."""
    frame = play.state.agenda[-1]
    if isinstance(frame, PaymentFrame):
        if raise_cash(play, frame.payer, frame.total):
            settle(play, frame)
        else:
            go_bankrupt(play, frame.payer, frame.claims, "insolvent", frame.tax_rate)


def _locked_in(edition: Edition, state: State, seat: int, cell: int) -> bool:
    """Buildings of the group that the debtor cannot remove (IND-DEBT-11, -16, -17)."""
    houses = edition.houses_under_hotel
    short = 0 <= state.supply_houses < houses
    for other in edition.board.group_of_cell[cell]:
        level = state.levels[other]
        if level and state.owners[other] != seat:
            return True
        if level > houses and short:
            return True
    return False


def bank_takes(edition: Edition, state: State, seat: int, cell: int) -> bool:
    """Whether the bank takes an own deed in the present debt (IND-DEBT-10, -18)."""
    if group_built(edition, state, cell):
        return _locked_in(edition, state, seat, cell)
    return ("debt", "lot", (cell,)) in state.counters


def bank_sale_choices(edition: Edition, state: State, seat: int) -> tuple[DeedChoice, ...]:
    """Own deeds that the bank takes now, with what it pays (IND-DEBT-10 to -12)."""
    if not edition.sell_to_bank:
        return ()
    return tuple(
        [
            DeedChoice(cell, bank_value(edition, state, cell))
            for cell in edition.board.deeds
            if state.owners[cell] == seat and bank_takes(edition, state, seat, cell)
        ]
    )


def sell_to_bank(play: Play, command: Command) -> Refusal | None:
    """The bank pays half the price and half the build cost; the deed becomes free (IND-DEBT-12)."""
    edition, state, seat = play.edition, play.state, command.seat
    action = command.action
    if not isinstance(action, SellToBank) or not edition.sell_to_bank:
        return refuse(edition, "wrong_decision", "bank_sale", "the bank buys no deeds in this edition")
    cell = action.cell
    refusal = bad_cell(edition, cell)
    if refusal is not None:
        return refusal
    if state.owners[cell] != seat:
        return refuse(edition, "not_owner", "bank_sale", "only an own deed can be sold", {"cell": cell})
    if not bank_takes(edition, state, seat, cell):
        if group_built(edition, state, cell):
            return refuse(edition, "built", "bank_sale", "the buildings must be sold first", {"cell": cell})
        return refuse(edition, "auction_first", "bank_sale_auction", "an auction comes first", {"cell": cell})
    close(play)
    play.emit(MoneyMoved(BANK, seat, bank_value(edition, state, cell), "bank_sale", cell))
    play.emit(DeedMoved(cell, seat, BANK, "bank_sale"))
    return None


def declare_bankruptcy(play: Play, command: Command) -> Refusal | None:
    """The debtor gives up: at any time in his debt (IND-DEBT-14, -25), or only over a sum out of reach (MET-BANK-01,
    TAB-DEBT-04)."""
    edition, state, seat = play.edition, play.state, command.seat
    frame = debt_of(state, seat)
    if frame is None:
        return refuse(edition, "wrong_decision", "leave", "there is no debt")
    if not may_declare(edition, state, frame):
        return refuse(edition, "within_reach", "leave", "selling and mortgaging would cover the sum")
    close(play)
    go_bankrupt(play, seat, frame.claims, "declared", frame.tax_rate)
    return None


def may_declare(edition: Edition, state: State, frame: PaymentFrame) -> bool:
    """Whether the debtor may give up."""
    return edition.give_up == "debt" or raisable(edition, state, frame.payer) < frame.total
