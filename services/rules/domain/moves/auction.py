"""Buying a deed, and auctions (IND-BUY, IND-AUC, IND-OWNAUC, MET-AUC, BRA-AUC, TAB-AUC)."""

from functools import lru_cache

from services.rules.domain.commands import Bid, Command, OpenAuction
from services.rules.domain.edition import Edition
from services.rules.domain.events import (
    AuctionClosed,
    AuctionOpened,
    BidderAsked,
    BidderPassed,
    BidPlaced,
    BuildingBuilt,
    DeedMoved,
    DeedRedeemed,
    MoneyMoved,
    PaymentDue,
)
from services.rules.domain.folds.clock import LOT_DEADLINES
from services.rules.domain.folds.deeds import auction_frame
from services.rules.domain.folds.seats import clockwise, debt_of
from services.rules.domain.moves.asking import ask, ask_all, ask_until, close, interrupt, lift, set_deadline
from services.rules.domain.moves.checks import bad_cell, group_built
from services.rules.domain.moves.claims import next_cost, next_street, shortage_unsold
from services.rules.domain.moves.holdings import Holdings
from services.rules.domain.moves.money import bank_value, raisable
from services.rules.domain.moves.mortgages import redemption
from services.rules.domain.moves.payments import is_debt
from services.rules.domain.moves.trade_checks import trade_used
from services.rules.domain.options import AmountRange, LotChoice
from services.rules.domain.parties import BANK, NONE
from services.rules.domain.play import Play, refuse
from services.rules.domain.refusals import Refusal
from services.rules.domain.rulebook import Rule
from services.rules.domain.state import AuctionFrame, Claim, LotsFrame, MoneyReason, State

OPENING_STEP = 10
#: a bid with less left sets the clock of an open lot to this
LATE_BID_MS = 10_000
#: lots of the bank, whose winner may owe his bid where bids may exceed the cash
OWED_KINDS = ("declined", "lapse", "estate")


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
    close(play)
    auction_declined(play, command.seat)
    return None


def auction_declined(play: Play, seat: int) -> None:
    """Auctions the deed under the token: in turn, or open to all with paid bids (TAB-AUC-20)."""
    edition, state = play.edition, play.state
    cell = state.position[seat]
    others = clockwise(state, seat)
    opening = edition.opening_bid.of_price(edition.board.price[cell])
    if edition.auction_style == "open_cry_paid":
        play.emit(AuctionOpened(state.next_auction, "open_lot", cell, BANK, (*others, seat), opening))
        set_deadline(play, "open_lot")
        return
    if not edition.decliner_bids:
        bidders = others
    elif edition.first_asked == "decliner":
        bidders = (seat, *others)
    else:
        bidders = (*others, seat)
    play.emit(AuctionOpened(state.next_auction, "declined", cell, BANK, bidders, opening))
    _start_lot(play)


def _start_lot(play: Play) -> None:
    if play.edition.lot_s is not None:
        set_deadline(play, "lot")


def run_lots(play: Play, frame: LotsFrame) -> None:
    """Auctions the next deed of a queue; the ex-owner of a lapsed one bids last (BRA-MORT-08, TAB-BANK-02)."""
    edition, state = play.edition, play.state
    cell = frame.cells[0]
    bidders = clockwise(state, frame.after)
    if frame.kind == "lapse" and state.in_play[frame.after]:
        bidders = (*bidders, frame.after)
    opening = edition.opening_bid.of_price(edition.board.price[cell])
    play.emit(AuctionOpened(state.next_auction, frame.kind, cell, BANK, bidders, opening))
    _start_lot(play)


def least_bid(edition: Edition, frame: AuctionFrame) -> int:
    """The least next bid in units (IND-AUC-05, -06)."""
    return frame.amount + edition.bid_increment if frame.leader != NONE else frame.opening


def least_of(edition: Edition, state: State, frame: AuctionFrame, seat: int) -> int:
    """The least bid of one bidder: for a scarce building, not below its own next street's cost (TAB-BUILD-12)."""
    least = least_bid(edition, frame)
    return max(least, next_cost(edition, state, seat)) if frame.kind == "shortage" else least


