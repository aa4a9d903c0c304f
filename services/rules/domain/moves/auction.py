"""Buying a deed, and auctions in turn (IND-BUY, IND-AUC, IND-OWNAUC)."""

from functools import lru_cache

from services.rules.domain.commands import Bid, Command, OpenAuction
from services.rules.domain.edition import Edition
from services.rules.domain.events import (
    AuctionClosed,
    AuctionOpened,
    BidderAsked,
    BidderPassed,
    BidPlaced,
    DeedMoved,
    MoneyMoved,
)
from services.rules.domain.folds.deeds import auction_frame
from services.rules.domain.folds.seats import clockwise, debt_of
from services.rules.domain.moves.asking import ask, ask_until, close, lift, set_deadline
from services.rules.domain.moves.checks import bad_cell, group_built
from services.rules.domain.moves.money import bank_value
from services.rules.domain.moves.trade import trade_used
from services.rules.domain.options import AmountRange, LotChoice
from services.rules.domain.parties import BANK, NONE
from services.rules.domain.play import Play, refuse
from services.rules.domain.refusals import Refusal
from services.rules.domain.rulebook import Rule
from services.rules.domain.state import AuctionFrame, MoneyReason, State

OPENING_STEP = 10


def buy(play: Play, command: Command) -> Refusal | None:
    """Buys for the price in cash (IND-BUY-01, -02)."""
    edition, state, seat = play.edition, play.state, command.seat
    cell = state.position[seat]
    price = edition.board.price[cell]
    if state.cash[seat] < price:
        return refuse(edition, "not_enough_cash", "buy_cash", "the price needs cash", {"least": price})
    close(play)
    play.emit(MoneyMoved(seat, BANK, price, "purchase", cell))
    play.emit(DeedMoved(cell, BANK, seat, "purchase"))
    return None


def decline(play: Play, command: Command) -> Refusal | None:
    """Declining always starts an auction (IND-AUC-01 to -03)."""
    edition, state, seat = play.edition, play.state, command.seat
    cell = state.position[seat]
    others = clockwise(state, seat)
    if not edition.decliner_bids:
        bidders = others
    elif edition.first_asked == "decliner":
        bidders = (seat, *others)
    else:
        bidders = (*others, seat)
    close(play)
    opening = edition.opening_bid.of_price(edition.board.price[cell])
    play.emit(AuctionOpened(state.next_auction, "declined", cell, BANK, bidders, opening))
    _start_lot(play)
    return None


def _start_lot(play: Play) -> None:
    if play.edition.lot_s is not None:
        set_deadline(play, "lot")


def least_bid(edition: Edition, frame: AuctionFrame) -> int:
    """The least next bid in units (IND-AUC-05, -06)."""
    return frame.amount + edition.bid_increment if frame.leader != NONE else frame.opening


def bid_range(edition: Edition, state: State, frame: AuctionFrame, seat: int) -> AmountRange:
    """The bids that are legal for the asked seat."""
    least = least_bid(edition, frame)
    return AmountRange(least, least if edition.bid_rule == "exact" else state.cash[seat])


def run_auction(play: Play, frame: AuctionFrame) -> None:
    """Asks the next bidder, or closes (IND-AUC-04, -08 to -11, -15)."""
    edition, state = play.edition, play.state
    rest = [seat for seat in frame.bidders if seat not in frame.passed]
    if frame.leader != NONE and rest == [frame.leader]:
        _sell(play, frame)
    elif not rest:
        lift(play, frame.lot_deadline_id)
        play.emit(AuctionClosed(frame.id, NONE, 0, "no_bid"))
    else:
        seat = _next_asked(frame, rest)
        least = least_bid(edition, frame)
        if state.leaving[seat]:
            play.emit(BidderPassed(seat, "leaving"))
        elif state.cash[seat] < least:
            play.emit(BidderPassed(seat, "no_money"))
        else:
            play.emit(BidderAsked(seat, least))
            if frame.leader == NONE and edition.lot_s is not None:
                ask_until(play, "auction_bid", seat, frame.lot_deadline_id)
            else:
                ask(play, "auction_bid", seat, "bid")


def _next_asked(frame: AuctionFrame, rest: list[int]) -> int:
    """The next one after the last asked, in the order of asking, who has neither passed nor leads."""
    circle = frame.bidders
    start = circle.index(frame.asked) + 1 if frame.asked != NONE else 0
    for seat in circle[start:] + circle[:start]:
        if seat in rest and seat != frame.leader:
            return seat
    raise ValueError("nobody is left to ask")


