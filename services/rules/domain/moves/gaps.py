"""The pause between turns, and rent on demand (TAB-BUILD-17, TAB-RENT-11)."""

from services.rules.domain.commands import ClaimRent, Command
from services.rules.domain.edition import Edition
from services.rules.domain.events import GapAsked, GapClosed, RentClaimClosed
from services.rules.domain.moves.asking import close, interrupt
from services.rules.domain.moves.building import build_choices
from services.rules.domain.moves.ending import open_gap
from services.rules.domain.moves.holdings import Holdings, holdings_of
from services.rules.domain.moves.money import charge
from services.rules.domain.play import Play, refuse
from services.rules.domain.refusals import Refusal
from services.rules.domain.state import Claim, GapFrame, RentClaim, State, TurnFrame

GAP_MOMENTS = ("roll", "manage")
CLAIM_MOMENTS = ("roll", "manage", "gap")


def has_gaps(edition: Edition) -> bool:
    """An edition has gaps only if building is open in one."""
    return "gap" in edition.build_in


def is_gap_moment(state: State) -> bool:
    """Whether the open decision is one beside which a gap may be asked for."""
    decision = state.decision
    return decision is not None and decision.kind in GAP_MOMENTS


def _has_asked(state: State, seat: int) -> bool:
    counters = state.counters
    return ("turn", "gap", (seat,)) in counters or ("turn", "gap_had", (seat,)) in counters


def may_ask_gap(edition: Edition, state: State, seat: int, held: Holdings) -> bool:
    """Who is not in turn and could build or redeem something now may ask, once for each change of turn; at such a
    moment."""
    groups, mortgaged = held.groups[seat], held.mortgaged[seat]
    if not (groups or mortgaged) or seat == state.turn_seat or _has_asked(state, seat):
        return False
    if mortgaged and held.least_redemption(seat) <= state.cash[seat]:
        return True
    return bool(groups and build_choices(edition, state, seat, groups, first=True))


def ask_gap(play: Play, command: Command) -> Refusal | None:
    """The gap opens at once before the turn's first roll, else when the turn ends."""
    edition, state, seat = play.edition, play.state, command.seat
    if not has_gaps(edition) or not is_gap_moment(state) or seat == state.turn_seat:
        return refuse(edition, "wrong_decision", "gap", "no gap can be asked for now")
    if _has_asked(state, seat):
        return refuse(edition, "already_asked", "gap", "already asked in this turn")
    if not may_ask_gap(edition, state, seat, holdings_of(edition, state)):
        return refuse(edition, "nothing_to_do", "gap", "there is nothing to build or redeem")
    play.emit(GapAsked(seat))
    if _before_first_roll(state):
        interrupt(play)
        open_gap(play)
    return None


def _before_first_roll(state: State) -> bool:
    """Whether the turn player has not yet rolled in this turn."""
    bottom = state.agenda[0]
    rolled = ("turn", "rolled", (state.turn_seat,)) in state.counters
    return isinstance(bottom, TurnFrame) and bottom.stage == "roll" and not rolled


def run_gap(play: Play, frame: GapFrame) -> None:
    """Goes on with a gap that was interrupted by claims."""
    open_gap(play)


def close_gap(play: Play, command: Command) -> Refusal | None:
    """Done, from each seat that asked."""
    state, seat = play.state, command.seat
    frame = state.agenda[-1]
    if not isinstance(frame, GapFrame) or seat not in frame.asked:
        return refuse(play.edition, "not_asked", "gap", "the seat did not ask for this gap")
    if len(frame.asked) == 1:
        close(play)
    play.emit(GapClosed(seat))
    return None


def gap_times_out(play: Play) -> None:
    """The gap is over for all who asked."""
    frame = play.state.agenda[-1]
    close(play, "default")
    if isinstance(frame, GapFrame):
        for seat in frame.asked:
            play.emit(GapClosed(seat))


def open_claim(state: State, owner: int, visitor: int, cell: int) -> RentClaim | None:
    """The rent that the owner may claim."""
    for claim in state.rent_claims:
        if (claim.owner, claim.visitor, claim.cell) == (owner, visitor, cell):
            return claim
    return None


def may_claim_rent(edition: Edition, state: State) -> bool:
    """Whether rent can be claimed now at all."""
    decision = state.decision
    return edition.rent_claim == "on_demand" and decision is not None and decision.kind in CLAIM_MOMENTS


def claim_rent(play: Play, command: Command) -> Refusal | None:
    """The rent of the visit is owed at once, like any debt (TAB-RENT-11)."""
    edition, state, seat = play.edition, play.state, command.seat
    action = command.action
    if not isinstance(action, ClaimRent) or not may_claim_rent(edition, state):
        return refuse(edition, "wrong_decision", "claim", "no rent can be claimed now")
    claim = open_claim(state, seat, action.visitor, action.cell)
    if claim is None:
        return refuse(edition, "bad_choice", "claim", "there is no such claim", {"cell": action.cell})
    play.emit(RentClaimClosed(claim.visitor, claim.cell, True))
    if state.cash[claim.visitor] < claim.amount or edition.payment_confirm is not None:
        interrupt(play)
    charge(play, claim.visitor, (Claim(seat, claim.amount),), "rent", claim.cell)
    return None
