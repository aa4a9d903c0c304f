"""Colours of the terminal, or none."""

from __future__ import annotations

import re
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
