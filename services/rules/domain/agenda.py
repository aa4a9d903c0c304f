"""Runs the agenda: the record on top goes on until the game waits for a decision or is over.

Closing a record continues the one below it, so nothing knows what it goes back to.
"""

from collections.abc import Callable
from typing import Any

from services.rules.domain.moves.auction import run_auction
from services.rules.domain.moves.effects import run_collect
from services.rules.domain.moves.leaving import run_leaving
from services.rules.domain.moves.money import run_payment
from services.rules.domain.moves.trade import run_trade
from services.rules.domain.moves.turn import run_roll, run_turn, start_next
from services.rules.domain.play import Play
from services.rules.domain.state import (
    AuctionFrame,
    CollectFrame,
    PaymentFrame,
    RollFrame,
    TradeFrame,
    TurnFrame,
)

RUNNERS: dict[type[Any], Callable[[Play, Any], None]] = {
    TurnFrame: run_turn,
    RollFrame: run_roll,
    CollectFrame: run_collect,
    PaymentFrame: run_payment,
    AuctionFrame: run_auction,
    TradeFrame: run_trade,
}

#: far more steps than any command takes; reaching it is a fault of the rules' code
STEPS_LIMIT = 1000


class AgendaStuckError(Exception):
    """The agenda does not come to rest: the command must not be committed."""


def run(play: Play) -> None:
    """Goes on until a decision is open or the game is over. Raises AgendaStuckError."""
    state = play.state
    for _ in range(STEPS_LIMIT):
        if state.ended:
            return
        if any(state.leaving) and run_leaving(play):
            continue
        if state.decision is not None:
            return
        if not state.agenda:
            start_next(play)
        else:
            frame = state.agenda[-1]
            RUNNERS[frame.__class__](play, frame)
    raise AgendaStuckError(f"after event {state.seq}: {state.agenda!r}")
