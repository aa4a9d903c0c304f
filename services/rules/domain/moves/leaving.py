"""Seats that go out, and the end of the game (IND-BANK, IND-WIN)."""

from services.rules.domain.commands import Command, Surrender, Withdraw
from services.rules.domain.events import Bankrupt, GameEnded, Leaving, PaymentClosed, SeatOut, TradeClosed
from services.rules.domain.folds.seats import debt_of, open_trade
from services.rules.domain.moves.asking import close, interrupt, stop_clocks
from services.rules.domain.moves.claims import claim_nothing
from services.rules.domain.moves.estates import BankruptReason, charge_heirs, pass_on
from services.rules.domain.moves.money import settle
from services.rules.domain.moves.raising import raise_cash
from services.rules.domain.moves.rewards import final_places
from services.rules.domain.parties import BANK
from services.rules.domain.play import Play, refuse
from services.rules.domain.refusals import Refusal
from services.rules.domain.state import AuctionFrame, Claim, ClaimsFrame, EndReason, LeaveReason, LotsFrame


def go_bankrupt(play: Play, seat: int, claims: tuple[Claim, ...], reason: BankruptReason, tax_rate: int = 0) -> None:
    """Takes a seat out: its estate to those it owes (none: the bank), as the edition says."""
    _void_offer(play, seat)
    debt = debt_of(play.state, seat)
    if debt is not None:
        play.emit(PaymentClosed(debt.id, "bankrupt"))
    payees = {claim.payee for claim in claims}
    play.emit(Bankrupt(seat, payees.pop() if len(payees) == 1 else BANK, reason))
    last = len(play.state.out_order) + 1 == play.edition.bankruptcy_limit
    pass_on(play, seat, claims, tax_rate, last=last)
    play.emit(SeatOut(seat, sum(play.state.in_play)))
    _test_end(play)
    if not play.state.ended:
        charge_heirs(play)
        _make_way_for_lots(play)


def _make_way_for_lots(play: Play) -> None:
    """The estate of a seat that leaves is auctioned before another's open decision, whose clock stands meanwhile."""
    if play.state.decision is not None and isinstance(play.state.agenda[-1], LotsFrame):
        interrupt(play, "void")


def _void_offer(play: Play, seat: int) -> None:
    """An open offer is void when a seat goes out; others' too where seats leave at will (BRA-BANK-12)."""
    offer = open_trade(play.state)
    if offer is None:
        return
    if seat in (offer.from_seat, offer.to_seat) or play.edition.give_up == "always":
        close(play, "void")
        play.emit(TradeClosed(offer.id, "void"))


def leave(play: Play, seat: int, reason: LeaveReason) -> None:
    """Marks a seat that leaves; it goes out as soon as no lot or claim is open."""
    play.emit(Leaving(seat, reason))


def run_leaving(play: Play) -> bool:
    """Takes the next leaving seat out; False if none can go now.

    An open payment that raisable covers is raised and paid first, one that it does not cover makes the seat bankrupt
    over it; where giving up is only for debts nothing is raised (IND-BANK-02, -06, MET-BANK-09, BRA-BANK-11,
    TAB-BANK-09).
    """
    state = play.state
    if any([isinstance(frame, AuctionFrame | ClaimsFrame) for frame in state.agenda]):
        return False
    seat = next(seat for seat, why in enumerate(state.leaving) if why)
    debt = debt_of(state, seat)
    if debt is None or play.edition.give_up == "debt":
        go_bankrupt(play, seat, (), "leaving")
    elif raise_cash(play, seat, debt.total):
        settle(play, debt)
        go_bankrupt(play, seat, (), "leaving")
    else:
        go_bankrupt(play, seat, debt.claims, "leaving", debt.tax_rate)
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
    _stop_asking(play, seat)
    leave(play, seat, "withdrawn")
    return None


def _stop_asking(play: Play, seat: int) -> None:
    """A decision of its own is void; one of several seats goes on for the others."""
    decision = play.state.decision
    if decision is None or seat not in decision.seats:
        return
    if decision.kind == "building_claim":
        claim_nothing(play, seat)
    elif decision.kind == "open_lot" and not all(
        [other == seat or play.state.leaving[other] for other in decision.seats]
    ):
        return
    elif decision.kind != "gap":
        stop_clocks(play, ("pause_max", "countdown"))
        close(play, "void")


def surrender(play: Play, command: Command) -> Refusal | None:
    """A seat leaves of its own will, at any time (MET-BANK-09, BRA-BANK-05, TAB-BANK-09)."""
    edition, state, seat = play.edition, play.state, command.seat
    if edition.give_up != "always" or not isinstance(command.action, Surrender):
        return refuse(edition, "wrong_decision", "leave", "a running game is left only by a debt or the clock")
    if state.leaving[seat]:
        return refuse(edition, "seat_out", "out", "the seat is leaving", {"seat": seat})
    _stop_asking(play, seat)
    leave(play, seat, "surrender")
    return None


def _test_end(play: Play) -> None:
    """The game ends when one seat or team is left, when the last person of a game with people is out, or at a limit of
    bankruptcies (IND-WIN-01 to -05, BRA-WIN-02, TAB-WIN-02)."""
    state = play.state
    seats = state.config.seats
    teams = {seats[seat].team for seat, in_play in enumerate(state.in_play) if in_play}
    people = [seat for seat, setup in enumerate(seats) if setup.kind == "person"]
    if len(teams) <= 1:
        end_game(play, "last_left")
    elif people and not any([state.in_play[seat] for seat in people]):
        end_game(play, "last_person_out")
    elif len(state.out_order) == play.edition.bankruptcy_limit:
        end_game(play, "bankruptcies")


def end_game(play: Play, reason: EndReason) -> None:
    """Ranks the seats and reveals the seed."""
    close(play, "void")
    state = play.state
    play.emit(GameEnded(reason, final_places(play), state.config.server_seed.hex()))
