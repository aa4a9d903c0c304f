"""Folds of deeds, buildings and auctions."""

from dataclasses import replace

from services.rules.domain.edition import Edition
from services.rules.domain.events import (
    AuctionClosed,
    AuctionOpened,
    BidderAsked,
    BidderPassed,
    BidPlaced,
    BuildingBuilt,
    BuildingDestroyed,
    BuildingsSold,
    DeedMortgaged,
    DeedMoved,
    DeedRedeemed,
)
from services.rules.domain.folds.seats import debt_of
from services.rules.domain.folds.turn import set_roll_stage
from services.rules.domain.parties import BANK
from services.rules.domain.state import AuctionFrame, State


def move_pieces(edition: Edition, state: State, from_level: int, to_level: int) -> None:
    """Exchanges the pieces of two levels with the supply (IND-BUILD-06, -09, -17)."""
    if state.supply_houses < 0:
        return
    top = edition.houses_under_hotel + 1
    houses_before = 0 if from_level == top else from_level
    houses_after = 0 if to_level == top else to_level
    state.supply_houses += houses_before - houses_after
    state.supply_hotels += (from_level == top) - (to_level == top)


def deed_moved(edition: Edition, state: State, event: DeedMoved) -> None:
    """To the bank a deed goes bare (IND-BUILD-09, IND-DEBT-15, IND-BANK-01); memories about it end (IND-TRADE-18).

    A purchase settles the landing; until then collapsing buildings comes back to it (IND-BUY-04).
    """
    cell = event.cell
    state.owners[cell] = event.to_party
    if event.reason == "purchase":
        set_roll_stage(state, "settled")
    if event.to_party == BANK:
        if state.levels[cell]:
            move_pieces(edition, state, state.levels[cell], 0)
            state.levels[cell] = 0
        state.mortgaged_rounds[cell] = 0
    if state.counters:
        stale = [key for key in state.counters if key[1] == "offer" and cell in key[2][2:]]
        for key in stale:
            del state.counters[key]


def deed_mortgaged(edition: Edition, state: State, event: DeedMortgaged) -> None:
    """The round is kept for the lapse."""
    state.mortgaged_rounds[event.cell] = event.round


def deed_redeemed(edition: Edition, state: State, event: DeedRedeemed) -> None:
    """No mortgage any more."""
    state.mortgaged_rounds[event.cell] = 0


def building_built(edition: Edition, state: State, event: BuildingBuilt) -> None:
    """IND-BUILD-13: the visit's build is used, whatever is sold later."""
    cell = event.cell
    move_pieces(edition, state, state.levels[cell], event.level)
    state.levels[cell] = event.level
    if edition.build_limit == "visit":
        state.counters[("visit", "build", (state.owners[cell],))] = 1


def buildings_sold(edition: Edition, state: State, event: BuildingsSold) -> None:
    """Pieces go back to the supply; those that remain under a hotel come out of it."""
    move_pieces(edition, state, event.from_level, event.to_level)
    state.levels[event.cell] = event.to_level


def building_destroyed(edition: Edition, state: State, event: BuildingDestroyed) -> None:
    """As a sale without refund."""
    move_pieces(edition, state, state.levels[event.cell], event.level)
    state.levels[event.cell] = event.level


def auction_opened(edition: Edition, state: State, event: AuctionOpened) -> None:
    """A declined deed settles the landing; an own lot counts for its turn or debt (IND-OWNAUC-19, IND-DEBT-09)."""
    set_roll_stage(state, "settled")
    state.agenda.append(
        AuctionFrame(event.auction_id, event.kind, event.cell, event.seller, event.bidders, event.opening)
    )
    state.next_auction = event.auction_id + 1
    if event.kind == "own":
        scope = "turn" if debt_of(state, event.seller) is None else "debt"
        state.counters[(scope, "lot", (event.cell,))] = 1


def auction_frame(state: State) -> AuctionFrame:
    """The open auction, which is always on top."""
    top = state.agenda[-1]
    if not isinstance(top, AuctionFrame):
        raise ValueError("no auction is open")
    return top


def bidder_asked(edition: Edition, state: State, event: BidderAsked) -> None:
    """Whose turn in the auction it is."""
    state.agenda[-1] = replace(auction_frame(state), asked=event.seat)


def bid_placed(edition: Edition, state: State, event: BidPlaced) -> None:
    """Only the highest bid stands (IND-AUC-11)."""
    state.agenda[-1] = replace(auction_frame(state), leader=event.seat, amount=event.amount)


def bidder_passed(edition: Edition, state: State, event: BidderPassed) -> None:
    """A pass is final (IND-AUC-07)."""
    frame = auction_frame(state)
    state.agenda[-1] = replace(frame, asked=event.seat, passed=(*frame.passed, event.seat))


def auction_closed(edition: Edition, state: State, event: AuctionClosed) -> None:
    """What was interrupted goes on."""
    state.agenda.pop()
