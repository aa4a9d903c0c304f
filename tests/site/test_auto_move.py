"""Auto-move of the client, statement by statement."""

from __future__ import annotations

import pytest

from services.rules.domain.commands import EndTurn, Roll, UseReleaseCard
from services.rules.domain.options import Option
from services.site.terminal.auto_move import DELAY_MS, AutoMove, planned_action

FREE_ROLL = (Option(0, "roll"), Option(0, "sell_buildings"))
JAILED = (Option(0, "roll"), Option(0, "pay_fine", amount=50))
JAILED_WITH_CARD = (*JAILED, Option(0, "use_release_card"))
MANAGE = (Option(0, "end_turn"), Option(0, "build"), Option(0, "open_auction"))


def test_it_rolls_and_ends_the_turn() -> None:
    """IND-AUTO-01, IND-AUTO-10: also where something could be built or put up."""
    assert planned_action("roll", FREE_ROLL, 0) == Roll()
    assert planned_action("manage", MANAGE, 0) == EndTurn()


def test_in_inspection_it_uses_a_card_or_rolls() -> None:
    """IND-AUTO-02, IND-AUTO-03, IND-AUTO-08: it never pays the fine."""
    assert planned_action("roll", JAILED_WITH_CARD, 0) == UseReleaseCard()
    assert planned_action("roll", JAILED, 0) == Roll()


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("purchase", (Option(0, "buy", amount=60), Option(0, "decline"))),
        ("auction_bid", (Option(0, "bid"), Option(0, "pass"))),
        ("payment", (Option(0, "sell_to_bank"), Option(0, "declare_bankruptcy"))),
        ("trade_answer", (Option(0, "accept_trade"), Option(0, "refuse_trade"))),
        ("roll", (Option(1, "roll"),)),
        ("manage", (Option(1, "end_turn"),)),
    ],
)
def test_everything_else_is_the_players(kind: str, options: tuple[Option, ...]) -> None:
    """IND-AUTO-05, IND-AUTO-08, IND-AUTO-12: purchases, auctions, debts, offers, and what others are asked."""
    assert planned_action(kind, options, 0) is None


def test_it_is_off_at_first_and_switching_it_off_does_nothing_else() -> None:
    """IND-AUTO-11, IND-AUTO-04."""
    auto = AutoMove()
    assert auto.plan(1, "roll", FREE_ROLL, 0) is None
    assert auto.toggle()
    assert auto.plan(1, "roll", FREE_ROLL, 0) == Roll()
    assert not auto.toggle()
    assert auto.plan(1, "roll", FREE_ROLL, 0) is None


def test_a_press_keeps_the_present_decision_and_the_mode() -> None:
    """IND-AUTO-06, IND-AUTO-09: it plans again at the next decision."""
    auto = AutoMove()
    auto.toggle()
    assert auto.press(7)
    assert auto.plan(7, "manage", MANAGE, 0) is None
    assert auto.on
    assert auto.plan(8, "roll", FREE_ROLL, 0) == Roll()
    assert not auto.press(7)


def test_the_delay_is_seen() -> None:
    """IND-AUTO-09: 1.5 seconds."""
    assert DELAY_MS == 1_500