def greatest_of(edition: Edition, state: State, frame: AuctionFrame, seat: int) -> int:
    """The most a seat may bid: its cash, or what it can raise (IND-AUC-08, BRA-AUC-10, TAB-AUC-07)."""
    if edition.bid_limit == "raisable" and frame.kind in OWED_KINDS:
        return raisable(edition, state, seat)
    return state.cash[seat]


def reach_of(edition: Edition, state: State, frame: AuctionFrame, seat: int) -> int:
    """What decides whether a bidder is passed at once: with property that may be sold while bidding, all that it brings
    (TAB-AUC-08)."""
    if edition.raise_in == "any" and frame.kind != "shortage":
        return raisable(edition, state, seat)
    return greatest_of(edition, state, frame, seat)


def bid_range(edition: Edition, state: State, frame: AuctionFrame, seat: int) -> AmountRange | None:
    """The bids that are legal for the asked seat now; None while its cash is too low."""
    least = least_of(edition, state, frame, seat)
    greatest = least if edition.bid_rule == "exact" else greatest_of(edition, state, frame, seat)
    if greatest_of(edition, state, frame, seat) < least:
        return None
    return AmountRange(least, greatest)


def run_auction(play: Play, frame: AuctionFrame) -> None:
    """Asks the next bidder, or closes (IND-AUC-04, -08 to -11, -15; a lot of the last pieces: TAB-BUILD-12)."""
    frame = _with_its_clock(play, frame)
    if frame.kind == "open_lot":
        _ask_all_bidders(play, frame)
        return
    rest = [seat for seat in frame.bidders if seat not in frame.passed]
    if frame.leader != NONE and rest == [frame.leader]:
        sell(play, frame)
    elif not rest:
        lift(play, frame.lot_deadline_id)
        play.emit(AuctionClosed(frame.id, NONE, 0, "no_bid"))
        if frame.kind == "shortage":
            shortage_unsold(play)
    else:
        _ask_next(play, frame, rest)


def _with_its_clock(play: Play, frame: AuctionFrame) -> AuctionFrame:
    """The lot, whose clock goes on with what was left when a pause stopped it (BRA-TIME-10)."""
    if frame.lot_deadline_id:
        return frame
    for kind in LOT_DEADLINES:
        if kind in play.state.clocks:
            set_deadline(play, kind)
    return auction_frame(play.state)


def _ask_next(play: Play, frame: AuctionFrame, rest: list[int]) -> None:
    edition, state = play.edition, play.state
    seat = _next_asked(frame, rest)
    least = least_of(edition, state, frame, seat)
    if state.leaving[seat]:
        play.emit(BidderPassed(seat, "leaving"))
    elif reach_of(edition, state, frame, seat) < least:
        play.emit(BidderPassed(seat, "no_money"))
    else:
        play.emit(BidderAsked(seat, least))
        if frame.leader == NONE and edition.lot_s is not None:
            ask_until(play, "auction_bid", seat, frame.lot_deadline_id)
        else:
            ask(play, "auction_bid", seat, "bid")


def _next_asked(frame: AuctionFrame, rest: list[int]) -> int:
    """The next one after the last asked, in the order of asking, who has neither passed nor leads; first of all who was
    interrupted while being asked (BRA-TIME-10)."""
    circle = frame.bidders
    if frame.asked in rest and frame.asked != frame.leader:
        return frame.asked
    start = circle.index(frame.asked) + 1 if frame.asked != NONE else 0
    for seat in circle[start:] + circle[:start]:
        if seat in rest and seat != frame.leader:
            return seat
    raise ValueError("nobody is left to ask")


def _ask_all_bidders(play: Play, frame: AuctionFrame) -> None:
    """Anybody but the leader may bid until time is up (TAB-AUC-20), or at once if nobody stays who could."""
    state = play.state
    seats = tuple([seat for seat in sorted(frame.bidders) if seat != frame.leader and not state.leaving[seat]])
    if seats:
        ask_all(play, "open_lot", seats, frame.lot_deadline_id)
    else:
        close_open_lot(play)


