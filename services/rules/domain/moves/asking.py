"""Opening and closing decisions, with their deadlines."""

from typing import Literal

from services.rules.domain.edition import Edition
from services.rules.domain.events import DeadlineLifted, DeadlineSet, DecisionClosed, DecisionOpened
from services.rules.domain.play import Play
from services.rules.domain.state import Deadline, DeadlineKind, DecisionKind

#: deadlines that run at tables of each seating (IND-TIME-10, -12)
RUNNING: dict[str, frozenset[DeadlineKind] | None] = {
    "people": None,
    "mixed": None,
    "solo": frozenset({"lot"}),
    "bots": frozenset(),
}


def budget_ms(edition: Edition, kind: DeadlineKind) -> int:
    """Budget of a deadline in milliseconds (IND-TIME-01, -07, -12)."""
    if kind == "turn":
        return edition.turn_s * 1000
    if kind == "payment":
        return edition.payment_s.seconds * 1000
    if kind == "bid":
        return edition.bid_s * 1000
    if kind == "lot":
        return (edition.lot_s or 0) * 1000
    return edition.answer_s * 1000


def set_deadline(play: Play, kind: DeadlineKind) -> int:
    """Sets a deadline anew (IND-TIME-14) and gives its id; 0 where this kind does not run."""
    state = play.state
    running = RUNNING[state.config.seating]
    if running is not None and kind not in running:
        return 0
    deadline_id = state.next_deadline
    play.emit(DeadlineSet(Deadline(deadline_id, kind, budget_ms(play.edition, kind), play.play_time_ms)))
    return deadline_id


def ask(play: Play, kind: DecisionKind, seat: int, deadline: DeadlineKind) -> None:
    """Opens a decision of one seat with a deadline of its own."""
    ask_until(play, kind, seat, set_deadline(play, deadline))


def ask_until(play: Play, kind: DecisionKind, seat: int, deadline_id: int) -> None:
    """Opens a decision of one seat under a deadline that is already in force, or none."""
    play.emit(DecisionOpened(play.state.next_decision, kind, (seat,), deadline_id))


def close(play: Play, outcome: Literal["answered", "default", "void"] = "answered") -> None:
    """Closes the open decision."""
    decision = play.state.decision
    if decision is not None:
        play.emit(DecisionClosed(decision.id, outcome))


def lift(play: Play, deadline_id: int) -> None:
    """Ends a lot's deadline, if it has one."""
    if deadline_id:
        play.emit(DeadlineLifted(deadline_id))
