"""Offers between seats (IND-TRADE-01 to -22), direct sales in a debt (IND-DEBT-13, -20, -21), and settlements
(TAB-DEBT-05)."""

from typing import Literal

from services.rules.domain.commands import AcceptTrade, Basket, Command, OfferSettlement, OfferTrade
from services.rules.domain.edition import Edition
from services.rules.domain.events import (
    DeedMoved,
    MoneyMoved,
    PaymentClosed,
    ReleaseCardMoved,
    TradeClosed,
    TradeOffered,
)
from services.rules.domain.folds.seats import debt_of, open_trade
from services.rules.domain.moves.asking import ask, close, interrupt
from services.rules.domain.moves.money import pay_taxed
from services.rules.domain.moves.mortgages import pay_redemption, redemption, transfer_fee
from services.rules.domain.moves.trade_checks import (
    cost_of,
    deeds_refusal,
    fees_refusal,
    offer_refusal,
    received,
    settlement_refusal,
    sole_creditor,
)
from services.rules.domain.parties import BANK, NONE
from services.rules.domain.play import Play, refuse
from services.rules.domain.refusals import Refusal
from services.rules.domain.state import Claim, State, TradeFrame


def offer(play: Play, command: Command) -> Refusal | None:
    """Offers a deal; it can be neither withdrawn nor changed (IND-TRADE-09)."""
    edition, state, seat = play.edition, play.state, command.seat
    action = command.action
    if not isinstance(action, OfferTrade):
        return refuse(edition, "wrong_shape", "trade_shape", "no offer")
    refusal = offer_refusal(edition, state, seat, action)
    if refusal is not None:
        return refusal
    interrupt(play)
    play.emit(TradeOffered(state.next_trade, seat, action.to, action.give, action.get, action.redeem))
    return None


def offer_settlement(play: Play, command: Command) -> Refusal | None:
    """Offers the sole creditor something for the whole debt (TAB-DEBT-05)."""
    edition, state, seat = play.edition, play.state, command.seat
    action, debt = command.action, debt_of(play.state, command.seat)
    if not isinstance(action, OfferSettlement) or debt is None or not edition.settlement:
        return refuse(edition, "wrong_decision", "settlement", "debts are not settled in this edition")
    creditor = sole_creditor(debt)
    if creditor == NONE:
        return refuse(edition, "no_player_creditor", "settlement", "there is no single player to settle with")
    if state.cash[seat] >= debt.total:
        return refuse(edition, "within_reach", "settlement", "the cash covers the debt")
    refusal = settlement_refusal(edition, state, seat, creditor, action.give, debt)
    if refusal is not None:
        return refusal
    interrupt(play)
    play.emit(TradeOffered(state.next_trade, seat, creditor, action.give, Basket(), (), True))
    return None


def run_trade(play: Play, frame: TradeFrame) -> None:
    """The partner is asked (IND-TRADE-16)."""
    ask(play, "trade_answer", frame.to_seat, "answer")


def accept(play: Play, command: Command) -> Refusal | None:
    """Checked again, then carried out at once and completely, or void (IND-TRADE-09, BRA-TRADE-12, TAB-TRADE-12)."""
    edition, state = play.edition, play.state
    frame = open_trade(state)
    action = command.action
    redeem = action.redeem if isinstance(action, AcceptTrade) else ()
    if frame is None:
        return refuse(edition, "wrong_decision", "window_trade_answer", "no offer is open")
    if redeem and not edition.mortgage_transfer_fee:
        return refuse(edition, "bad_choice", "trade_redeem", "nothing is redeemed in a deal in this edition")
    if any([cell not in frame.give.cells or not state.mortgaged_rounds[cell] for cell in redeem]):
        return refuse(edition, "bad_choice", "trade_redeem", "only mortgaged deeds got are redeemed")
    if not _still_possible(edition, state, frame):
        close(play)
        play.emit(TradeClosed(frame.id, "void"))
        return None
    due = _due(edition, state, frame, redeem)
    if not _can_pay(state, frame, due):
        return refuse(edition, "not_enough_cash", "trade_fees", "fees must be covered", {"least": due})
    close(play)
    play.emit(TradeClosed(frame.id, "accepted", redeem))
    _carry_out(play, frame, redeem)
    return None