def _sell(play: Play, frame: AuctionFrame) -> None:
    """The leader pays his own bid and gets the deed (IND-AUC-12, IND-OWNAUC-14)."""
    lift(play, frame.lot_deadline_id)
    play.emit(AuctionClosed(frame.id, frame.leader, frame.amount, "sold"))
    reason: MoneyReason = "own_auction" if frame.kind == "own" else "auction"
    play.emit(MoneyMoved(frame.leader, frame.seller, frame.amount, reason, frame.cell))
    play.emit(DeedMoved(frame.cell, frame.seller, frame.leader, "auction"))


def bid(play: Play, command: Command) -> Refusal | None:
    """A bid carries the price it means (IND-AUC-05, -06, -19)."""
    edition, state, seat = play.edition, play.state, command.seat
    action = command.action
    amount = action.amount if isinstance(action, Bid) else NONE
    frame = auction_frame(state)
    least = least_bid(edition, frame)
    fields = {"least": least}
    if edition.bid_rule == "exact" and amount != least:
        rule: Rule = "bid_opening" if frame.leader == NONE else "bid_increment"
        return refuse(edition, "bid_not_exact", rule, f"the next bid is exactly {least}", fields)
    if amount < least:
        return refuse(edition, "bid_too_low", "bid_price", f"the least bid is {least}", fields)
    if amount > state.cash[seat]:
        return refuse(edition, "bid_over_limit", "bid_cash", "a bid needs cash", {"greatest": state.cash[seat]})
    close(play)
    lift(play, frame.lot_deadline_id)
    play.emit(BidPlaced(seat, amount))
    return None


def pass_bid(play: Play, command: Command) -> Refusal | None:
    """Out of this auction to its end (IND-AUC-07)."""
    close(play)
    play.emit(BidderPassed(command.seat, "choice"))
    return None


def lot_choices(edition: Edition, state: State, seat: int, bare: list[int]) -> tuple[LotChoice, ...]:
    """Own bare deeds that the seat may put up now, with the openings allowed (IND-OWNAUC-02, -03, -19, IND-DEBT-09)."""
    if state.counters:
        scope = "debt" if debt_of(state, seat) is not None else "turn"
        bare = [cell for cell in bare if (scope, "lot", (cell,)) not in state.counters]
    richest = richest_rival(state, seat)
    half_price = edition.board.half_price
    return tuple([LotChoice(cell, openings(half_price[cell], richest)) for cell in bare])


def richest_rival(state: State, seat: int) -> int:
    """The highest cash among rivals."""
    return max([cash for rival, cash in enumerate(state.cash) if rival != seat and state.in_play[rival]])


@lru_cache(maxsize=8192)
def openings(least: int, richest: int) -> AmountRange:
    """From the bank value in tens up to the richest rival's cash; the bank value always (IND-OWNAUC-10)."""
    return AmountRange(least, max(least, richest - (richest - least) % OPENING_STEP), OPENING_STEP)


def open_auction(play: Play, command: Command) -> Refusal | None:
    """Puts an own deed up (IND-OWNAUC-01 to -11)."""
    edition, state, seat = play.edition, play.state, command.seat
    action = command.action
    if not isinstance(action, OpenAuction) or edition.own_auction is None:
        return refuse(edition, "lot_not_allowed", "lot", "this edition has no auctions of own deeds")
    cell = action.cell
    in_debt = debt_of(state, seat) is not None
    refusal = bad_cell(edition, cell) or _lot_refusal(edition, state, seat, cell, in_debt)
    if refusal is not None:
        return refusal
    allowed = openings(bank_value(edition, state, cell), richest_rival(state, seat))
    if not allowed.holds(action.opening_bid):
        fields = {"least": allowed.least, "greatest": allowed.greatest, "step": allowed.step}
        return refuse(edition, "opening_out_of_range", "lot_opening", "no such opening", fields)
    close(play)
    bidders = clockwise(state, seat)
    play.emit(AuctionOpened(state.next_auction, "own", cell, seat, bidders, action.opening_bid))
    _start_lot(play)
    return None


def _lot_refusal(edition: Edition, state: State, seat: int, cell: int, in_debt: bool) -> Refusal | None:
    if state.owners[cell] != seat:
        return refuse(edition, "not_owner", "lot", "only an own deed can be put up", {"cell": cell})
    if group_built(edition, state, cell):
        return refuse(edition, "built", "lot_bare", "the buildings of the group must be sold first", {"cell": cell})
    if not in_debt and trade_used(edition, state, seat):
        return refuse(edition, "trade_limit_used", "lot_window", "this turn's trade is used")
    scope = "debt" if in_debt else "turn"
    if (scope, "lot", (cell,)) in state.counters:
        rule: Rule = "lot_once_debt" if in_debt else "lot_once_turn"
        return refuse(edition, "already_put_up", rule, f"the deed was already put up in this {scope}", {"cell": cell})
    return None