def sell(play: Play, frame: AuctionFrame) -> None:
    """The leader pays his own bid, or owes it, and gets the lot (IND-AUC-12, IND-OWNAUC-14, BRA-AUC-11)."""
    lift(play, frame.lot_deadline_id)
    play.emit(AuctionClosed(frame.id, frame.leader, frame.amount, "sold"))
    if frame.kind == "own":
        _pay_seller(play, frame)
    elif frame.kind == "shortage":
        _build_won(play, frame)
    elif play.state.cash[frame.leader] < frame.amount:
        claims = (Claim(BANK, frame.amount),)
        play.emit(PaymentDue(play.state.next_payment, frame.leader, claims, "auction", frame.cell))
    else:
        play.emit(MoneyMoved(frame.leader, BANK, frame.amount, "auction", frame.cell))
        play.emit(DeedMoved(frame.cell, BANK, frame.leader, "auction"))


def _build_won(play: Play, frame: AuctionFrame) -> None:
    """A piece won of the last ones is paid as bid and stands at once (TAB-BUILD-12)."""
    cell = next_street(play.state, frame.leader)
    play.emit(MoneyMoved(frame.leader, BANK, frame.amount, "build", cell))
    play.emit(BuildingBuilt(cell, play.state.levels[cell] + 1))


def _pay_seller(play: Play, frame: AuctionFrame) -> None:
    """Of a mortgaged lot the bank first gets the redemption, and it goes free of mortgage (BRA-OWNAUC-04)."""
    reason: MoneyReason = "own_auction"
    if play.state.mortgaged_rounds[frame.cell]:
        due = redemption(play.edition, frame.cell)
        play.emit(MoneyMoved(frame.leader, BANK, due, "redemption", frame.cell))
        play.emit(MoneyMoved(frame.leader, frame.seller, frame.amount - due, reason, frame.cell))
        play.emit(DeedRedeemed(frame.cell))
    else:
        play.emit(MoneyMoved(frame.leader, frame.seller, frame.amount, reason, frame.cell))
    play.emit(DeedMoved(frame.cell, frame.seller, frame.leader, "auction"))


def bid(play: Play, command: Command) -> Refusal | None:
    """A bid carries the price it means (IND-AUC-05, -06, -19)."""
    edition, state, seat = play.edition, play.state, command.seat
    action = command.action
    amount = action.amount if isinstance(action, Bid) else NONE
    frame = auction_frame(state)
    if frame.leader == seat:
        return refuse(edition, "already_leading", "bid_price", "the leader does not raise his own bid")
    least = least_of(edition, state, frame, seat)
    fields = {"least": least}
    rule: Rule = "bid_opening" if frame.leader == NONE else "bid_increment"
    if edition.bid_rule == "exact" and amount != least:
        return refuse(edition, "bid_not_exact", rule, f"the next bid is exactly {least}", fields)
    if amount < least:
        return refuse(edition, "bid_too_low", rule, f"the least bid is {least}", fields)
    greatest = greatest_of(edition, state, frame, seat)
    if amount > greatest:
        return refuse(edition, "bid_over_limit", "bid_cash", "more than may be bid", {"greatest": greatest})
    close(play)
    if frame.kind == "open_lot":
        _paid_bid(play, frame, seat, amount)
    else:
        lift(play, frame.lot_deadline_id)
        play.emit(BidPlaced(seat, amount))
    return None


def _paid_bid(play: Play, frame: AuctionFrame, seat: int, amount: int) -> None:
    """The whole bid is taken at once and lost; a late one puts the clock back (TAB-AUC-20)."""
    state = play.state
    play.emit(MoneyMoved(seat, BANK, amount, "auction", frame.cell))
    play.emit(BidPlaced(seat, amount))
    for deadline in state.deadlines:
        if deadline.id == frame.lot_deadline_id and deadline.due_at_ms - play.play_time_ms < LATE_BID_MS:
            lift(play, deadline.id)
            set_deadline(play, "open_lot", LATE_BID_MS)


