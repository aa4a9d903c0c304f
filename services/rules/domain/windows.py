"""Which commands answer which decision in an edition: the windows of docs/rules/parameters.md."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from services.rules.domain import commands as c
from services.rules.domain.edition import Edition
from services.rules.domain.moves import (
    auction,
    building,
    casino,
    claims,
    estate_choice,
    gaps,
    jail,
    mortgages,
    pauses,
    payments,
    trade,
    turn,
)
from services.rules.domain.moves.leaving import surrender
from services.rules.domain.parameters import Window
from services.rules.domain.play import Play
from services.rules.domain.refusals import Refusal
from services.rules.domain.rulebook import Rule
from services.rules.domain.state import AuctionFrame, DecisionKind, State

Move = Callable[[Play, c.Command], Refusal | None]
Moves = dict[type[Any], Move]

#: decision -> the window that it opens for its actor
WINDOW_OF: dict[DecisionKind, Window] = {
    "roll": "roll",
    "bus_choice": "choice",
    "teleport_choice": "choice",
    "purchase": "purchase",
    "manage": "manage",
    "payment": "payment",
    "gap": "gap",
}

#: what a decision takes in every edition that opens it
ALWAYS: dict[DecisionKind, Moves] = {
    "roll": {c.Roll: turn.roll, c.PayFine: jail.pay_fine, c.UseReleaseCard: jail.use_release_card},
    "bus_choice": {c.ChooseMove: turn.choose_move},
    "teleport_choice": {c.ChooseCell: turn.choose_cell},
    "purchase": {c.Buy: auction.buy, c.Decline: auction.decline},
    "casino_bet": {c.PlaceBet: casino.place_bet, c.Decline: casino.decline_bet},
    "demolition_choice": {c.ChooseBuilding: casino.choose_building},
    "manage": {c.EndTurn: turn.end_turn},
    "auction_bid": {c.Bid: auction.bid, c.Pass: auction.pass_bid},
    "open_lot": {c.Bid: auction.bid},
    "payment": {c.DeclareBankruptcy: payments.declare_bankruptcy},
    "trade_answer": {c.AcceptTrade: trade.accept, c.RefuseTrade: trade.refuse_trade},
    "estate_choice": {c.ChooseEstate: estate_choice.choose_estate},
    "gap": {c.CloseGap: gaps.close_gap},
    "building_claim": {c.ClaimBuildings: claims.claim},
    "paused": {c.ConfirmReturn: pauses.confirm_return},
}

#: windows in which the actor may sell and mortgage where only the actor may (docs/rules/parameters.md, `raise_in`)
RAISING: tuple[DecisionKind, ...] = (
    "roll",
    "purchase",
    "bus_choice",
    "teleport_choice",
    "manage",
    "payment",
    "estate_choice",
)

#: rule that a command breaks which the open decision does not take
RULES: dict[DecisionKind, Rule] = {
    "roll": "window_roll",
    "bus_choice": "window_choice",
    "teleport_choice": "window_choice",
    "purchase": "window_purchase",
    "casino_bet": "window_casino",
    "demolition_choice": "window_demolition",
    "manage": "window_manage",
    "auction_bid": "window_auction",
    "open_lot": "window_auction",
    "trade_answer": "window_trade_answer",
    "payment": "window_payment",
    "estate_choice": "estate",
    "gap": "gap",
    "building_claim": "build_claim",
    "paused": "pause",
}


@lru_cache(maxsize=256)
def moves_of(edition: Edition) -> dict[DecisionKind, Moves]:
    """decision -> command -> what it does, for the actor of the decision."""
    return {kind: {**moves, **_by_window(edition, kind)} for kind, moves in ALWAYS.items()}


def _by_window(edition: Edition, kind: DecisionKind) -> Moves:
    moves: Moves = {}
    window = WINDOW_OF.get(kind)
    if kind in RAISING and edition.raise_in == "own":
        moves[c.SellBuildings] = building.sell_buildings
        if edition.mortgage is not None:
            moves[c.Mortgage] = mortgages.mortgage
    if window is None:
        return moves
    if window in edition.build_in:
        moves[c.Build] = building.build
        if edition.mortgage is not None:
            moves[c.Redeem] = mortgages.redeem
    if offers_in(edition, window):
        moves[c.OfferTrade] = trade.offer
    if window in edition.own_auction_in:
        moves[c.OpenAuction] = auction.open_auction
    if window == "payment":
        moves.update(_payment_moves(edition))
    return moves


def offers_in(edition: Edition, window: Window) -> bool:
    """Whether the actor may offer deals in the window; before the first roll is a part of `roll` (TAB-TRADE-09)."""
    windows = edition.trade_in.full | edition.trade_in.sale
    return window in windows or (window == "roll" and "first_roll" in windows)


def _payment_moves(edition: Edition) -> Moves:
    moves: Moves = {}
    if edition.sell_to_bank:
        moves[c.SellToBank] = payments.sell_to_bank
    if edition.settlement:
        moves[c.OfferSettlement] = trade.offer_settlement
    if edition.payment_confirm is not None:
        moves[c.Pay] = payments.pay
    return moves


@lru_cache(maxsize=256)
def standing_moves(edition: Edition) -> Moves:
    """Commands that a seat in play may send without being asked."""
    moves: Moves = {}
    if edition.raise_in == "any":
        moves[c.SellBuildings] = building.sell_buildings
        if edition.mortgage is not None:
            moves[c.Mortgage] = mortgages.mortgage
    if edition.give_up == "always":
        moves[c.Surrender] = surrender
    if gaps.has_gaps(edition):
        moves[c.AskGap] = gaps.ask_gap
    if edition.rent_claim == "on_demand":
        moves[c.ClaimRent] = gaps.claim_rent
    if edition.pause is not None:
        moves[c.AskPause] = pauses.ask_pause
        moves[c.VotePause] = pauses.vote_pause
    return moves


def anybody_raises(edition: Edition, state: State) -> bool:
    """Whether every seat may sell and mortgage now: not while pieces are claimed or bid for, nor in an open lot."""
    decision = state.decision
    if edition.raise_in != "any" or decision is None or decision.kind in ("building_claim", "open_lot", "paused"):
        return False
    top = state.agenda[-1]
    return not (isinstance(top, AuctionFrame) and top.kind == "shortage")


def before_first_roll_only(edition: Edition, state: State, seat: int) -> bool:
    """Whether deals are closed because the turn's first roll has been made (TAB-TRADE-09)."""
    if "first_roll" not in edition.trade_in.full or "roll" in edition.trade_in.full:
        return False
    return ("turn", "rolled", (seat,)) in state.counters
