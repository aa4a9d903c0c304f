"""Turns: who is next, rolling, and carrying a roll out."""

from services.rules.domain import chance
from services.rules.domain.board import CELL_COUNT
from services.rules.domain.commands import ChooseCell, ChooseMove, Command
from services.rules.domain.events import (
    DiceRolled,
    Jailed,
    JailTryFailed,
    MortgageReminded,
    MoveChosen,
    Released,
    TurnEnded,
    TurnStarted,
)
from services.rules.domain.folds.seats import clockwise
from services.rules.domain.folds.turn import DOUBLES_TO_JAIL, is_triple
from services.rules.domain.moves.asking import ask, ask_new_segment, close, lift_turn_clock
from services.rules.domain.moves.ending import check_limits, finish_turn, gap_is_asked, open_gap
from services.rules.domain.moves.landing import land
from services.rules.domain.moves.money import charge
from services.rules.domain.moves.timing import third_die_is_thrown
from services.rules.domain.moves.walking import jump, jump_target, walk, walk_to
from services.rules.domain.parties import BANK, NONE
from services.rules.domain.play import Play, refuse
from services.rules.domain.refusals import Refusal
from services.rules.domain.state import Claim, RollFrame, State, TurnFrame

#: faces of the third die beside 1, 2 and 3 (MET-DICE-07, BRA-DICE-07)
BUS = 4
FACES = 6


def start_next(play: Play) -> None:
    """Passes the turn on, or gives the extra roll owed (IND-TURN-06, -07)."""
    state = play.state
    seat = state.turn_seat
    if state.extra_owed and state.in_play[seat]:
        play.emit(TurnStarted(seat, state.round, True))
        return
    following = clockwise(state, seat)[0]
    play.emit(TurnStarted(following, state.round + _round_grows(state, seat, following), False))
    if play.edition.mortgage_rounds is not None:
        _remind(play, following, play.edition.mortgage_rounds)


def _round_grows(state: State, seat: int, following: int) -> int:
    """1 if the turn passes to a place not after the last one's, counted from the first player (IND-TURN-09)."""
    count = len(state.in_play)
    place = (seat - state.first_seat) % count
    return int((following - state.first_seat) % count <= place)


def _remind(play: Play, seat: int, rounds: int) -> None:
    """The owner is reminded of each mortgage that will lapse (MET-MORT-07, -08)."""
    state = play.state
    for cell in play.edition.board.deeds:
        since = state.mortgaged_rounds[cell]
        if since and state.owners[cell] == seat and since < state.round:
            play.emit(MortgageReminded(cell, max(0, since + rounds - state.round)))


def run_turn(play: Play, frame: TurnFrame) -> None:
    """Asks for the roll, or for what follows it; a turn whose player is out ends (IND-TURN-10)."""
    seat = frame.seat
    if not play.state.in_play[seat]:
        if gap_is_asked(play.state):
            open_gap(play)
            return
        lift_turn_clock(play)
        play.emit(TurnEnded(seat, "out"))
        check_limits(play, seat)
    elif frame.stage == "end":
        finish_turn(play, seat)
    else:
        ask(play, frame.stage, seat, "turn")


def roll(play: Play, command: Command) -> Refusal | None:
    """Rolls two dice (IND-DICE-01, IND-SETUP-15)."""
    close(play)
    throw(play, command.seat)
    return None


def throw(play: Play, seat: int) -> None:
    """White 1, white 2, and the third die for a free token where it is in play (MET-SETUP-14, BRA-SETUP-13)."""
    state = play.state
    config, draws = state.config, state.draws
    dice = chance.two_dice(config, draws)
    if state.jail_tries[seat] >= 0:
        play.emit(DiceRolled(seat, "jail", dice))
    elif third_die_is_thrown(play.edition, state):
        play.emit(DiceRolled(seat, "move", dice, chance.draw(config, draws + 2, FACES) + 1))
    else:
        play.emit(DiceRolled(seat, "move", dice))


def end_turn(play: Play, command: Command) -> Refusal | None:
    """Ends the turn (IND-TURN-06)."""
    close(play)
    finish_turn(play, command.seat)
    return None


