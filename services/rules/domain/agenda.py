"""Runs the agenda: the record on top goes on until the game waits for a decision or is over.

Closing a record continues the one below it, so nothing knows what it goes back to.
"""

from collections.abc import Callable
from typing import Any

from services.rules.domain.moves.asking import close
from services.rules.domain.moves.auction import run_auction, run_lots
from services.rules.domain.moves.casino import run_demolition
from services.rules.domain.moves.claims import run_claims
from services.rules.domain.moves.effects import run_collect
from services.rules.domain.moves.estate_choice import run_estate
from services.rules.domain.moves.gaps import run_gap
from services.rules.domain.moves.leaving import run_leaving
from services.rules.domain.moves.pauses import run_pause, start_if_agreed
from services.rules.domain.moves.payments import run_payment, settles_itself
from services.rules.domain.moves.timeouts import run_out
from services.rules.domain.moves.trade import run_trade
from services.rules.domain.moves.turn import run_roll, run_turn, start_next
from services.rules.domain.play import Play
from services.rules.domain.state import (
    AuctionFrame,
    ClaimsFrame,
    CollectFrame,
    Decision,
    DemolitionFrame,
    EstateFrame,
    GapFrame,
    LotsFrame,
    PauseFrame,
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
    DemolitionFrame: run_demolition,
    LotsFrame: run_lots,
    GapFrame: run_gap,
    ClaimsFrame: run_claims,
    EstateFrame: run_estate,
    PauseFrame: run_pause,
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
        if state.vote is not None and start_if_agreed(play):
            continue
        decision = state.decision
        if decision is not None:
            if _rests(play, decision):
                return
        elif not state.agenda:
            start_next(play)
        else:
            frame = state.agenda[-1]
            RUNNERS[frame.__class__](play, frame)
    raise AgendaStuckError(f"after event {state.seq}: {state.agenda!r}")


def _rests(play: Play, decision: Decision) -> bool:
    """Whether the open decision is still to be answered; what answers itself, or has no time, is closed here."""
    state = play.state
    if decision.kind == "payment" and settles_itself(play.edition, state):
        close(play)
        return False
    if decision.kind == "gap" and not any([isinstance(frame, GapFrame) for frame in state.agenda]):
        close(play, "void")
        return False
    if decision.deadline_id:
        for deadline in state.deadlines:
            if deadline.id == decision.deadline_id and deadline.budget_ms == 0:
                run_out(play, deadline.kind)
                return False
    return True
