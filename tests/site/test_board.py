"""The board drawn in a terminal, and the texts in its middle."""

from __future__ import annotations

import pytest

from services.rules.domain.options import AmountRange, Option
from services.rules.domain.state import AuctionFrame, Claim, PaymentFrame, State
from services.rules.domain.view import view
from services.site.terminal.board import HEIGHT, cell_width, draw_board
from services.site.terminal.paint import Paint, clip, width_of
from services.site.terminal.position import Position
from services.site.terminal.standings import property_lines, standings
from tests.site.examples import names_in
from tests.support.bot_games import flat_edition, new_bot_game

PLAIN = Paint(on=False)


def _state() -> State:
    state = view(new_bot_game(flat_edition(), seats=3, seed=1))
    state.position[0], state.position[1], state.position[2] = 0, 10, 39
    state.owners[39], state.levels[39] = 2, 3
    state.owners[1] = 0
    state.cash[:] = [1440, 1500, 900]
    state.turn_seat = 0
    return state


@pytest.mark.parametrize(("columns", "expected"), [(77, 0), (78, 6), (100, 8), (132, 10), (300, 13)])
def test_cells_are_as_wide_as_the_terminal_allows(columns: int, expected: int) -> None:
    """Eleven cells and their borders, or no board."""
    assert cell_width(columns) == expected


@pytest.mark.parametrize("columns", [78, 100, 160])
@pytest.mark.parametrize("paint", [PLAIN, Paint(on=True)])
def test_the_board_is_a_rectangle(columns: int, paint: Paint) -> None:
    """Every line has one width, with and without colours and whatever stands in the middle."""
    middle = ["a line in the middle that is much longer than there is room for " * 3] * 30
    lines = draw_board(flat_edition(), _state(), names_in("uk"), columns=columns, middle=middle, paint=paint)
    assert len(lines) == HEIGHT
    assert {width_of(line) for line in lines} == {11 * (cell_width(columns) + 1) + 1}


def test_owners_levels_prices_and_tokens_are_shown() -> None:
    """Start is at the lower right, the jail at the lower left; the last cell is above Start."""
    lines = draw_board(flat_edition(), _state(), names_in("en"), columns=100, middle=[], paint=PLAIN)
    assert lines[-3].endswith("│Bread S…│Start   │")
    assert lines[-2].endswith("│1       │       ①│")
    assert lines[-2].startswith("│       ②│")
    assert lines[-6].endswith("│Robotic…│")
    assert lines[-5].endswith("│3▃     ③│")
    assert lines[2].startswith("│        │220     │")


def test_a_narrow_terminal_gets_no_board() -> None:
    """Then the standings alone are shown."""
    assert draw_board(flat_edition(), _state(), names_in("en"), columns=60, middle=[], paint=PLAIN) == []


def test_the_standings_tell_cash_property_supply() -> None:
    """IND-UI-07, IND-UI-20: what each has, whose turn it is, what is left in the bank."""
    lines = standings(Position(flat_edition(), _state(), ()), names_in("en"), PLAIN)
    assert lines[1] == "► ① Ada                    1440  1"
    assert lines[3] == "  ③ Bot #3                  900  1+3"
    assert lines[4] == "In the bank: 32 small and 12 large buildings"


def test_an_auction_and_a_debt_are_told_in_full() -> None:
    """IND-UI-20: lot, bid, bidder, next price, passed; IND-UI-23: sum, creditor, cash, what is missing."""
    state = _state()
    auction = AuctionFrame(1, "declined", 3, -1, (0, 1, 2), 45, passed=(2,), asked=0, leader=1, amount=55)
    debt = PaymentFrame(1, 2, (Claim(0, 1000),), "rent", 1, "", 0)
    state.agenda = [*state.agenda, auction, debt]
    options = (Option(0, "bid", range=AmountRange(65, 65, 10)),)
    lines = standings(Position(flat_edition(), state, options), names_in("en"), PLAIN)
    assert lines[-2:] == [
        "Auction of «Flour Mill»: 55 by Bot #2, next 65, passed: Bot #3",
        "Bot #3 owes 1000 to Ada (rent), has 900, lacks 100",
    ]


def test_the_own_property_is_listed_by_group() -> None:
    """Cash, and each group with how much of it is owned."""
    position = Position(flat_edition(), _state(), ())
    assert property_lines(position, names_in("en"), 0) == ["Your property: cash 1440", "  Bakery 1/3: Bread Stall"]
    assert property_lines(position, names_in("en"), 2)[1].endswith("1/3: Robotics Laboratory (level 3)")


def test_colours_do_not_count_and_are_dropped_when_cut() -> None:
    """What is cut cannot leave the terminal in a colour."""
    painted = Paint(on=True).bold("abcdef")
    assert width_of(painted) == 6
    assert clip(painted, 6) == painted
    assert clip(painted, 4) == "abc…"
