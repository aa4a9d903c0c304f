"""Seats that go out, and the end of the game (IND-BANK, IND-WIN)."""

from typing import Literal

from services.rules.domain.commands import Command, Withdraw
from services.rules.domain.events import (
    Bankrupt,
    DeedMoved,
    GameEnded,
    Leaving,
    MoneyMoved,
    PaymentClosed,
    SeatOut,
    TradeClosed,
)
from services.rules.domain.folds.seats import debt_of, open_trade
from services.rules.domain.moves.asking import close
from services.rules.domain.moves.money import estate_shares, net_worth
from services.rules.domain.parties import BANK
from services.rules.domain.play import Play, refuse
from services.rules.domain.refusals import Refusal
from services.rules.domain.state import AuctionFrame, Claim, EndReason, Place, State


def go_bankrupt(
    play: Play,
    seat: int,
    claims: tuple[Claim, ...],
    reason: Literal["declared", "insolvent", "leaving"],
) -> None:
    """Takes a seat out: its cash to those it owes (none: the bank), its deeds and buildings to the bank."""
    _void_offer(play, seat)
    debt = debt_of(play.state, seat)
    if debt is not None:
        play.emit(PaymentClosed(debt.id, "bankrupt"))
    payees = {claim.payee for claim in claims}
    play.emit(Bankrupt(seat, payees.pop() if len(payees) == 1 else BANK, reason))
    _pay_estate(play, seat, claims)
    for cell, owner in enumerate(play.state.owners[:]):
        if owner == seat:
            play.emit(DeedMoved(cell, seat, BANK, "estate"))
    play.emit(SeatOut(seat, sum(play.state.in_play)))
    _test_end(play)


def _pay_estate(play: Play, seat: int, claims: tuple[Claim, ...]) -> None:
    cash = play.state.cash[seat]
    for share in estate_shares(cash, claims or (Claim(BANK, 1),), seat):
        if share.amount:
            play.emit(MoneyMoved(seat, share.payee, share.amount, "estate"))


def _void_offer(play: Play, seat: int) -> None:
    """An open offer of or to the seat can no longer be carried out."""
    offer = open_trade(play.state)
    if offer is not None and seat in (offer.from_seat, offer.to_seat):
        close(play, "void")
        play.emit(TradeClosed(offer.id, "void"))


def leave(play: Play, seat: int, reason: Literal["surrender", "strikes", "time", "withdrawn"]) -> None:
    """Marks a seat that leaves; it goes out as soon as no lot is open."""
    play.emit(Leaving(seat, reason))


def run_leaving(play: Play) -> bool:
    """Takes the next leaving seat out, bankrupt toward the bank (IND-BANK-02, -06); False if none can go now."""
    state = play.state
    if not any(state.leaving) or any([isinstance(frame, AuctionFrame) for frame in state.agenda]):
        return False
    seat = next(seat for seat, why in enumerate(state.leaving) if why)
    go_bankrupt(play, seat, (), "leaving")
    return True


def withdraw(play: Play, command: Command) -> Refusal | None:
    """The table takes a seat out."""
    edition, state = play.edition, play.state
    action = command.action
    seat = action.seat if isinstance(action, Withdraw) else -1
    if not 0 <= seat < len(state.in_play):
        return refuse(edition, "bad_choice", "out", "no such seat", {"seat": seat})
    if not state.in_play[seat] or state.leaving[seat]:
        return refuse(edition, "seat_out", "out", "the seat is out", {"seat": seat})
    if state.decision is not None and seat in state.decision.seats:
        close(play, "void")
    leave(play, seat, "withdrawn")
    return None


def _test_end(play: Play) -> None:
    """The game ends when one seat or team is left, or when the last person of a game with people is out
    (IND-WIN-01 to -05)."""
    state = play.state
    seats = state.config.seats
    teams = {seats[seat].team for seat, in_play in enumerate(state.in_play) if in_play}
    people = [seat for seat, setup in enumerate(seats) if setup.kind == "person"]
    if len(teams) <= 1:
        _end(play, "last_left")
    elif people and not any([state.in_play[seat] for seat in people]):
        _end(play, "last_person_out")


def _end(play: Play, reason: EndReason) -> None:
    close(play, "void")
    state = play.state
    play.emit(GameEnded(reason, final_places(play, state), state.config.server_seed.hex()))


def final_places(play: Play, state: State) -> tuple[Place, ...]:
    """Those in play by net worth (the lower seat first), then the others, the latest out first (IND-WIN-06)."""
    worth = [net_worth(play.edition, state, seat) for seat in range(len(state.in_play))]
    playing = [seat for seat, in_play in enumerate(state.in_play) if in_play]
    order = [*sorted(playing, key=lambda seat: (-worth[seat], seat)), *reversed(state.out_order)]
    return tuple(Place(seat, place, worth[seat]) for place, seat in enumerate(order, start=1))
