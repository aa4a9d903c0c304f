"""Folds of decisions and deadlines."""

from dataclasses import replace

from services.rules.domain.edition import Edition
from services.rules.domain.events import (
    DeadlineLifted,
    DeadlineSet,
    DeadlineStopped,
    DecisionClosed,
    DecisionOpened,
)
from services.rules.domain.state import AuctionFrame, Decision, State, TurnFrame

#: deadlines that outlive the decision they are first named with
LOT_DEADLINES = ("lot", "open_lot")


def decision_opened(edition: Edition, state: State, event: DecisionOpened) -> None:
    """What the game waits for. `manage` closes the roll before it."""
    state.decision = Decision(event.decision_id, event.kind, event.seats, event.deadline_id)
    state.next_decision = event.decision_id + 1
    if event.kind == "manage":
        state.agenda = [TurnFrame(event.seats[0], "manage")]


def decision_closed(edition: Edition, state: State, event: DecisionClosed) -> None:
    """A deadline of its own ends with it; a lot's goes on (IND-AUC-14)."""
    decision = state.decision
    state.decision = None
    if decision is not None and decision.deadline_id:
        state.deadlines = tuple([d for d in state.deadlines if d.id != decision.deadline_id or d.kind in LOT_DEADLINES])


def deadline_set(edition: Edition, state: State, event: DeadlineSet) -> None:
    """In force from now on; a lot's is kept with its auction."""
    deadline = event.deadline
    state.deadlines = (*state.deadlines, deadline)
    state.next_deadline = deadline.id + 1
    top = state.agenda[-1] if state.agenda else None
    if deadline.kind == "lot" and isinstance(top, AuctionFrame):
        state.agenda[-1] = replace(top, lot_deadline_id=deadline.id)


def _end(state: State, deadline_id: int) -> None:
    state.deadlines = tuple(deadline for deadline in state.deadlines if deadline.id != deadline_id)
    top = state.agenda[-1] if state.agenda else None
    if isinstance(top, AuctionFrame) and top.lot_deadline_id == deadline_id:
        state.agenda[-1] = replace(top, lot_deadline_id=0)


def deadline_stopped(edition: Edition, state: State, event: DeadlineStopped) -> None:
    """Its clock goes on as a new deadline."""
    _end(state, event.deadline_id)


def deadline_lifted(edition: Edition, state: State, event: DeadlineLifted) -> None:
    """It limits nothing any more."""
    _end(state, event.deadline_id)
