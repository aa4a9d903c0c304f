"""The end of a turn: mortgages lapse, a gap opens, the game may end by rounds or time."""

from services.rules.domain.edition import Edition
from services.rules.domain.events import DeedMoved, TurnEnded
from services.rules.domain.folds.seats import clockwise
from services.rules.domain.moves.asking import ask_all, lift_turn_clock, set_deadline
from services.rules.domain.moves.leaving import end_game
from services.rules.domain.moves.timing import MINUTE_MS, game_ms
from services.rules.domain.parties import BANK
from services.rules.domain.play import Play
from services.rules.domain.state import LotsFrame, State


def finish_turn(play: Play, seat: int, *, skipped: bool = False) -> None:
    """Ends the turn, unless something that belongs to its end has to be done first; `skipped`: without a roll."""
    state = play.state
    if play.edition.mortgage_rounds is not None:
        _lapse(play, seat, play.edition.mortgage_rounds)
        if isinstance(state.agenda[-1], LotsFrame):
            return
    if gap_is_asked(state):
        open_gap(play)
        return
    lift_turn_clock(play)
    play.emit(TurnEnded(seat, "time" if skipped else "done"))
    check_limits(play, seat)


def _lapse(play: Play, seat: int, rounds: int) -> None:
    """Mortgages not redeemed in time fall to the bank, in cell order (MET-MORT-06, -08, -09, BRA-MORT-07, -08)."""
    state = play.state
    for cell in play.edition.board.deeds:
        since = state.mortgaged_rounds[cell]
        if since and state.owners[cell] == seat and since + rounds <= state.round:
            play.emit(DeedMoved(cell, seat, BANK, "lapse"))


def gap_is_asked(state: State) -> bool:
    """Whether somebody asked for a pause between turns."""
    return bool(state.counters) and any([key[1] == "gap" for key in state.counters])


def open_gap(play: Play) -> None:
    """Every seat in play may build, redeem, sell and mortgage (TAB-BUILD-17)."""
    state = play.state
    seats = tuple([seat for seat, in_play in enumerate(state.in_play) if in_play])
    ask_all(play, "gap", seats, set_deadline(play, "answer"))


def check_limits(play: Play, seat: int) -> None:
    """The end by rounds or by time is tested when a turn ends (MET-WIN-02, -04, TAB-WIN-05)."""
    edition, state = play.edition, play.state
    limit = edition.round_limit
    if limit is not None and state.round >= limit and not state.extra_owed and _last_of_round(state, seat):
        end_game(play, "rounds")
    if edition.time_limit_min is not None and not state.ended and _time_is_up(edition, state, play.play_time_ms):
        end_game(play, "time")


def _time_is_up(edition: Edition, state: State, play_time_ms: int) -> bool:
    limit = edition.time_limit_min
    return limit is not None and game_ms(state, play_time_ms) >= limit * MINUTE_MS


def _last_of_round(state: State, seat: int) -> bool:
    """Whether the next turn would begin a new round."""
    count = len(state.in_play)
    following = clockwise(state, seat)[0]
    return (following - state.first_seat) % count <= (seat - state.first_seat) % count
