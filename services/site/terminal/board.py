"""The board drawn: a ring of 40 cells with colours of groups and owners, levels and tokens, and room in the middle."""

from __future__ import annotations

from collections.abc import Sequence

from services.rules.domain.edition import Edition
from services.rules.domain.parties import BANK
from services.rules.domain.state import State
from services.site.terminal.names import Names
from services.site.terminal.paint import Paint, clip, width_of

SIDE = 10
LEAST_CELL_WIDTH = 6
MOST_CELL_WIDTH = 13
#: lines of the whole drawing: borders, and two for each row of cells
HEIGHT = 2 * (SIDE + 1) + 4
#: the least window for the drawing and a dialog below it
LEAST_COLUMNS = (SIDE + 1) * (LEAST_CELL_WIDTH + 1) + 1
LEAST_LINES = HEIGHT + 10
#: lines in its middle
MIDDLE = 2 * (SIDE - 1)

TOKENS = "①②③④⑤⑥⑦⑧"
#: an owner's sign at levels 0 to 5
LEVELS = " ▁▂▃▄█"


def cell_width(columns: int) -> int:
    """The width of a cell on a terminal of so many columns; 0 when the board does not fit."""
    width = (columns - 1) // (SIDE + 1) - 1
    return min(width, MOST_CELL_WIDTH) if width >= LEAST_CELL_WIDTH else 0


def draw_board(
    edition: Edition, view: State, names: Names, *, columns: int, middle: Sequence[str], paint: Paint
) -> list[str]:
    """The lines of the board with texts in its middle (the first ones, if there are too many); empty when the columns
    are too few."""
    width = cell_width(columns)
    if not width:
        return []
    drawn = [_cell(edition, view, names, index, width, paint) for index in range(4 * SIDE)]
    inner = (SIDE - 1) * (width + 1) - 1
    top, bottom = list(range(2 * SIDE, 3 * SIDE + 1)), list(range(SIDE, -1, -1))
    lines_of_middle = [clip(line, inner) for line in middle[:MIDDLE]]
    lines_of_middle += [""] * (MIDDLE - len(lines_of_middle))
    lines = [_border("┌", "┬", "┐", width)]
    lines += _row([drawn[index] for index in top])
    lines.append(_border("├", "┴", "┤", width, ends="┼"))
    for row in range(SIDE - 1):
        left, right = drawn[2 * SIDE - 1 - row], drawn[3 * SIDE + 1 + row]
        for part in (0, 1):
            text = lines_of_middle[2 * row + part]
            padding = " " * (inner - width_of(text))
            lines.append(f"│{left[part]}│{text}{padding}│{right[part]}│")
    lines.append(_border("├", "┬", "┤", width, ends="┼"))
    lines += _row([drawn[index] for index in bottom])
    lines.append(_border("└", "┴", "┘", width))
    return lines


def _border(left: str, between: str, right: str, width: int, *, ends: str = "") -> str:
    joints = [between] * SIDE
    if ends:
        joints[0] = joints[-1] = ends
    parts = [left]
    for number in range(SIDE + 1):
        parts.append("─" * width)
        parts.append(joints[number] if number < SIDE else right)
    return "".join(parts)


def _row(cells: Sequence[tuple[str, str]]) -> list[str]:
    return ["│" + "│".join(cell[part] for cell in cells) + "│" for part in (0, 1)]


def _cell(edition: Edition, view: State, names: Names, index: int, width: int, paint: Paint) -> tuple[str, str]:
    """The two lines of a cell: its name on the colour of its group; then owner and level, or price, and tokens."""
    name = clip(names.bare_cell(index), width).ljust(width)
    tokens = "".join(TOKENS[seat] for seat, place in enumerate(view.position) if place == index and view.in_play[seat])
    owner = view.owners[index]
    if owner != BANK:
        sign = "m" if view.mortgaged_rounds[index] else LEVELS[view.levels[index]]
        left = f"{owner + 1}{sign}".rstrip()
        shown = paint.seat(left, owner)
    else:
        price = edition.board.price[index]
        left = shown = str(price) if price else ""
    room = width - len(left)
    if len(tokens) > room:
        # Tokens matter more than the price, of many the first ones stand for all.
        tokens = tokens[: room - 1] + "+"
    return paint.group(name, names.colour(index)), shown + " " * (room - len(tokens)) + paint.bold(tokens)
