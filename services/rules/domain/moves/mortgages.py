"""Mortgaging and redeeming (MET-MORT, BRA-MORT, TAB-MORT)."""

from services.rules.domain.commands import Command, Mortgage, Redeem
from services.rules.domain.edition import Edition
from services.rules.domain.events import DeedMortgaged, DeedRedeemed, MoneyMoved
from services.rules.domain.moves.asking import stay_or_close
from services.rules.domain.moves.checks import bad_cell, group_built
from services.rules.domain.options import DeedChoice
from services.rules.domain.parties import BANK, NONE
from services.rules.domain.play import Play, refuse
from services.rules.domain.refusals import Refusal
from services.rules.domain.state import State


def percent_of_price(edition: Edition, cell: int, percent: int | None) -> int:
    """A share of the price, rounded up, in units (MET-MORT-03, BRA-MORT-04, TAB-MORT-05, -06)."""
    if percent is None:
        raise ValueError("the edition has no such price")
    return -(-edition.board.price[cell] * percent // 100)


def redemption(edition: Edition, cell: int) -> int:
    """What redeeming costs, in units. TAB-MORT-05 rounds the tenth of the mortgage value up, which is the same."""
    return percent_of_price(edition, cell, edition.redeem_cost)


def transfer_fee(edition: Edition, cell: int) -> int:
    """What the receiver of a mortgaged deed owes the bank at once, in units (TAB-TRADE-06, TAB-BANK-04)."""
    return percent_of_price(edition, cell, edition.mortgage_transfer_fee)


def mortgage_refusal(edition: Edition, state: State, seat: int, cell: int) -> Refusal | None:
    """Why the seat may not mortgage the deed now."""
    refusal = bad_cell(edition, cell)
    if refusal is not None:
        return refusal
    if edition.mortgage is None:
        return refuse(edition, "wrong_decision", "mortgage", "there are no mortgages in this edition")
    if state.owners[cell] != seat:
        return refuse(edition, "not_owner", "mortgage", "only an own deed can be mortgaged", {"cell": cell})
    if state.mortgaged_rounds[cell]:
        return refuse(edition, "already_mortgaged", "mortgage", "the deed is mortgaged", {"cell": cell})
    built = group_built(edition, state, cell) if edition.mortgage == "group" else state.levels[cell] > 0
    if built:
        return refuse(edition, "built", "mortgage_built", "the buildings must be sold first", {"cell": cell})
    return None


def mortgage(play: Play, command: Command) -> Refusal | None:
    """The bank pays half the price; from now on the deed takes no rent."""
    edition, state, seat = play.edition, play.state, command.seat
    action = command.action
    cell = action.cell if isinstance(action, Mortgage) else NONE
    refusal = mortgage_refusal(edition, state, seat, cell)
    if refusal is not None:
        return refusal
    stay_or_close(play)
    take_mortgage(play, seat, cell)
    return None


def take_mortgage(play: Play, seat: int, cell: int) -> None:
    """Mortgages a deed that may be."""
    play.emit(DeedMortgaged(cell, play.state.round))
    play.emit(MoneyMoved(BANK, seat, play.edition.board.half_price[cell], "mortgage", cell))


def mortgage_choices(edition: Edition, state: State, seat: int) -> tuple[DeedChoice, ...]:
    """Deeds that may be mortgaged now, with what they bring."""
    if edition.mortgage is None:
        return ()
    owners = state.owners
    return tuple(
        [
            DeedChoice(cell, edition.board.half_price[cell])
            for cell in edition.board.deeds
            if owners[cell] == seat and mortgage_refusal(edition, state, seat, cell) is None
        ]
    )


def redeem_refusal(edition: Edition, state: State, seat: int, cell: int) -> Refusal | None:
    """Why the seat may not redeem the deed now."""
    refusal = bad_cell(edition, cell)
    if refusal is not None:
        return refusal
    if edition.mortgage is None:
        return refuse(edition, "wrong_decision", "mortgage", "there are no mortgages in this edition")
    if state.owners[cell] != seat:
        return refuse(edition, "not_owner", "redeem", "only the owner can redeem a deed", {"cell": cell})
    if not state.mortgaged_rounds[cell]:
        return refuse(edition, "not_mortgaged", "redeem", "the deed is not mortgaged", {"cell": cell})
    cost = redemption(edition, cell)
    if state.cash[seat] < cost:
        return refuse(edition, "not_enough_cash", "redeem_cash", "redeeming needs cash", {"least": cost})
    return None


def redeem(play: Play, command: Command) -> Refusal | None:
    """Buys the deed back from the bank."""
    edition, state, seat = play.edition, play.state, command.seat
    action = command.action
    cell = action.cell if isinstance(action, Redeem) else NONE
    refusal = redeem_refusal(edition, state, seat, cell)
    if refusal is not None:
        return refusal
    stay_or_close(play)
    pay_redemption(play, seat, cell, redemption(edition, cell))
    return None


def pay_redemption(play: Play, seat: int, cell: int, cost: int) -> None:
    """Pays and frees the deed."""
    play.emit(MoneyMoved(seat, BANK, cost, "redemption", cell))
    play.emit(DeedRedeemed(cell))


def redeem_choices(edition: Edition, state: State, seat: int, mortgaged: tuple[int, ...]) -> tuple[DeedChoice, ...]:
    """Which of the seat's mortgaged deeds may be redeemed now, with what that costs."""
    if not mortgaged:
        return ()
    cash = state.cash[seat]
    costs = [(cell, redemption(edition, cell)) for cell in mortgaged]
    return tuple([DeedChoice(cell, cost) for cell, cost in costs if cost <= cash])
