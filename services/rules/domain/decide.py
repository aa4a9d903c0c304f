"""state + command + play time -> events, or a refusal. Only dispatches; the rules stand in `moves/`."""

from collections.abc import Callable
from typing import Any

from services.rules.domain import commands as c
from services.rules.domain.agenda import run
from services.rules.domain.edition import Edition
from services.rules.domain.events import Event
from services.rules.domain.moves import auction, building, debt, jail, leaving, timeouts, trade, turn
from services.rules.domain.play import Advance, Play, refuse
from services.rules.domain.refusals import Refusal
from services.rules.domain.rulebook import Rule
from services.rules.domain.state import AuctionFrame, Decision, DecisionKind, State

Move = Callable[[Play, c.Command], Refusal | None]

#: decision -> command -> what it does
MOVES: dict[DecisionKind, dict[type[Any], Move]] = {
    "roll": {
        c.Roll: turn.roll,
        c.PayFine: jail.pay_fine,
        c.UseReleaseCard: jail.use_release_card,
        c.SellBuildings: building.sell_buildings,
    },
    "purchase": {
        c.Buy: auction.buy,
        c.Decline: auction.decline,
        c.SellBuildings: building.sell_buildings,
    },
    "manage": {
        c.Build: building.build,
        c.SellBuildings: building.sell_buildings,
        c.OfferTrade: trade.offer,
        c.OpenAuction: auction.open_auction,
        c.EndTurn: turn.end_turn,
    },
    "auction_bid": {c.Bid: auction.bid, c.Pass: auction.pass_bid},
    "trade_answer": {c.AcceptTrade: trade.accept, c.RefuseTrade: trade.refuse_trade},
    "payment": {
        c.SellBuildings: building.sell_buildings,
        c.OpenAuction: auction.open_auction,
        c.OfferTrade: trade.offer,
        c.SellToBank: debt.sell_to_bank,
        c.DeclareBankruptcy: debt.declare_bankruptcy,
    },
}

#: rule that a command breaks which the open decision does not take
WINDOWS: dict[DecisionKind, Rule] = {
    "roll": "window_roll",
    "purchase": "window_purchase",
    "manage": "window_manage",
    "auction_bid": "window_auction",
    "trade_answer": "window_trade_answer",
    "payment": "window_payment",
}

SERVICE_MOVES: dict[type[Any], Move] = {c.Expire: timeouts.expire, c.Withdraw: leaving.withdraw}


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
    if move is None:
        found = _admit(edition, state, command, play_time_ms)
        if isinstance(found, Refusal):
            return found
        move = found
    play = Play(edition, state.copy(), play_time_ms)
    refusal = move(play, command)
    if refusal is not None:
        return refusal
    run(play)
    return Advance(tuple(play.events), play.state)


def _admit(edition: Edition, state: State, command: c.Command, play_time_ms: int) -> Move | Refusal:
    """Whether the seat may answer now, and what its command does (IND-PHASE-10, IND-TIME-15)."""
    seat, decision = command.seat, state.decision
    if not 0 <= seat < len(state.in_play):
        return refuse(edition, "bad_choice", "out", "no such seat", {"seat": seat})
    if not state.in_play[seat]:
        return refuse(edition, "seat_out", "out", "the seat is out", {"seat": seat})
    if decision is None or command.decision_id != decision.id:
        fields = {} if decision is None else {"decision_id": decision.id}
        return refuse(edition, "stale_decision", "moment", "another decision is open", fields)
    if seat not in decision.seats:
        return _not_asked(edition, state, seat, decision)
    move = MOVES.get(decision.kind, {}).get(command.action.__class__)
    if move is None:
        rule = _window(state, seat, decision)
        return refuse(edition, "wrong_decision", rule, f"not an answer to {decision.kind}")
    if decision.deadline_id:
        for deadline in state.deadlines:
            if deadline.id == decision.deadline_id:
                late_ms = play_time_ms - deadline.due_at_ms - state.config.grace_ms
                if late_ms >= 0:
                    return refuse(edition, "stale_deadline", "in_time", "time was up", {"late_ms": late_ms})
    return move


def _not_asked(edition: Edition, state: State, seat: int, decision: Decision) -> Refusal:
    top = state.agenda[-1]
    if isinstance(top, AuctionFrame) and seat not in top.bidders:
        return refuse(edition, "excluded_bidder", "bidders", "the seat takes no part in this auction")
    return refuse(edition, "not_asked", "asked", "others are asked", {"seat": decision.seats[0]})


def _window(state: State, seat: int, decision: Decision) -> Rule:
    if decision.kind == "roll" and state.jail_tries[seat] >= 0:
        return "window_jail"
    return WINDOWS.get(decision.kind, "moment")
