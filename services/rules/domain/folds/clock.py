"""Folds of decisions, deadlines, strikes and pauses."""

from dataclasses import replace

from services.rules.domain.edition import Edition
from services.rules.domain.events import (
    DeadlineLifted,
    DeadlineSet,
    DeadlineStopped,
    DecisionClosed,
    DecisionOpened,
    GapAsked,
    GapClosed,
    PauseAsked,
    PauseEnded,
    PauseStarted,
    PauseVoted,
    ReturnConfirmed,
    StrikeCounted,
    StrikesCleared,
)
from services.rules.domain.folds.seats import MARK, count_down_if_back
from services.rules.domain.state import (
    AuctionFrame,
    Deadline,
    DeadlineKind,
    Decision,
    EstateFrame,
    GapFrame,
    PauseFrame,
    PauseVote,
    PaymentFrame,
    State,
    TurnFrame,
)

#: deadlines that outlive the decision they are first named with
LOT_DEADLINES: tuple[DeadlineKind, ...] = ("lot", "open_lot")


def decision_opened(edition: Edition, state: State, event: DecisionOpened) -> None:
    """What the game waits for. `manage` and a further `roll` close the roll before them; a gap begins."""
    state.decision = Decision(event.decision_id, event.kind, event.seats, event.deadline_id)
    state.next_decision = event.decision_id + 1
    if event.kind == "manage":
        state.agenda = [TurnFrame(event.seats[0], "manage")]
    elif event.kind == "roll":
        state.extra_owed = False
        state.agenda = [TurnFrame(event.seats[0], "roll")]
    elif event.kind == "payment":
        top = state.agenda[-1]
        if isinstance(top, PaymentFrame) and top.fresh:
            # Built, not replaced: that takes five times as long.
            state.agenda[-1] = PaymentFrame(
                top.id, top.payer, top.claims, top.reason, top.cell, top.card, top.tax_rate, False
            )
    elif event.kind == "gap" and not isinstance(state.agenda[-1], GapFrame):
        _open_gap(state)


def _open_gap(state: State) -> None:
    """A gap at the end of a turn comes back to the end (TAB-BUILD-17)."""
    bottom = state.agenda[0]
    if isinstance(bottom, TurnFrame) and bottom.stage == "manage":
        state.agenda[0] = TurnFrame(bottom.seat, "end")
    askers = [key for key in state.counters if key[1] == "gap"]
    for key in askers:
        state.counters[(key[0], "gap_had", key[2])] = state.counters.pop(key)
    state.agenda.append(GapFrame(tuple(sorted(key[2][0] for key in askers))))


def decision_closed(edition: Edition, state: State, event: DecisionClosed) -> None:
    """Its own deadline ends with it; a lot's goes on (IND-AUC-14), and a turn's where it spans a segment."""
    decision = state.decision
    state.decision = None
    if decision is None:
        return
    _keep_inherited(state, decision, event)
    _count_down(state, decision, event)
    if decision.deadline_id:
        state.deadlines = tuple([d for d in state.deadlines if d.id != decision.deadline_id or outlives(edition, d)])


def _keep_inherited(state: State, decision: Decision, event: DecisionClosed) -> None:
    """An heir who has answered, or has not in time, keeps what he did not redeem (TAB-BANK-04)."""
    if decision.kind == "estate_choice" and event.outcome != "void":
        state.agenda = [frame for frame in state.agenda if not isinstance(frame, EstateFrame)]


def _count_down(state: State, decision: Decision, event: DecisionClosed) -> None:
    """The longest pause is over: the game goes on after the countdown (BRA-TIME-12)."""
    top = state.agenda[-1] if state.agenda else None
    if decision.kind == "paused" and event.outcome == "default" and isinstance(top, PauseFrame):
        state.agenda[-1] = replace(top, stage="countdown")


def outlives(edition: Edition, deadline: Deadline) -> bool:
    """Whether a deadline goes on when a decision that it limits is closed (MET-TIME-02, BRA-TIME-03)."""
    return deadline.kind in LOT_DEADLINES or (deadline.kind == "turn" and edition.turn_clock == "per_segment")


def left_of(state: State, kind: DeadlineKind) -> int | None:
    """What was left of a stopped clock, if it goes on now: that of a gap waits while an answer to something else is
    asked on top of it (TAB-PHASE-02)."""
    if not state.clocks:
        return None
    in_gap = any([isinstance(frame, GapFrame) for frame in state.agenda[:-1]])
    if kind == "answer" and in_gap and not isinstance(state.agenda[-1], GapFrame):
        return None
    return state.clocks.get(kind)


