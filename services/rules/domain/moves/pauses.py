"""Pauses by consent (BRA-TIME-08 to -12)."""

from services.rules.domain.commands import Command, VotePause
from services.rules.domain.edition import Edition
from services.rules.domain.events import (
    DeadlineLifted,
    PauseAsked,
    PauseEnded,
    PauseStarted,
    PauseVoted,
    ReturnConfirmed,
)
from services.rules.domain.folds.seats import staying
from services.rules.domain.moves.asking import ask_all, budget_ms, close, set_deadline, stop_clocks
from services.rules.domain.play import Play, refuse
from services.rules.domain.refusals import Refusal
from services.rules.domain.state import DeadlineKind, PauseFrame, State

STOPPED: tuple[DeadlineKind, ...] = ("turn", "payment", "bid", "lot", "open_lot", "answer")


def is_paused(state: State) -> bool:
    """Whether the game stands still by consent."""
    return bool(state.agenda) and isinstance(state.agenda[-1], PauseFrame)


def may_ask_pause(edition: Edition, state: State, seat: int, play_time_ms: int) -> bool:
    """One vote at a time; whose vote failed waits before asking again (BRA-TIME-12)."""
    pause = edition.pause
    if pause is None or state.vote is not None or is_paused(state):
        return False
    failed = state.counters.get(("game", "pause_failed", (seat,)))
    return failed is None or play_time_ms >= failed + pause.again_s * 1000


def ask_pause(play: Play, command: Command) -> Refusal | None:
    """Asking counts as agreeing; bots agree at once (BRA-TIME-08, -10)."""
    edition, state, seat = play.edition, play.state, command.seat
    if edition.pause is None:
        return refuse(edition, "wrong_decision", "pause", "this edition has no pauses by consent")
    if state.vote is not None or is_paused(state):
        return refuse(edition, "already_asked", "pause", "a vote or a pause is on")
    if not may_ask_pause(edition, state, seat, play.play_time_ms):
        return refuse(edition, "ask_later", "pause_again", "a vote of this seat failed lately")
    play.emit(PauseAsked(seat, play.play_time_ms))
    for other, setup in enumerate(state.config.seats):
        if setup.kind == "bot" and state.in_play[other] and other != seat:
            play.emit(PauseVoted(other, True, play.play_time_ms))
    if not start_if_agreed(play):
        set_deadline(play, "pause_vote")
    return None


def vote_pause(play: Play, command: Command) -> Refusal | None:
    """All must agree; a single no ends the vote."""
    edition, state, seat = play.edition, play.state, command.seat
    vote, action = state.vote, command.action
    if vote is None or not isinstance(action, VotePause):
        return refuse(edition, "wrong_decision", "pause", "no vote is on")
    if seat in vote.yes:
        return refuse(edition, "already_asked", "pause", "the seat has voted")
    play.emit(PauseVoted(seat, action.yes, play.play_time_ms))
    if not action.yes:
        _lift_vote(play, vote.deadline_id)
    else:
        start_if_agreed(play)
    return None


def _lift_vote(play: Play, deadline_id: int) -> None:
    if deadline_id:
        play.emit(DeadlineLifted(deadline_id))


def start_if_agreed(play: Play) -> bool:
    """Pauses as soon as everybody has agreed who stays, be it by the last yes or because another leaves."""
    state = play.state
    vote = state.vote
    if vote is None or not all([seat in vote.yes for seat in staying(state)]):
        return False
    _lift_vote(play, vote.deadline_id)
    stop_clocks(play, STOPPED)
    close(play, "void")
    play.emit(PauseStarted(play.play_time_ms))
    return True


def vote_times_out(play: Play) -> None:
    """No answer is a no (BRA-TIME-08)."""
    state = play.state
    vote = state.vote
    if vote is not None:
        silent = [seat for seat in staying(state) if seat not in vote.yes]
        _lift_vote(play, vote.deadline_id)
        play.emit(PauseVoted(silent[0] if silent else vote.asker, False, play.play_time_ms))


def run_pause(play: Play, frame: PauseFrame) -> None:
    """Waits for all to be back, then for the countdown; bots are back at once (BRA-TIME-09, -10)."""
    state = play.state
    for seat, setup in enumerate(state.config.seats):
        if setup.kind == "bot" and state.in_play[seat] and seat not in frame.back and frame.stage == "paused":
            play.emit(ReturnConfirmed(seat))
            return
    seats = staying(state)
    if not seats:
        play.emit(PauseEnded(play.play_time_ms - frame.since_ms))
        return
    if frame.stage == "paused":
        spent_ms = play.play_time_ms - frame.since_ms
        deadline = set_deadline(play, "pause_max", max(0, budget_ms(play.edition, "pause_max") - spent_ms))
    else:
        deadline = set_deadline(play, "countdown")
    ask_all(play, "paused", seats, deadline)


def confirm_return(play: Play, command: Command) -> Refusal | None:
    """The seat is back; the last one starts the countdown."""
    edition, state, seat = play.edition, play.state, command.seat
    frame = state.agenda[-1]
    if not isinstance(frame, PauseFrame) or frame.stage != "paused":
        return refuse(edition, "wrong_decision", "pause", "nobody is waited for")
    if seat in frame.back:
        return refuse(edition, "already_asked", "pause", "the seat has confirmed")
    play.emit(ReturnConfirmed(seat))
    top = state.agenda[-1]
    if isinstance(top, PauseFrame) and top.stage == "countdown":
        close(play)
    return None


def pause_times_out(play: Play) -> None:
    """The countdown follows the longest pause (BRA-TIME-12); after it the game goes on with exactly what was left
    (BRA-TIME-10)."""
    frame = play.state.agenda[-1]
    close(play, "default")
    if isinstance(frame, PauseFrame) and frame.stage == "countdown":
        play.emit(PauseEnded(play.play_time_ms - frame.since_ms))