def choose_move(play: Play, command: Command) -> Refusal | None:
    """Chooses what a BUS face moves by (MET-DICE-09, BRA-DICE-09)."""
    action = command.action
    option = action.option if isinstance(action, ChooseMove) else "sum"
    close(play)
    play.emit(MoveChosen(command.seat, option))
    return None


def choose_cell(play: Play, command: Command) -> Refusal | None:
    """Chooses where a triple leads: any other cell, directly (MET-DICE-17, -19, BRA-DICE-17)."""
    edition, seat = play.edition, command.seat
    action = command.action
    cell = action.cell if isinstance(action, ChooseCell) else NONE
    if not 0 <= cell < CELL_COUNT:
        return refuse(edition, "unknown_cell", "window_choice", "no such cell", {"cell": cell})
    if cell == play.state.position[seat]:
        return refuse(edition, "bad_choice", "window_choice", "any other cell", {"cell": cell})
    close(play)
    play.emit(MoveChosen(seat, "", cell))
    jump(play, seat, cell, "teleport")
    return None


def run_roll(play: Play, frame: RollFrame) -> None:
    """Carries a roll out, stage by stage."""
    stage = frame.stage
    if stage == "landing":
        if land(play, frame):
            _settled(play, frame)
    elif stage == "settled":
        _settled(play, frame)
    elif stage == "move":
        _move_by_dice(play, frame)
    elif stage == "fallen":
        if frame.from_jail:
            _try_to_leave(play, frame)
        else:
            _fallen(play, frame)
    elif stage == "fine":
        _take_fine(play, frame)
    else:
        play.emit(Released(frame.seat, "forced_fine"))


def _fallen(play: Play, frame: RollFrame) -> None:
    """A triple is a choice of its own; the third double in a row goes to jail without moving (IND-DICE-03)."""
    if is_triple(frame.dice, frame.third):
        ask(play, "teleport_choice", frame.seat, "turn")
    elif play.state.doubles == DOUBLES_TO_JAIL:
        play.emit(Jailed(frame.seat, "doubles"))
    elif frame.third == BUS:
        ask(play, "bus_choice", frame.seat, "turn")
    else:
        _move_by_dice(play, frame)


def _try_to_leave(play: Play, frame: RollFrame) -> None:
    """A double frees (IND-JAIL-05), anything else is a failed try (IND-JAIL-06, -08)."""
    if frame.dice[0] == frame.dice[1]:
        play.emit(Released(frame.seat, "double"))
    else:
        play.emit(JailTryFailed(frame.seat, play.state.jail_tries[frame.seat] + 1))


def _take_fine(play: Play, frame: RollFrame) -> None:
    """The forced fine comes before the move, and may become a debt (IND-JAIL-06, -09, IND-DEBT-03)."""
    fine = (Claim(BANK, play.edition.jail_fine),)
    charge(play, frame.seat, fine, "fine", play.edition.board.jail_cell)
    if play.state.agenda[-1] is frame:
        play.emit(Released(frame.seat, "forced_fine"))


def _move_by_dice(play: Play, frame: RollFrame) -> None:
    """By the dice, or the chosen one; 1, 2 or 3 of the third die is added (MET-DICE-08, BRA-DICE-08)."""
    steps = sum(frame.dice) + (frame.third if frame.third < BUS else 0)
    walk(play, frame.seat, steps, "dice")


def _settled(play: Play, frame: RollFrame) -> None:
    """What follows when the cell is resolved: the jump of the third die, then the turn goes on."""
    state, edition, seat = play.state, play.edition, frame.seat
    if frame.third > BUS:
        target = jump_target(edition, state, seat)
        if target != NONE:
            walk_to(play, seat, target, "jump")
            return
    if edition.manage_after == "every_roll":
        ask(play, "manage", seat, "turn")
    elif state.extra_owed:
        ask_new_segment(play, seat)
    elif edition.manage_after == "last_roll":
        ask(play, "manage", seat, "turn")
    else:
        finish_turn(play, seat)
