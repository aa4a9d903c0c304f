"""Moving tokens, and the salary (IND-MOVE-01 to -05)."""

from typing import Literal

from services.rules.domain.board import CELL_COUNT
from services.rules.domain.events import MoneyMoved, TokenMoved
from services.rules.domain.parties import BANK
from services.rules.domain.play import Play


def walk(play: Play, seat: int, steps: int, cause: Literal["dice", "card"]) -> None:
    """Moves forward; passing or reaching Start pays the salary once, before the landing (IND-MOVE-02, -03)."""
    from_cell = play.state.position[seat]
    to_cell = (from_cell + steps) % CELL_COUNT
    passed = from_cell + steps >= CELL_COUNT
    play.emit(TokenMoved(seat, from_cell, to_cell, cause, passed))
    if passed:
        pay_salary(play, seat)


def walk_to(play: Play, seat: int, cell: int) -> None:
    """Moves forward to a cell by card; from a cell to itself it is a whole lap."""
    steps = (cell - play.state.position[seat]) % CELL_COUNT
    walk(play, seat, steps or CELL_COUNT, "card")


def step_back(play: Play, seat: int, steps: int) -> None:
    """Moves back; never pays a salary (IND-MOVE-04, -05)."""
    from_cell = play.state.position[seat]
    play.emit(TokenMoved(seat, from_cell, (from_cell - steps) % CELL_COUNT, "card_back", False))


def jump(play: Play, seat: int, cell: int) -> None:
    """A direct trip passes nothing; only landing on Start pays (IND-CARD-08)."""
    play.emit(TokenMoved(seat, play.state.position[seat], cell, "trip", False))
    if cell == play.edition.board.start_cell:
        pay_salary(play, seat)


def pay_salary(play: Play, seat: int) -> None:
    """The bank pays the salary (IND-MOVE-02)."""
    play.emit(MoneyMoved(BANK, seat, play.edition.salary, "salary", play.edition.board.start_cell))
