"""Purchases and auctions: how far a seat goes for a deed."""

from services.bots.domain.dangers import reserve
from services.bots.domain.holdings import blocking_worth, completes, gain_of
from services.rules.domain.commands import Action, Bid, Buy, Decline, Pass
from services.rules.domain.edition import Edition
from services.rules.domain.options import Option
from services.rules.domain.state import AuctionFrame, State

_MASK = (1 << 64) - 1


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
    """The least bid while it is within the limit; None where only silence passes."""
    lot = state.agenda[-1]
    if bid is None or bid.range is None or not isinstance(lot, AuctionFrame):
        return Pass()
    if bid.range.least <= limit_for(edition, state, seat, lot.cell, seed):
        return Bid(bid.range.least)
    return None if lot.kind == "open_lot" else Pass()
