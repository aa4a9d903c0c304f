"""Moving tokens, and the salary (IND-MOVE-01 to -05)."""

from typing import Literal

from services.rules.domain.board import CELL_COUNT
from services.rules.domain.edition import Edition
from services.rules.domain.events import MoneyMoved, TokenMoved
from services.rules.domain.moves.timing import salary_is_paid
from services.rules.domain.parties import BANK, NONE
from services.rules.domain.play import Play
from services.rules.domain.state import State

Forward = Literal["dice", "card", "jump"]


def walk(play: Play, seat: int, steps: int, cause: Forward) -> None:
    """Moves forward; passing or reaching Start pays the salary once, before the landing (IND-MOVE-02, -03)."""
    from_cell = play.state.position[seat]
    to_cell = (from_cell + steps) % CELL_COUNT
    passed = from_cell + steps >= CELL_COUNT
    play.emit(TokenMoved(seat, from_cell, to_cell, cause, passed))
    if passed:
        pay_salary(play, seat)


def walk_to(play: Play, seat: int, cell: int, cause: Forward = "card") -> None:
    """Moves forward to a cell; from a cell to itself it is a whole lap."""
    steps = (cell - play.state.position[seat]) % CELL_COUNT
    walk(play, seat, steps or CELL_COUNT, cause)


def step_back(play: Play, seat: int, steps: int) -> None:
    """Moves back; never pays a salary (IND-MOVE-04, -05)."""
    from_cell = play.state.position[seat]
    play.emit(TokenMoved(seat, from_cell, (from_cell - steps) % CELL_COUNT, "card_back", False))


def jump(play: Play, seat: int, cell: int, cause: Literal["trip", "teleport"]) -> None:
    """A direct trip passes nothing; only landing on Start pays (IND-CARD-08, MET-DICE-19, BRA-DICE-17)."""
    play.emit(TokenMoved(seat, play.state.position[seat], cell, cause, False))
    if cell == play.edition.board.start_cell:
        pay_salary(play, seat)


def jump_target(edition: Edition, state: State, seat: int) -> int:
    """Where the third die carries a token: the first unowned deed ahead, else the first of an opponent, else nowhere
    (MET-DICE-11, -14, -15, BRA-DICE-11 to -13)."""
    position = state.position[seat]
    ahead = [(position + step) % CELL_COUNT for step in range(1, CELL_COUNT)]
    deeds = [cell for cell in ahead if edition.board.is_deed[cell]]
    for cell in deeds:
        if state.owners[cell] == BANK:
            return cell
    seats = state.config.seats
    for cell in deeds:
        if seats[state.owners[cell]].team != seats[seat].team:
            return cell
    return NONE


def pay_salary(play: Play, seat: int) -> None:
    """The bank pays the salary (IND-MOVE-02), and a bonus for landing exactly on Start (BRA-MOVE-03), while it does."""
    edition, state = play.edition, play.state
    if not salary_is_paid(edition, state, play.play_time_ms):
        return
    start = edition.board.start_cell
    play.emit(MoneyMoved(BANK, seat, edition.salary, "salary", start))
    if edition.start_landing_bonus and state.position[seat] == start:
        play.emit(MoneyMoved(BANK, seat, edition.start_landing_bonus, "landing_bonus", start))
