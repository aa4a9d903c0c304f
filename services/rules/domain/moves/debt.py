"""What only a debtor may do (IND-DEBT-10 to -18, -25, -26)."""

from services.rules.domain.commands import Command, SellToBank
from services.rules.domain.edition import Edition
from services.rules.domain.events import DeedMoved, MoneyMoved
from services.rules.domain.folds.seats import debt_of
from services.rules.domain.moves.asking import close
from services.rules.domain.moves.checks import bad_cell, group_built
from services.rules.domain.moves.leaving import go_bankrupt
from services.rules.domain.moves.money import bank_value
from services.rules.domain.options import DeedChoice
from services.rules.domain.parties import BANK
from services.rules.domain.play import Play, refuse
from services.rules.domain.refusals import Refusal
from services.rules.domain.state import State


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
    """Whether the bank takes an own deed in the present debt."""
    if group_built(edition, state, cell):
        return _locked_in(edition, state, seat, cell)
    return ("debt", "lot", (cell,)) in state.counters


def bank_sale_choices(edition: Edition, state: State, seat: int) -> tuple[DeedChoice, ...]:
    """Own deeds that the bank takes now, with what it pays."""
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
    """The debtor gives up, at any time in his debt (IND-DEBT-14, -25)."""
    frame = debt_of(play.state, command.seat)
    if frame is None:
        return refuse(play.edition, "wrong_decision", "leave", "there is no debt")
    close(play)
    go_bankrupt(play, command.seat, frame.claims, "declared")
    return None