def deadline_set(edition: Edition, state: State, event: DeadlineSet) -> None:
    """In force from now on; a lot's is kept with its auction, a vote's with the vote."""
    deadline = event.deadline
    state.deadlines = (*state.deadlines, deadline)
    state.next_deadline = deadline.id + 1
    if left_of(state, deadline.kind) is not None:
        del state.clocks[deadline.kind]
    if deadline.kind in LOT_DEADLINES:
        top = state.agenda[-1] if state.agenda else None
        if isinstance(top, AuctionFrame):
            state.agenda[-1] = replace(top, lot_deadline_id=deadline.id)
    elif deadline.kind == "pause_vote" and state.vote is not None:
        state.vote = replace(state.vote, deadline_id=deadline.id)


def _end(state: State, deadline_id: int) -> None:
    state.deadlines = tuple([deadline for deadline in state.deadlines if deadline.id != deadline_id])
    top = state.agenda[-1] if state.agenda else None
    if isinstance(top, AuctionFrame) and top.lot_deadline_id == deadline_id:
        state.agenda[-1] = replace(top, lot_deadline_id=0)


def deadline_stopped(edition: Edition, state: State, event: DeadlineStopped) -> None:
    """Its clock goes on as a new deadline with what was left."""
    for deadline in state.deadlines:
        if deadline.id == event.deadline_id:
            state.clocks[deadline.kind] = event.left_ms
    _end(state, event.deadline_id)


def deadline_lifted(edition: Edition, state: State, event: DeadlineLifted) -> None:
    """It limits nothing any more."""
    _end(state, event.deadline_id)


def strike_counted(edition: Edition, state: State, event: StrikeCounted) -> None:
    """At most one in a turn (MET-TIME-09, BRA-TIME-07, TAB-TIME-06)."""
    state.strikes[event.seat] = event.count
    state.counters[("turn", "strike", (event.seat,))] = MARK


def strikes_cleared(edition: Edition, state: State, event: StrikesCleared) -> None:
    """Any command of the seat clears them."""
    state.strikes[event.seat] = 0


def gap_asked(edition: Edition, state: State, event: GapAsked) -> None:
    """Once for each change of turn (TAB-BUILD-17)."""
    state.counters[("turn", "gap", (event.seat,))] = MARK


def gap_closed(edition: Edition, state: State, event: GapClosed) -> None:
    """The gap is over when all who asked are done (TAB-BUILD-17)."""
    top = state.agenda[-1]
    if isinstance(top, GapFrame):
        asked = tuple([seat for seat in top.asked if seat != event.seat])
        if asked:
            state.agenda[-1] = GapFrame(asked)
        else:
            state.agenda.pop()


def pause_asked(edition: Edition, state: State, event: PauseAsked) -> None:
    """Asking counts as agreeing (BRA-TIME-10)."""
    state.vote = PauseVote(event.seat, (event.seat,))


def pause_voted(edition: Edition, state: State, event: PauseVoted) -> None:
    """A single no ends the vote; who asked may ask again later (BRA-TIME-10, -12)."""
    vote = state.vote
    if vote is None:
        return
    state.vote = replace(vote, yes=(*vote.yes, event.seat)) if event.yes else None
    if not event.yes:
        state.counters[("game", "pause_failed", (vote.asker,))] = event.at_ms


def pause_started(edition: Edition, state: State, event: PauseStarted) -> None:
    """All clocks stand (BRA-TIME-10)."""
    state.vote = None
    state.agenda.append(PauseFrame("paused", (), event.at_ms))


def return_confirmed(edition: Edition, state: State, event: ReturnConfirmed) -> None:
    """The last one back starts the countdown (BRA-TIME-09)."""
    top = state.agenda[-1]
    if isinstance(top, PauseFrame):
        state.agenda[-1] = replace(top, back=tuple(sorted({*top.back, event.seat})))
        count_down_if_back(state)


def pause_ended(edition: Edition, state: State, event: PauseEnded) -> None:
    """Game time has stood still meanwhile (BRA-TIME-11)."""
    state.paused_ms += event.paused_ms
    state.clocks.pop("pause_max", None)
    state.clocks.pop("countdown", None)
    state.agenda = [frame for frame in state.agenda if not isinstance(frame, PauseFrame)]
