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
    BuildingsClaimed,
    BuildingsSold,
    ClaimsClosed,
    ClaimsOpened,
    DeedDealt,
    DeedMortgaged,
    DeedMoved,
    DeedRedeemed,
    MortgageReminded,
)
from services.rules.domain.folds.seats import MARK, debt_of
from services.rules.domain.folds.turn import set_roll_stage
from services.rules.domain.parties import BANK
from services.rules.domain.state import (
    AuctionFrame,
    AuctionKind,
    BuildingClaim,
    ClaimsFrame,
    DemolitionFrame,
    EstateFrame,
    LotsFrame,
    State,
    TurnFrame,
)


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

    A purchase settles the landing; until then collapsing buildings comes back to it (IND-BUY-04). What lapses or is
    left to the bank may be auctioned (BRA-MORT-08, TAB-BANK-02), and an heir of mortgages pays for them (TAB-BANK-04).
    """
    cell = event.cell
    state.owners[cell] = event.to_party
    if event.to_party == BANK and event.reason in ("lapse", "estate"):
        _queue_lot(edition, state, event)
    elif event.reason == "estate" and edition.mortgage_transfer_fee and state.mortgaged_rounds[cell]:
        _inherit(state, event)
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


def _queue_lot(edition: Edition, state: State, event: DeedMoved) -> None:
    """Lapsed deeds and a bankrupt's are auctioned where the edition says so (BRA-MORT-08, TAB-BANK-02)."""
    if event.reason == "lapse":
        bottom = state.agenda[0]
        if isinstance(bottom, TurnFrame):
            state.agenda = [TurnFrame(bottom.seat, "end"), *[f for f in state.agenda if isinstance(f, LotsFrame)]]
        if edition.mortgage_lapse != "auction":
            return
    elif edition.estate_to_bank.usual != "auction":
        return
    kind: AuctionKind = "lapse" if event.reason == "lapse" else "estate"
    top = state.agenda[-1] if state.agenda else None
    if isinstance(top, LotsFrame) and top.kind == kind and top.after == event.from_party:
        state.agenda[-1] = LotsFrame(kind, (*top.cells, event.cell), top.after)
    else:
        state.agenda.append(LotsFrame(kind, (event.cell,), event.from_party))


def _inherit(state: State, event: DeedMoved) -> None:
    """The heir of mortgaged deeds chooses what to redeem (TAB-BANK-04)."""
    top = state.agenda[-1] if state.agenda else None
    if isinstance(top, EstateFrame) and top.seat == event.to_party:
        state.agenda[-1] = EstateFrame(top.seat, (*top.cells, event.cell))
    else:
        state.agenda.append(EstateFrame(event.to_party, (event.cell,)))


def deed_dealt(edition: Edition, state: State, event: DeedDealt) -> None:
    """A deed dealt at the start (TAB-SETUP-12, BRA-SETUP-09)."""
    state.owners[event.cell] = event.seat


def deed_mortgaged(edition: Edition, state: State, event: DeedMortgaged) -> None:
    """The round is kept for the lapse."""
    state.mortgaged_rounds[event.cell] = event.round


def deed_redeemed(edition: Edition, state: State, event: DeedRedeemed) -> None:
    """No mortgage any more."""
    state.mortgaged_rounds[event.cell] = 0


def mortgage_reminded(edition: Edition, state: State, event: MortgageReminded) -> None:
    """A word to the owner; nothing changes (MET-MORT-07)."""


def building_built(edition: Edition, state: State, event: BuildingBuilt) -> None:
    """IND-BUILD-13: the visit's build is used, whatever is sold later."""
    cell = event.cell
    move_pieces(edition, state, state.levels[cell], event.level)
    state.levels[cell] = event.level
    limit = edition.build_limit
    if limit == "visit":
        state.counters[("visit", "build", (state.owners[cell],))] = MARK
    elif limit is not None:
        state.counters[("turn", "build", (build_scope(edition, cell),))] = MARK
    _fill_claim(state, cell)