def close_open_lot(play: Play) -> None:
    """Time is up: the leader, who has paid, has the deed, or it stays free (TAB-AUC-20)."""
    frame = auction_frame(play.state)
    close(play, "default")
    lift(play, frame.lot_deadline_id)
    if frame.leader == NONE:
        play.emit(AuctionClosed(frame.id, NONE, 0, "no_bid"))
    else:
        play.emit(AuctionClosed(frame.id, frame.leader, frame.amount, "sold"))
        if play.state.in_play[frame.leader]:
            play.emit(DeedMoved(frame.cell, BANK, frame.leader, "auction"))


def pass_bid(play: Play, command: Command) -> Refusal | None:
    """Out of this auction to its end (IND-AUC-07)."""
    close(play)
    play.emit(BidderPassed(command.seat, "choice"))
    return None


def lot_choices(edition: Edition, state: State, seat: int, held: Holdings) -> tuple[LotChoice, ...]:
    """Own deeds that the seat may put up now, with the openings allowed (IND-OWNAUC-02, -03, -19, BRA-OWNAUC-01)."""
    if not lots_are_open(edition, state, seat):
        return ()
    bare = held.mortgaged[seat] if edition.own_auction == "mortgaged" else held.bare[seat]
    if state.counters:
        scope = "debt" if debt_of(state, seat) is not None else "turn"
        bare = tuple([cell for cell in bare if (scope, "lot", (cell,)) not in state.counters])
    if edition.own_auction_opening != "seller":
        return tuple([LotChoice(cell, None) for cell in bare])
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
    """Puts an own deed up (IND-OWNAUC-01 to -11, BRA-OWNAUC-01 to -03)."""
    edition, state, seat = play.edition, play.state, command.seat
    action = command.action
    if not isinstance(action, OpenAuction) or edition.own_auction is None:
        return refuse(edition, "lot_not_allowed", "lot", "this edition has no auctions of own deeds")
    cell = action.cell
    in_debt = debt_of(state, seat) is not None
    refusal = bad_cell(edition, cell) or _lot_refusal(edition, state, seat, cell, in_debt)
    if refusal is not None:
        return refusal
    rule = edition.own_auction_opening
    if rule == "seller":
        allowed = openings(bank_value(edition, state, cell), richest_rival(state, seat))
        if not allowed.holds(action.opening_bid):
            fields = {"least": allowed.least, "greatest": allowed.greatest, "step": allowed.step}
            return refuse(edition, "opening_out_of_range", "lot_opening", "no such opening", fields)
        opening = action.opening_bid
    elif action.opening_bid or rule is None:
        return refuse(edition, "opening_out_of_range", "lot_opening", "the seller names no opening", {"greatest": 0})
    else:
        opening = rule.of_price(edition.board.price[cell])
    interrupt(play)
    play.emit(AuctionOpened(state.next_auction, "own", cell, seat, clockwise(state, seat), opening))
    _start_lot(play)
    return None


def lots_are_open(edition: Edition, state: State, seat: int) -> bool:
    """Deeds are put up in debts, not while a covered payment waits for `pay` (BRA-OWNAUC-02)."""
    debt = debt_of(state, seat)
    return debt is None or is_debt(edition, state, debt)


def _lot_refusal(edition: Edition, state: State, seat: int, cell: int, in_debt: bool) -> Refusal | None:
    if state.owners[cell] != seat:
        return refuse(edition, "not_owner", "lot", "only an own deed can be put up", {"cell": cell})
    if edition.own_auction == "mortgaged" and not state.mortgaged_rounds[cell]:
        return refuse(edition, "not_mortgaged", "lot", "only a mortgaged deed can be put up", {"cell": cell})
    if group_built(edition, state, cell):
        return refuse(edition, "built", "lot_bare", "the buildings of the group must be sold first", {"cell": cell})
    if not lots_are_open(edition, state, seat):
        return refuse(edition, "wrong_decision", "lot_window", "a payment that the cash covers is no debt")
    if not in_debt and edition.own_auction == "bare" and trade_used(edition, state, seat):
        return refuse(edition, "trade_limit_used", "lot_window", "this turn's trade is used")
    scope = "debt" if in_debt else "turn"
    if (scope, "lot", (cell,)) in state.counters:
        rule: Rule = "lot_once_debt" if in_debt else "lot_once_turn"
        return refuse(edition, "already_put_up", rule, f"the deed was already put up in this {scope}", {"cell": cell})
    return None
