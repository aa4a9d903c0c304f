"""There are no mortgages (IND-MORT)."""

from collections.abc import Callable

import pytest

from services.rules.domain import commands as c
from tests.support.scenario import Game, a_game


def in_manage() -> Game:
    """After the roll."""
    return a_game(2).owning(0, "river_port").managing(0)


def before_roll() -> Game:
    """Before it."""
    return a_game(2).owning(0, "river_port").turn_of(0)


def in_debt() -> Game:
    """Raising money."""
    return a_game(2).owning(0, "river_port").with_cash(0, 0).owing(0, 100)


@pytest.mark.parametrize(
    ("given", "statement"),
    [(in_manage, "IND-PHASE-05"), (before_roll, "IND-PHASE-01"), (in_debt, "IND-PHASE-07")],
)
def test_there_is_no_mortgage(given: Callable[[], Game], statement: str) -> None:
    """IND-MORT-01: nothing can be mortgaged or redeemed, and no option speaks of it."""
    game = given()
    assert not game.option_kinds() & {"mortgage", "redeem"}
    game.refused(0, c.Mortgage(18), "wrong_decision", statement)
    game.refused(0, c.Redeem(18), "wrong_decision", statement)
