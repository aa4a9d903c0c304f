"""What the expiry of a deadline does (IND-TIME-05 to -09, -13, -16, IND-BANK-06, -08)."""

from services.rules.domain.commands import Command, Expire
from services.rules.domain.events import AuctionClosed, BidderPassed, TradeClosed
from services.rules.domain.folds.deeds import auction_frame
from services.rules.domain.folds.seats import open_trade
from services.rules.domain.moves.asking import close, lift
from services.rules.domain.moves.leaving import leave
from services.rules.domain.parties import NONE
from services.rules.domain.play import Play, refuse
from services.rules.domain.refusals import Refusal


def expire(play: Play, command: Command) -> Refusal | None:
    """Ends a deadline that is in force and due; word of any other changes nothing (IND-TIME-16)."""
    edition, state = play.edition, play.state
    action = command.action
    deadline_id = action.deadline_id if isinstance(action, Expire) else NONE
    deadline = next((item for item in state.deadlines if item.id == deadline_id), None)
    if deadline is None:
        return refuse(edition, "stale_deadline", "expiry", "this deadline is not in force", {"deadline": deadline_id})
    left_ms = deadline.due_at_ms + state.config.grace_ms - play.play_time_ms
    if left_ms > 0:
        return refuse(edition, "not_due", "expiry", "there is play time left", {"left_ms": left_ms})
    if deadline.kind == "lot":
        _cancel_lot(play)
    elif deadline.kind == "bid":
        seat = auction_frame(state).asked
        close(play, "default")
        play.emit(BidderPassed(seat, "time"))
    elif deadline.kind == "answer":
        _offer_expired(play)
    else:
        _out_of_time(play)
    return None


def _cancel_lot(play: Play) -> None:
    """A lot without a bid is cancelled, though others were not asked yet (IND-AUC-14, IND-TIME-13)."""
    frame = auction_frame(play.state)
    close(play, "default")
    lift(play, frame.lot_deadline_id)
    play.emit(AuctionClosed(frame.id, NONE, 0, "cancelled"))


def _offer_expired(play: Play) -> None:
    """Silence is a refusal (IND-TRADE-16)."""
    offer = open_trade(play.state)
    close(play, "default")
    if offer is not None:
        play.emit(TradeClosed(offer.id, "expired"))


def _out_of_time(play: Play) -> None:
    """Whoever misses his decision is out; nothing is done for him (IND-TIME-05, -06)."""
    decision = play.state.decision
    if decision is not None:
        seat = decision.seats[0]
        close(play, "default")
        leave(play, seat, "time")
