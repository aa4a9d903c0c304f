"""state + event -> state. Only dispatches; the folds stand in `folds/`."""

from collections.abc import Callable, Iterable
from typing import Any

from services.rules.domain import events as e
from services.rules.domain.edition import Edition
from services.rules.domain.folds import clock, deals, deeds, game, turn
from services.rules.domain.state import State

#: each changes the state given, which the caller owns
FOLDS: dict[type[Any], Callable[[Edition, State, Any], None]] = {
    e.GameStarted: game.game_started,
    e.SeedDrawn: game.seed_drawn,
    e.FirstPlayerChosen: game.first_player_chosen,
    e.DeckShuffled: game.deck_shuffled,
    e.GameEnded: game.game_ended,
    e.TurnStarted: turn.turn_started,
    e.TurnEnded: turn.turn_ended,
    e.DiceRolled: turn.dice_rolled,
    e.MoveChosen: turn.move_chosen,
    e.TokenMoved: turn.token_moved,
    e.CasinoPlayed: turn.casino_played,
    e.BetDeclined: turn.bet_declined,
    e.Jailed: turn.jailed,
    e.JailTryFailed: turn.jail_try_failed,
    e.Released: turn.released,
    e.CardDrawn: turn.card_drawn,
    e.ReleaseCardMoved: turn.release_card_moved,
    e.TripRemembered: turn.trip_remembered,
    e.DeedDealt: deeds.deed_dealt,
    e.DeedMoved: deeds.deed_moved,
    e.DeedMortgaged: deeds.deed_mortgaged,
    e.DeedRedeemed: deeds.deed_redeemed,
    e.MortgageReminded: deeds.mortgage_reminded,
    e.BuildingBuilt: deeds.building_built,
    e.BuildingsSold: deeds.buildings_sold,
    e.BuildingDestroyed: deeds.building_destroyed,
    e.AuctionOpened: deeds.auction_opened,
    e.BidderAsked: deeds.bidder_asked,
    e.BidPlaced: deeds.bid_placed,
    e.BidderPassed: deeds.bidder_passed,
    e.AuctionClosed: deeds.auction_closed,
    e.ClaimsOpened: deeds.claims_opened,
    e.BuildingsClaimed: deeds.buildings_claimed,
    e.ClaimsClosed: deeds.claims_closed,
    e.RentClaimable: deals.rent_claimable,
    e.RentClaimClosed: deals.rent_claim_closed,
    e.TradeOffered: deals.trade_offered,
    e.TradeClosed: deals.trade_closed,
    e.PaymentDue: deals.payment_due,
    e.PaymentClosed: deals.payment_closed,
    e.MoneyMoved: deals.money_moved,
    e.Leaving: deals.leaving,
    e.Bankrupt: deals.bankrupt,
    e.SeatOut: deals.seat_out,
    e.DecisionOpened: clock.decision_opened,
    e.DecisionClosed: clock.decision_closed,
    e.DeadlineSet: clock.deadline_set,
    e.DeadlineStopped: clock.deadline_stopped,
    e.DeadlineLifted: clock.deadline_lifted,
    e.StrikeCounted: clock.strike_counted,
    e.StrikesCleared: clock.strikes_cleared,
    e.GapAsked: clock.gap_asked,
    e.GapClosed: clock.gap_closed,
    e.PauseAsked: clock.pause_asked,
    e.PauseVoted: clock.pause_voted,
    e.PauseStarted: clock.pause_started,
    e.ReturnConfirmed: clock.return_confirmed,
    e.PauseEnded: clock.pause_ended,
}


class UnknownEventError(Exception):
    """The log holds an event that this version does not fold: nothing after it can be known."""


def evolve(edition: Edition, state: State, event: e.Event) -> State:
    """The state after one event. `edition` is flat, of the version that the game began with."""
    return fold(edition, state, (event,))


def fold(edition: Edition, state: State, events: Iterable[e.Event]) -> State:
    """The state after some events; the state given stays as it was. Raises UnknownEventError."""
    after = state.copy()
    for event in events:
        apply = FOLDS.get(event.__class__)
        if apply is None:
            raise UnknownEventError(event.__class__.__name__)
        apply(edition, after, event)
        after.seq += 1
    return after
