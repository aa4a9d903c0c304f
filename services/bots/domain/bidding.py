"""Purchases and auctions: how far a seat goes for a deed, or for a piece of the bank."""

from services.bots.domain.building import rent_step
from services.bots.domain.dangers import reserve
from services.bots.domain.holdings import blocking_worth, completes, gain_of
from services.rules.domain.commands import Action, Bid, Buy, Decline, Pass
from services.rules.domain.edition import Edition
from services.rules.domain.options import AmountRange, Option
from services.rules.domain.parties import NONE
from services.rules.domain.state import AuctionFrame, ClaimsFrame, State

_MASK = (1 << 64) - 1
#: where bids are paid at once and lost, a bid is this part of what the lot is worth, at most
PAID_BID_PART = 3
#: where a bid may be higher than it must, the first ones go at once to this share of the price, in percent
EARLY_BID = 60


def taste(seed: int, cell: int) -> int:
    """A lasting liking of the seed for a cell, -6 to 6 percent, so that equal bots do not bid alike."""
    mixed = ((seed + 1) * 0x9E3779B97F4A7C15 + cell * 0xBF58476D1CE4E5B9) & _MASK
    mixed = ((mixed ^ (mixed >> 29)) * 0x94D049BB133111EB) & _MASK
    return (mixed >> 40) % 13 - 6


def spendable(edition: Edition, state: State, seat: int, cell: int) -> int:
    """Cash that may go into a deed: less of the reserve is kept where it completes a group."""
    kept = reserve(edition, state, seat)
    return state.cash[seat] - (kept // 4 if completes(edition, state, seat, cell) else kept)


def limit_for(edition: Edition, state: State, seat: int, cell: int, seed: int) -> int:
    """The most that a seat pays for a deed in a purchase or an auction."""
    worth = gain_of(edition, state, seat, cell) + blocking_worth(edition, state, seat, cell)
    return min(worth * (100 + taste(seed, cell)) // 100, spendable(edition, state, seat, cell))


def answer_purchase(edition: Edition, state: State, buy: Option | None, seat: int) -> Action:
    """Buys what leaves the reserve, otherwise sends the deed to auction."""
    cell = state.position[seat]
    if buy is not None and buy.amount <= spendable(edition, state, seat, cell):
        # Every deed is worth its price to whoever can spare it; taste decides auctions only.
        return Buy()
    return Decline()


def answer_auction(edition: Edition, state: State, bid: Option | None, seat: int, seed: int) -> Action | None:
    """A bid while the least one is within the limit; None where only silence passes."""
    lot = state.agenda[-1]
    is_open = isinstance(lot, AuctionFrame) and lot.kind == "open_lot"
    if bid is None or bid.range is None or not isinstance(lot, AuctionFrame):
        return None if is_open else Pass()
    if lot.kind == "shortage":
        limit = _piece_limit(edition, state, seat)
    else:
        limit = limit_for(edition, state, seat, lot.cell, seed)
    if is_open:
        limit //= PAID_BID_PART
    if bid.range.least <= limit:
        return Bid(bid.range.least if is_open else _bid_within(edition, lot, bid.range, limit))
    return None if is_open else Pass()


def _bid_within(edition: Edition, lot: AuctionFrame, amounts: AmountRange, limit: int) -> int:
    """The least bid, or a higher one where that is allowed and saves rounds of asking."""
    if edition.bid_rule == "exact" or lot.cell == NONE:
        return amounts.least
    early = min(limit, edition.board.price[lot.cell] * EARLY_BID // 100)
    wanted = early if amounts.least <= early else amounts.least + (limit - amounts.least) // 3
    step = max(1, edition.bid_increment)
    return min(amounts.least + (wanted - amounts.least) // step * step, amounts.greatest)


def _piece_limit(edition: Edition, state: State, seat: int) -> int:
    """A scarce building is worth its cost and the rent that it brings once."""
    for frame in reversed(state.agenda):
        if isinstance(frame, ClaimsFrame):
            for claim in frame.claims:
                if claim.seat == seat and claim.cells:
                    cell = claim.cells[0]
                    level = state.levels[cell]
                    worth = edition.board.build_cost[cell] + rent_step(edition, cell, level, level + 1)
                    return min(worth, state.cash[seat] - reserve(edition, state, seat))
    return 0
