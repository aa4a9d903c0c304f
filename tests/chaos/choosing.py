"""What a scripted client does when its seat is asked: drawn from the legal actions that the decision lists."""

from __future__ import annotations

import random

from magnate.game.v1 import command_pb2, decision_pb2

from services.rules.codec.messages import read_decision, write_command
from services.rules.domain.commands import Command
from services.rules.domain.options import Option
from tests.support.play import action_of

#: what brings a game on, from the most to the least wanted
_LIKES = (
    "roll",
    "buy",
    "end_turn",
    "pass",
    "decline",
    "pay",
    "refuse_trade",
    "close_gap",
    "sell_buildings",
    "mortgage",
)
#: what would end a game, or let it stand
_LAST = frozenset({"declare_bankruptcy", "surrender", "ask_pause", "vote_pause", "ask_gap"})
_BOLD = 0.35


def choose(
    rng: random.Random, decision: decision_pb2.Decision, seat: int, command_id: str, *, bold: bool = True
) -> command_pb2.Command | None:
    """A command of the seat; None if nothing can be drawn. Bold: now and then anything that is legal."""
    known, options = read_decision(decision)
    mine = [option for option in options if option.seat == seat]
    for option in _in_order(rng, mine, bold=bold):
        action = action_of(rng, option)
        if action is not None:
            return command_pb2.Command.FromString(write_command(Command(seat, known.id, action), command_id))
    return None


def _in_order(rng: random.Random, options: list[Option], *, bold: bool) -> list[Option]:
    shuffled = rng.sample(options, len(options))
    shuffled.sort(key=lambda option: option.kind in _LAST)
    if bold and rng.random() < _BOLD:
        return shuffled
    liked = [option for name in _LIKES for option in shuffled if option.kind == name]
    return liked + [option for option in shuffled if option not in liked]
