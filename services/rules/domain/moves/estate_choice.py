"""What to do with inherited mortgages (TAB-BANK-04)."""

from services.rules.domain.commands import ChooseEstate, Command
from services.rules.domain.edition import Edition
from services.rules.domain.moves.asking import ask, close
from services.rules.domain.moves.estates import estate_cost, redeem_inherited
from services.rules.domain.options import DeedChoice
from services.rules.domain.play import Play, refuse
from services.rules.domain.refusals import Refusal
from services.rules.domain.state import EstateFrame, State


def run_estate(play: Play, frame: EstateFrame) -> None:
    """The heir is asked once the fees are paid."""
    ask(play, "estate_choice", frame.seat, "answer")


def estate_choices(edition: Edition, state: State) -> tuple[DeedChoice, ...]:
    """Inherited deeds that are still mortgaged, with what redeeming costs now."""
    frame = state.agenda[-1]
    if not isinstance(frame, EstateFrame):
        return ()
    return tuple([DeedChoice(cell, estate_cost(edition, cell)) for cell in frame.cells if state.mortgaged_rounds[cell]])


def choose_estate(play: Play, command: Command) -> Refusal | None:
    """Redeems the named deeds, keeps the others mortgaged."""
    edition, state, seat = play.edition, play.state, command.seat
    action = command.action
    redeem = action.redeem if isinstance(action, ChooseEstate) else ()
    costs = {choice.cell: choice.amount for choice in estate_choices(edition, state)}
    if len(set(redeem)) != len(redeem) or any([cell not in costs for cell in redeem]):
        return refuse(edition, "bad_choice", "estate", "only inherited mortgages are redeemed")
    due = sum([costs[cell] for cell in redeem])
    if state.cash[seat] < due:
        return refuse(edition, "not_enough_cash", "estate", "redeeming needs cash", {"least": due})
    close(play)
    for cell in redeem:
        redeem_inherited(play, seat, cell)
    return None
