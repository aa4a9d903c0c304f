"""Colours of the terminal, or none."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

_SEATS = (196, 33, 40, 208, 129, 44, 226, 201)
_ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
_RESET = "\x1b[0m"
_BRIGHT = 140


@dataclass(frozen=True, slots=True)
class Paint:
    """Puts colours around texts when `on`."""

    on: bool

    def seat(self, text: str, seat: int) -> str:
        """In the colour of a seat."""
        return f"\x1b[1;38;5;{_SEATS[seat % len(_SEATS)]}m{text}{_RESET}" if self.on and text else text

    def group(self, text: str, colour: str) -> str:
        """On the colour of a group, #rrggbb."""
        if not self.on or len(colour) != 7:
            return text
        red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
        # Weights of the eye for the three colours.
        dark = red * 0.3 + green * 0.59 + blue * 0.11 < _BRIGHT
        return f"\x1b[48;2;{red};{green};{blue};{'97' if dark else '30'}m{text}{_RESET}"

    def bold(self, text: str) -> str:
        """In bold."""
        return f"\x1b[1m{text}{_RESET}" if self.on and text else text

    def dim(self, text: str) -> str:
        """Less visible."""
        return f"\x1b[2m{text}{_RESET}" if self.on and text else text

    def notice(self, text: str) -> str:
        """In the colour of the auto-move button."""
        return f"\x1b[1;33m{text}{_RESET}" if self.on and text else text


def width_of(text: str) -> int:
    """Columns that a text takes, its colours not counted."""
    return len(_ESCAPE.sub("", text))


def clip(text: str, width: int) -> str:
    """The text in at most so many columns; one with colours loses them when it is cut."""
    if width_of(text) <= width:
        return text
    return _ESCAPE.sub("", text)[: max(0, width - 1)] + "…"


def wrap(text: str, width: int) -> list[str]:
    """The text in as many lines of at most so many columns as it takes; spaces at its beginning stay."""
    if width_of(text) <= width:
        return [text]
    return textwrap.wrap(text, max(1, width), break_on_hyphens=False) or [""]


def in_columns(lines: Sequence[str], width: int, height: int) -> list[str]:
    """Entries of a list (the lines that begin with spaces) side by side, as far as so many lines are too few."""
    heading = [line for line in lines if not line.startswith(" ")]
    entries = [line for line in lines if line.startswith(" ")]
    room = max(1, height - len(heading))
    columns = -(-len(entries) // room)
    if columns <= 1:
        return list(lines)
    rows, each = -(-len(entries) // columns), max(1, width // columns)
    cut = [clip(entry, each - 1) for entry in entries]
    beside = ["".join(cell + " " * (each - width_of(cell)) for cell in cut[row::rows]).rstrip() for row in range(rows)]
    return [*heading, *beside]
