"""What the expiry of a deadline does: who misses a decision is out, or its default is played and strikes are counted
(IND-TIME-05 to -09, MET-TIME-06 to -11, BRA-TIME-05 to -07, TAB-TIME-05, -06)."""

from services.rules.domain.commands import Command, Expire
from services.rules.domain.edition import Edition
from services.rules.domain.events import (
    AuctionClosed,
    BetDeclined,
    BidderPassed,
    MoveChosen,
    StrikeCounted,
    TradeClosed,
)
from services.rules.domain.folds.deeds import auction_frame
from services.rules.domain.folds.seats import counted, open_trade
from services.rules.domain.moves.asking import close, lift, stop_clocks
from services.rules.domain.moves.auction import auction_declined, close_open_lot
from services.rules.domain.moves.casino import default_building, destroy
from services.rules.domain.moves.claims import claims_time_out
from services.rules.domain.moves.ending import finish_turn
from services.rules.domain.moves.gaps import gap_times_out
from services.rules.domain.moves.leaving import leave
from services.rules.domain.moves.pauses import pause_times_out, vote_times_out
from services.rules.domain.moves.payments import payment_default
from services.rules.domain.moves.turn import throw
from services.rules.domain.parties import NONE
from services.rules.domain.play import Play, refuse
from services.rules.domain.refusals import Refusal
from services.rules.domain.state import DeadlineKind, Decision, State

STRIKES_TO_LEAVE = 3
#: own turns in a row that may end without a roll before the dice are thrown (MET-TIME-11)
UNROLLED_LIMIT = 2


def expire(play: Play, command: Command) -> Refusal | None:
    """Ends a deadline that is in force and due; word of any other changes nothing (IND-TIME-16)."""
    edition, state = play.edition, play.state
    action = command.action
    deadline_id = action.deadline_id if isinstance(action, Expire) else NONE
    deadline = next((item for item in state.deadlines if item.id == deadline_id), None)
    if deadline is None:
        return refuse(edition, "stale_deadline", "expiry", "this deadline is not in force", {"deadline": deadline_id})
    left_ms = deadline.due_at_ms + state.config.grace_ms - play.play_time_ms
    if left_ms > 0:
        return refuse(edition, "not_due", "expiry", "there is play time left", {"left_ms": left_ms})
    run_out(play, deadline.kind)
    return None


def run_out(play: Play, kind: DeadlineKind) -> None:
    """What follows when a deadline of this kind has run out."""
    if kind == "lot":
        _cancel_lot(play)
    elif kind == "bid":
        seat = auction_frame(play.state).asked
        close(play, "default")
        play.emit(BidderPassed(seat, "time"))
    elif kind == "open_lot":
        close_open_lot(play)
    elif kind == "answer":
        _answer_missed(play)
    elif kind == "pause_vote":
        vote_times_out(play)
    elif kind in ("pause_max", "countdown"):
        pause_times_out(play)
    else:
        _decision_missed(play, kind)


def _cancel_lot(play: Play) -> None:
    """A lot without a bid is cancelled, though others were not asked yet (IND-AUC-14, IND-TIME-13)."""
    frame = auction_frame(play.state)
    close(play, "default")
    lift(play, frame.lot_deadline_id)
    play.emit(AuctionClosed(frame.id, NONE, 0, "cancelled"))


def _answer_missed(play: Play) -> None:
    """Silence is a refusal (IND-TRADE-16), an empty claim, keeping what was inherited, the end of a gap."""
    decision = play.state.decision
    kind = decision.kind if decision is not None else ""
    if kind == "building_claim":
        claims_time_out(play)
    elif kind == "gap":
        gap_times_out(play)
    else:
        offer = open_trade(play.state)
        close(play, "default")
        if offer is not None:
            play.emit(TradeClosed(offer.id, "expired"))


def _decision_missed(play: Play, kind: DeadlineKind) -> None:
    """Whoever misses his decision is out and nothing is done for him (IND-TIME-05, -06), or the default is played."""
    decision = play.state.decision
    if decision is None:
        return
    seat = decision.seats[0]
    if play.edition.on_timeout == "eliminate":
        close(play, "default")
        leave(play, seat, "time")
        return
    struck_out = _count_strike(play, seat)
    _spend_turn_clock(play, kind)
    if struck_out:
        close(play, "default")
        leave(play, seat, "strikes")
    else:
        play_default(play, decision)


def _spend_turn_clock(play: Play, kind: DeadlineKind) -> None:
    """Further decisions of the segment take their default at once (MET-AUTO-08, BRA-AUTO-09)."""
    if kind == "turn" and play.edition.turn_clock == "per_segment":
        stop_clocks(play, ("turn",))


def _count_strike(play: Play, seat: int) -> bool:
    """In the own turn, at most once in a turn, never for a bot; true at the third in a row."""
    state = play.state
    if seat != state.turn_seat or state.config.seats[seat].kind == "bot":
        return False
    if ("turn", "strike", (seat,)) in state.counters:
        return False
    play.emit(StrikeCounted(seat, state.strikes[seat] + 1))
    return state.strikes[seat] >= STRIKES_TO_LEAVE


def play_default(play: Play, decision: Decision) -> None:
    """The default of the decision (docs/rules/parameters.md, 3.3)."""
    seat, kind = decision.seats[0], decision.kind
    close(play, "default")
    if kind == "roll":
        _roll_default(play, seat)
    elif kind in ("bus_choice", "teleport_choice"):
        play.emit(MoveChosen(seat, "sum"))
    elif kind == "purchase":
        auction_declined(play, seat)
    elif kind == "casino_bet":
        play.emit(BetDeclined(seat))
    elif kind == "demolition_choice":
        destroy(play, default_building(play.edition, play.state, seat))
    elif kind == "manage":
        finish_turn(play, seat)
    elif kind == "payment":
        payment_default(play)


def _roll_default(play: Play, seat: int) -> None:
    """The dice are thrown, or the turn is skipped unless the two before were (MET-AUTO-01, -TIME-11, BRA-AUTO-01)."""
    if _skips(play.edition, play.state, seat):
        finish_turn(play, seat, skipped=True)
    else:
        throw(play, seat)


def _skips(edition: Edition, state: State, seat: int) -> bool:
    return edition.timeout_roll == "skip" and counted(state, ("game", "unrolled", (seat,))) < UNROLLED_LIMIT
