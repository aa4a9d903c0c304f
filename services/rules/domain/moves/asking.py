"""Opening and closing decisions, with their deadlines."""

from typing import Literal

from services.rules.domain.edition import Edition
from services.rules.domain.events import (
    DeadlineLifted,
    DeadlineSet,
    DeadlineStopped,
    DecisionClosed,
    DecisionOpened,
)
from services.rules.domain.folds.clock import left_of
from services.rules.domain.play import Play
from services.rules.domain.state import Deadline, DeadlineKind, DecisionKind, State

#: deadlines that run at tables of each seating (IND-TIME-10, -12)
RUNNING: dict[str, frozenset[DeadlineKind] | None] = {
    "people": None,
    "mixed": None,
    "solo": frozenset({"lot"}),
    "bots": frozenset(),
}

#: an open lot before it is shortened by a late bid (TAB-AUC-20)
OPEN_LOT_S = 20


def budget_ms(edition: Edition, kind: DeadlineKind) -> int:
    """Budget, in milliseconds, of a deadline that the edition has (IND-TIME-01, -07, -12)."""
    seconds: dict[DeadlineKind, int] = {
        "turn": edition.turn_s,
        "payment": edition.payment_s.seconds,
        "bid": edition.bid_s,
        "answer": edition.answer_s,
        "open_lot": OPEN_LOT_S,
    }
    if edition.lot_s is not None:
        seconds["lot"] = edition.lot_s
    pause = edition.pause
    if pause is not None:
        seconds |= {"pause_vote": pause.vote_s, "pause_max": pause.longest_s, "countdown": pause.countdown_s}
    return seconds[kind] * 1000


def runs(state: State, kind: DeadlineKind) -> bool:
    """Whether deadlines of this kind run at the table."""
    running = RUNNING[state.config.seating]
    return running is None or kind in running


def set_deadline(play: Play, kind: DeadlineKind, budget: int | None = None) -> int:
    """Sets a deadline and gives its id; 0 where this kind does not run.

    Anew with its full budget (IND-TIME-14), or with `budget`, or with what was left when it was stopped.
    """
    state = play.state
    if not runs(state, kind):
        return 0
    if budget is None:
        budget = left_of(state, kind)
    if budget is None:
        budget = budget_ms(play.edition, kind)
    deadline_id = state.next_deadline
    play.emit(DeadlineSet(Deadline(deadline_id, kind, budget, play.play_time_ms)))
    return deadline_id


def turn_deadline(play: Play) -> int:
    """The deadline of a decision on the turn clock: the one of the segment that runs already, or a new one."""
    if play.edition.turn_clock == "per_segment":
        for deadline in play.state.deadlines:
            if deadline.kind == "turn":
                return deadline.id
    return set_deadline(play, "turn")


def ask(play: Play, kind: DecisionKind, seat: int, deadline: DeadlineKind) -> None:
    """Opens a decision of one seat: on the turn clock, or with a deadline of its own, while the turn clock stands
    (MET-TIME-03, BRA-TIME-03)."""
    if deadline == "turn":
        ask_until(play, kind, seat, turn_deadline(play))
        return
    if play.edition.turn_clock == "per_segment":
        stop_clocks(play, ("turn",))
    ask_until(play, kind, seat, set_deadline(play, deadline))


def ask_new_segment(play: Play, seat: int) -> None:
    """Asks for a further roll of the turn, with a full turn clock (MET-TIME-02, MET-AUTO-08, BRA-TIME-03)."""
    lift_turn_clock(play)
    ask_until(play, "roll", seat, set_deadline(play, "turn", budget_ms(play.edition, "turn")))


def ask_until(play: Play, kind: DecisionKind, seat: int, deadline_id: int) -> None:
    """Opens a decision of one seat under a deadline that is already in force, or none."""
    play.emit(DecisionOpened(play.state.next_decision, kind, (seat,), deadline_id))


def ask_all(play: Play, kind: DecisionKind, seats: tuple[int, ...], deadline_id: int) -> None:
    """Opens a decision of several seats."""
    play.emit(DecisionOpened(play.state.next_decision, kind, seats, deadline_id))


def close(play: Play, outcome: Literal["answered", "default", "void"] = "answered") -> None:
    """Closes the open decision."""
    decision = play.state.decision
    if decision is not None:
        play.emit(DecisionClosed(decision.id, outcome))


def stay_or_close(play: Play) -> None:
    """What comes before an action that leaves its decision open: each accepted one opens a new decision where the clock
    starts again with every action (IND-TIME-14); elsewhere decision and clock go on (TAB-TIME-03)."""
    if play.edition.turn_clock == "per_action":
        close(play)


def interrupt(play: Play, outcome: Literal["answered", "void"] = "answered") -> None:
    """Closes a decision that will be asked again, and stops its clock where it goes on with what was left."""
    if play.edition.turn_clock != "per_action":
        stop_clocks(play, ("turn", "payment"))
    decision = play.state.decision
    if decision is not None and decision.kind == "gap":
        stop_clocks(play, ("answer",))
    close(play, outcome)


def stop_clocks(play: Play, kinds: tuple[DeadlineKind, ...]) -> None:
    """Stops the deadlines of these kinds (MET-TIME-03, BRA-TIME-03, TAB-PHASE-02)."""
    for deadline in play.state.deadlines:
        if deadline.kind in kinds:
            left_ms = max(0, deadline.due_at_ms - play.play_time_ms)
            play.emit(DeadlineStopped(deadline.id, left_ms))


def lift(play: Play, deadline_id: int) -> None:
    """Ends a lot's deadline, if it has one."""
    if deadline_id:
        play.emit(DeadlineLifted(deadline_id))


def lift_turn_clock(play: Play) -> None:
    """Ends the turn clock of a segment that is over (MET-TIME-02)."""
    for deadline in play.state.deadlines:
        if deadline.kind == "turn":
            play.emit(DeadlineLifted(deadline.id))
