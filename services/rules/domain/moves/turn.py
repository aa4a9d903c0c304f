"""Turns: who is next, rolling, moving, and landing on cells."""

from services.rules.domain import chance
from services.rules.domain.commands import Command
from services.rules.domain.events import (
    DiceRolled,
    Jailed,
    JailTryFailed,
    Released,
    TurnEnded,
    TurnStarted,
)
from services.rules.domain.folds.seats import clockwise
from services.rules.domain.folds.turn import DOUBLES_TO_JAIL
from services.rules.domain.moves.asking import ask, close
from services.rules.domain.moves.effects import draw_card
from services.rules.domain.moves.money import charge
from services.rules.domain.moves.rent import rent_due
from services.rules.domain.moves.walking import walk
from services.rules.domain.parties import BANK
from services.rules.domain.play import Play
from services.rules.domain.refusals import Refusal
from services.rules.domain.state import Claim, RollFrame, State, TurnFrame


def start_next(play: Play) -> None:
    """Passes the turn on, or gives the extra roll owed (IND-TURN-06, -07)."""
    state = play.state
    seat = state.turn_seat
    if state.extra_owed and state.in_play[seat]:
        play.emit(TurnStarted(seat, state.round, True))
        return
    following = clockwise(state, seat)[0]
    play.emit(TurnStarted(following, state.round + _round_grows(state, seat, following), False))


def _round_grows(state: State, seat: int, following: int) -> int:
    """1 if the turn passes to a place not after the last one's, counted from the first player (IND-TURN-09)."""
    count = len(state.in_play)
    place = (seat - state.first_seat) % count
    return int((following - state.first_seat) % count <= place)


def run_turn(play: Play, frame: TurnFrame) -> None:
    """Asks for the roll, or for what follows it; a turn whose player is out ends (IND-TURN-10)."""
    seat = frame.seat
    if not play.state.in_play[seat]:
        play.emit(TurnEnded(seat, "out"))
    else:
        ask(play, frame.stage, seat, "turn")


def roll(play: Play, command: Command) -> Refusal | None:
    """Rolls two dice (IND-DICE-01, IND-SETUP-15)."""
    state = play.state
    seat = command.seat
    config, draws = state.config, state.draws
    dice = (chance.draw(config, draws, 6) + 1, chance.draw(config, draws + 1, 6) + 1)
    close(play)
    play.emit(DiceRolled(seat, "move" if state.jail_tries[seat] < 0 else "jail", dice))
    return None


def end_turn(play: Play, command: Command) -> Refusal | None:
    """Ends the turn (IND-TURN-06)."""
    close(play)
    play.emit(TurnEnded(command.seat, "done"))
    return None


def run_roll(play: Play, frame: RollFrame) -> None:
    """Carries a roll out, stage by stage."""
    stage = frame.stage
    if stage == "landing":
        _land(play, frame)
    elif stage == "settled":
        ask(play, "manage", frame.seat, "turn")
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
    """The third double in a row goes to jail without moving (IND-DICE-03)."""
    if play.state.doubles == DOUBLES_TO_JAIL:
        play.emit(Jailed(frame.seat, "doubles"))
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
    walk(play, frame.seat, frame.dice[0] + frame.dice[1], "dice")


def _land(play: Play, frame: RollFrame) -> None:
    """Applies the cell (IND-MOVE-07). What interrupts settles the landing; otherwise the turn goes on at once."""
    state, board = play.state, play.edition.board
    seat = frame.seat
    cell = state.position[seat]
    kind = board.kind[cell]
    if board.is_deed[cell]:
        owner = state.owners[cell]
        if owner == BANK:
            ask(play, "purchase", seat, "turn")
            return
        if owner != seat:
            amount = rent_due(play.edition, state, cell)
            if amount:
                charge(play, seat, (Claim(owner, amount),), "rent", cell)
    elif kind == "card":
        draw_card(play, seat, board.deck_of[cell])
        return
    elif kind == "tax":
        charge(play, seat, (Claim(BANK, board.amount[cell]),), "tax", cell)
    elif kind == "goto_jail":
        play.emit(Jailed(seat, "cell"))
        return
    if state.decision is None and state.agenda[-1] is frame:
        ask(play, "manage", seat, "turn")