def _due(edition: Edition, state: State, frame: TradeFrame, redeem: tuple[int, ...]) -> int:
    """What the mortgaged deeds that the partner gets cost at once, in units."""
    return sum([cost_of(edition, cell, cell in redeem) for cell in frame.give.cells if state.mortgaged_rounds[cell]])


def _can_pay(state: State, frame: TradeFrame, due: int) -> bool:
    debt = debt_of(state, frame.from_seat) if frame.settles else None
    return state.cash[frame.to_seat] + received(frame.give, debt).cash - frame.get.cash >= due


def may_accept(edition: Edition, state: State, frame: TradeFrame) -> bool:
    """Whether accepting without redeeming is legal; an offer that has become impossible is void on acceptance."""
    if edition.mortgage_transfer_fee is None or not _still_possible(edition, state, frame):
        return True
    return _can_pay(state, frame, _due(edition, state, frame, ()))


def _still_possible(edition: Edition, state: State, frame: TradeFrame) -> bool:
    """Whether both sides still have what was offered."""
    if state.cash[frame.from_seat] < frame.give.cash or state.cash[frame.to_seat] < frame.get.cash:
        return False
    offered = OfferTrade(frame.to_seat, frame.give, frame.get)
    if deeds_refusal(edition, state, frame.from_seat, offered) is not None:
        return False
    debt = debt_of(state, frame.from_seat) if frame.settles else None
    give = received(frame.give, debt)
    return fees_refusal(edition, state, frame.from_seat, frame.to_seat, give, frame.get, frame.redeem) is None


def _carry_out(play: Play, frame: TradeFrame, redeem: tuple[int, ...]) -> None:
    """Money first, then deeds and cards, then what mortgaged deeds cost; a settlement closes its debt."""
    debt = debt_of(play.state, frame.from_seat) if frame.settles else None
    if debt is None:
        _move_cash(play, frame.from_seat, frame.to_seat, frame.give.cash)
        _move_cash(play, frame.to_seat, frame.from_seat, frame.get.cash)
    else:
        claim = Claim(frame.to_seat, frame.give.cash)
        pay_taxed(play, frame.from_seat, claim, "settlement", cell=debt.cell, card=debt.card, rate=debt.tax_rate)
        play.emit(PaymentClosed(debt.id, "settled"))
    reason: Literal["settlement", "trade"] = "settlement" if frame.settles else "trade"
    _hand_over(play, frame.give, frame.from_seat, frame.to_seat, reason)
    _hand_over(play, frame.get, frame.to_seat, frame.from_seat, reason)
    if play.edition.mortgage_transfer_fee:
        _pay_fees(play, frame.to_seat, frame.give.cells, redeem)
        _pay_fees(play, frame.from_seat, frame.get.cells, frame.redeem)


def _move_cash(play: Play, from_seat: int, to_seat: int, cash: int) -> None:
    if cash:
        play.emit(MoneyMoved(from_seat, to_seat, cash, "trade"))


def _hand_over(
    play: Play, basket: Basket, from_seat: int, to_seat: int, reason: Literal["settlement", "trade"]
) -> None:
    for cell in basket.cells:
        play.emit(DeedMoved(cell, from_seat, to_seat, reason))
    for deck in basket.release_cards:
        play.emit(ReleaseCardMoved(deck, from_seat, to_seat))


def _pay_fees(play: Play, seat: int, cells: tuple[int, ...], redeem: tuple[int, ...]) -> None:
    for cell in cells:
        if not play.state.mortgaged_rounds[cell]:
            continue
        if cell in redeem:
            pay_redemption(play, seat, cell, redemption(play.edition, cell))
        else:
            play.emit(MoneyMoved(seat, BANK, transfer_fee(play.edition, cell), "transfer_fee", cell))


def refuse_trade(play: Play, command: Command) -> Refusal | None:
    """Nothing moves."""
    frame = open_trade(play.state)
    if frame is None:
        return refuse(play.edition, "wrong_decision", "window_trade_answer", "no offer is open")
    close(play)
    play.emit(TradeClosed(frame.id, "refused"))
    return None
