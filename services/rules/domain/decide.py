"""state + command + play time -> events, or a refusal. Only dispatches; the rules stand in `moves/`."""

from typing import Any

from services.rules.domain import commands as c
from services.rules.domain.agenda import run
from services.rules.domain.edition import Edition
from services.rules.domain.events import Event, StrikesCleared
from services.rules.domain.moves import leaving, timeouts
from services.rules.domain.moves.pauses import is_paused
from services.rules.domain.play import Advance, Play, refuse
from services.rules.domain.refusals import Refusal
from services.rules.domain.rulebook import Rule
from services.rules.domain.state import AuctionFrame, Decision, State
from services.rules.domain.windows import (
    RULES,
    Move,
    anybody_raises,
    before_first_roll_only,
    moves_of,
    standing_moves,
)

SERVICE_MOVES: dict[type[Any], Move] = {c.Expire: timeouts.expire, c.Withdraw: leaving.withdraw}

#: no game commands: they do not clear strikes (BRA-TIME-07)
NO_GAME_COMMANDS = (c.AskPause, c.VotePause, c.ConfirmReturn)
#: what may be sent while the game stands still
WHILE_PAUSED = (c.ConfirmReturn, c.Surrender)
RAISERS = (c.SellBuildings, c.Mortgage)


def decide(edition: Edition, state: State, command: c.Command, play_time_ms: int) -> tuple[Event, ...] | Refusal:
    """The events of a command, or why it is refused. `edition` is flat; `play_time_ms` is the stamp at receipt."""
    result = advance(edition, state, command, play_time_ms)
    return result if isinstance(result, Refusal) else result.events


def advance(edition: Edition, state: State, command: c.Command, play_time_ms: int) -> Advance | Refusal:
    """As decide, with the state after the events, which has been made anyway. The state given stays as it was.

    Raises AgendaStuckError if the rules' code is at fault.
    """
    if state.ended:
        return refuse(edition, "game_over", "over", "the game is over")
    move = SERVICE_MOVES.get(command.action.__class__)
    from_seat = move is None
    if move is None:
        found = _admit(edition, state, command, play_time_ms)
        if isinstance(found, Refusal):
            return found
        move = found
    play = Play(edition, state.copy(), play_time_ms)
    refusal = move(play, command)
    if refusal is not None:
        return refusal
    if from_seat and state.strikes[command.seat] and not isinstance(command.action, NO_GAME_COMMANDS):
        play.emit(StrikesCleared(command.seat))
    run(play)
    return Advance(tuple(play.events), play.state)


def _admit(edition: Edition, state: State, command: c.Command, play_time_ms: int) -> Move | Refusal:
    """Whether the seat may say this now, and what its command does (IND-PHASE-10, IND-TIME-15)."""
    seat, decision = command.seat, state.decision
    kind = command.action.__class__
    if not 0 <= seat < len(state.in_play):
        return refuse(edition, "bad_choice", "out", "no such seat", {"seat": seat})
    if not state.in_play[seat]:
        return refuse(edition, "seat_out", "out", "the seat is out", {"seat": seat})
    if state.leaving[seat]:
        return refuse(edition, "seat_out", "out", "the seat is leaving", {"seat": seat})
    if kind not in ANSWERS:
        standing = _standing(edition, state, kind)
        if standing is not None:
            late = _late_sale(edition, state, command, play_time_ms) if kind in RAISERS else None
            return standing if late is None else late
    if decision is None or command.decision_id != decision.id:
        fields = {} if decision is None else {"decision_id": decision.id}
        return refuse(edition, "stale_decision", "moment", "another decision is open", fields)
    if decision.kind == "paused" and kind not in WHILE_PAUSED:
        return refuse(edition, "table_paused", "pause", "the game is paused")
    if seat not in decision.seats:
        return _not_asked(edition, state, seat, decision)
    move = moves_of(edition).get(decision.kind, {}).get(kind)
    if move is not None and kind is c.OfferTrade and before_first_roll_only(edition, state, seat):
        return refuse(edition, "wrong_decision", "trade_window", "the first roll of the turn has been made")
    if move is None:
        rule = _window(edition, state, seat, decision)
        return refuse(edition, "wrong_decision", rule, f"not an answer to {decision.kind}")
    late = _late(edition, state, decision, play_time_ms)
    return late if late is not None else move


#: commands that answer a decision and never stand by themselves
ANSWERS = frozenset(
    {
        c.Roll,
        c.PayFine,
        c.UseReleaseCard,
        c.ChooseMove,
        c.ChooseCell,
        c.Buy,
        c.Decline,
        c.PlaceBet,
        c.ChooseBuilding,
        c.Bid,
        c.Pass,
        c.OpenAuction,
        c.Build,
        c.Redeem,
        c.OfferTrade,
        c.OfferSettlement,
        c.AcceptTrade,
        c.RefuseTrade,
        c.Pay,
        c.SellToBank,
        c.DeclareBankruptcy,
        c.ChooseEstate,
        c.EndTurn,
        c.CloseGap,
        c.ClaimBuildings,
        c.ConfirmReturn,
    }
)


def _standing(edition: Edition, state: State, kind: type[Any]) -> Move | Refusal | None:
    """The move of a standing right; None where the command has to answer the open decision."""
    move = standing_moves(edition).get(kind)
    if move is None:
        return None
    if is_paused(state) and kind not in WHILE_PAUSED:
        return refuse(edition, "table_paused", "pause", "the game is paused")
    if kind in RAISERS and not anybody_raises(edition, state):
        return refuse(edition, "wrong_decision", "raise_window", "nothing is sold or mortgaged now")
    return move


def _late_sale(edition: Edition, state: State, command: c.Command, play_time_ms: int) -> Refusal | None:
    """Who may sell at any time still sells too late for a decision of its own whose time is up (TAB-TIME-04)."""
    decision = state.decision
    if decision is None or decision.seats != (command.seat,):
        return None
    return _late(edition, state, decision, play_time_ms)


def _late(edition: Edition, state: State, decision: Decision, play_time_ms: int) -> Refusal | None:
    if decision.deadline_id:
        for deadline in state.deadlines:
            if deadline.id == decision.deadline_id:
                late_ms = play_time_ms - deadline.due_at_ms - state.config.grace_ms
                if late_ms >= 0:
                    return refuse(edition, "stale_deadline", "in_time", "time was up", {"late_ms": late_ms})
    return None


def _not_asked(edition: Edition, state: State, seat: int, decision: Decision) -> Refusal:
    top = state.agenda[-1]
    if isinstance(top, AuctionFrame) and seat not in top.bidders:
        return refuse(edition, "excluded_bidder", "bidders", "the seat takes no part in this auction")
    if isinstance(top, AuctionFrame) and top.kind == "open_lot" and seat == top.leader:
        return refuse(edition, "already_leading", "bid_price", "the leader does not raise his own bid")
    return refuse(edition, "not_asked", "asked", "others are asked", {"seat": decision.seats[0]})


def _window(edition: Edition, state: State, seat: int, decision: Decision) -> Rule:
    if decision.kind == "roll" and state.jail_tries[seat] >= 0:
        return "window_jail"
    return RULES.get(decision.kind, "moment")