def build_scope(edition: Edition, cell: int) -> int:
    """The cell that stands for what one allowance of building holds for: the street, or its group's first one."""
    return edition.board.group_of_cell[cell][0] if edition.build_limit == "group_turn" else cell


def _fill_claim(state: State, cell: int) -> None:
    """A claimed piece that was placed is claimed no more (TAB-BUILD-12)."""
    top = state.agenda[-1] if state.agenda else None
    if isinstance(top, ClaimsFrame) and not top.open:
        owner = state.owners[cell]
        claims = [BuildingClaim(claim.seat, claim.cells[1:]) if claim.seat == owner else claim for claim in top.claims]
        state.agenda[-1] = replace(top, claims=tuple(claims))


def buildings_sold(edition: Edition, state: State, event: BuildingsSold) -> None:
    """Pieces go back to the supply; those that remain under a hotel come out of it."""
    move_pieces(edition, state, event.from_level, event.to_level)
    state.levels[event.cell] = event.to_level


def building_destroyed(edition: Edition, state: State, event: BuildingDestroyed) -> None:
    """As a sale without refund; the card has done its work (BRA-CARD-11)."""
    move_pieces(edition, state, state.levels[event.cell], event.level)
    state.levels[event.cell] = event.level
    state.agenda = [frame for frame in state.agenda if not isinstance(frame, DemolitionFrame)]


def auction_opened(edition: Edition, state: State, event: AuctionOpened) -> None:
    """A declined deed settles the landing; an own lot counts for its turn or debt (IND-OWNAUC-19, IND-DEBT-09)."""
    if event.kind in ("declined", "open_lot"):
        set_roll_stage(state, "settled")
    elif event.kind in ("lapse", "estate"):
        _take_lot(state)
    state.agenda.append(
        AuctionFrame(event.auction_id, event.kind, event.cell, event.seller, event.bidders, event.opening)
    )
    state.next_auction = event.auction_id + 1
    if event.kind == "own":
        scope = "turn" if debt_of(state, event.seller) is None else "debt"
        state.counters[(scope, "lot", (event.cell,))] = MARK


def _take_lot(state: State) -> None:
    """The next lot of the queue is being auctioned."""
    top = state.agenda[-1]
    if isinstance(top, LotsFrame):
        if len(top.cells) == 1:
            state.agenda.pop()
        else:
            state.agenda[-1] = LotsFrame(top.kind, top.cells[1:], top.after)


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
    state.clocks.pop("bid", None)
    state.agenda[-1] = replace(frame, asked=event.seat, passed=(*frame.passed, event.seat))


def auction_closed(edition: Edition, state: State, event: AuctionClosed) -> None:
    """What was interrupted goes on."""
    state.agenda.pop()


def claims_opened(edition: Edition, state: State, event: ClaimsOpened) -> None:
    """The order that opened the window is its sender's claim (TAB-BUILD-12)."""
    claims = (BuildingClaim(event.orderer, event.cells),)
    state.agenda.append(ClaimsFrame(event.orderer, event.hotels, event.seats, claims))


def _claims_frame(state: State) -> ClaimsFrame:
    return next(frame for frame in reversed(state.agenda) if isinstance(frame, ClaimsFrame))


def buildings_claimed(edition: Edition, state: State, event: BuildingsClaimed) -> None:
    """A seat has answered; the claims stand in seat order from the orderer."""
    frame = _claims_frame(state)
    count = len(state.in_play)
    claims = sorted(
        (*frame.claims, BuildingClaim(event.seat, event.cells)), key=lambda claim: (claim.seat - frame.orderer) % count
    )
    waiting = tuple(seat for seat in frame.waiting if seat != event.seat)
    index = state.agenda.index(frame)
    state.agenda[index] = replace(frame, waiting=waiting, claims=tuple(claims), open=bool(waiting))


def claims_closed(edition: Edition, state: State, event: ClaimsClosed) -> None:
    """What was interrupted goes on; without a bid the orderer orders no more of this kind in this turn."""
    frame = _claims_frame(state)
    state.agenda.remove(frame)
    if event.locked:
        state.counters[("turn", "kind_locked", (frame.orderer, int(frame.hotels)))] = MARK
