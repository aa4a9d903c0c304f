"""Lines that are longer, or more, than a terminal has room for."""

from __future__ import annotations

from services.site.terminal.paint import in_columns, wrap


def test_a_long_line_is_broken_between_words() -> None:
    assert wrap("q leaves (the game is kept)", 14) == ["q leaves (the", "game is kept)"]


def test_a_line_that_fits_keeps_its_spaces() -> None:
    assert wrap("  two", 5) == ["  two"]


def test_entries_that_fit_stay_below_each_other() -> None:
    lines = ["Which one?", "  1  Farm", "  2  Mill", "  0  Back"]
    assert in_columns(lines, 80, 4) == lines


def test_too_many_entries_stand_side_by_side() -> None:
    """Down the first column, then down the next; the heading stays above; none is lost."""
    lines = ["Which one?", *(f"  {number}  Cell" for number in range(1, 6)), "  0  Back"]
    assert in_columns(lines, 40, 4) == [
        "Which one?",
        "  1  Cell             4  Cell",
        "  2  Cell             5  Cell",
        "  3  Cell             0  Back",
    ]


def test_no_room_at_all_shows_one_line_of_entries() -> None:
    assert in_columns(["  1  A", "  2  B"], 20, 0) == ["  1  A      2  B"]
