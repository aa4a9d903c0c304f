"""Folds of money, payments, trades and seats that go out."""

from dataclasses import replace

from services.rules.domain.edition import Edition
from services.rules.domain.events import (
    Bankrupt,
    Leaving,
    MoneyMoved,
    PaymentClosed,
    PaymentDue,
    RentClaimable,
    RentClaimClosed,
    SeatOut,
    TradeClosed,
    TradeOffered,
)
from services.rules.domain.folds.seats import count_down_if_back, debt_of, without_seat
from services.rules.domain.folds.turn import forget, set_roll_stage
from services.rules.domain.parties import BANK, JACKPOT, NONE
from services.rules.domain.state import (
    Claim,
    CollectFrame,
    CounterKey,
    DemolitionFrame,
    EstateFrame,
    Frame,
    GapFrame,
    PauseFrame,
    PaymentFrame,
    RentClaim,
    RollFrame,
    State,
    TradeFrame,
)


def money_moved(edition: Edition, state: State, event: MoneyMoved) -> None:
    """IND-INV-01: only the two sides change, by the same amount."""
    if event.payer >= 0:
        state.cash[event.payer] -= event.amount
    elif event.payer == JACKPOT:
        state.jackpot -= event.amount
    if event.payee >= 0:
        state.cash[event.payee] += event.amount
    elif event.payee == JACKPOT:
        state.jackpot += event.amount
    if event.reason == "card" and event.payer >= 0:
        _payer_done(state, event.payer)


def _payer_done(state: State, payer: int) -> None:
    """A payer of a collecting card has paid, or owes a payment of his own now."""
    top = state.agenda[-1] if state.agenda else None
    if isinstance(top, CollectFrame) and payer in top.payers:
        rest = without_seat(top, payer)
        if rest is None:
            state.agenda.pop()
        else:
            state.agenda[-1] = rest


def payment_due(edition: Edition, state: State, event: PaymentDue) -> None:
    """What follows the payment waits below it."""
    top = state.agenda[-1]
    if isinstance(top, RollFrame):
        set_roll_stage(state, "fine_due" if top.stage == "fine" else "settled")
    else:
        _payer_done(state, event.payer)
    state.agenda.append(
        PaymentFrame(
            event.payment_id,
            event.payer,
            event.claims,
            event.reason,
            event.cell,
            event.card,
            event.tax_rate,
            edition.insolvent_at_once is not None,
        )
    )
    state.next_payment = event.payment_id + 1


def payment_closed(edition: Edition, state: State, event: PaymentClosed) -> None:
    """The allowances of the debt end with it (IND-OWNAUC-20)."""
    state.agenda = [
        frame for frame in state.agenda if not (isinstance(frame, PaymentFrame) and frame.id == event.payment_id)
    ]
    forget(state, "debt")
    state.clocks.pop("payment", None)


def trade_offered(edition: Edition, state: State, event: TradeOffered) -> None:
    """IND-TRADE-15: where offers count, the trade of the turn is used at the moment of proposing."""
    state.agenda.append(
        TradeFrame(event.trade_id, event.from_seat, event.to_seat, event.give, event.get, event.redeem, event.settles)
    )
    state.next_trade = event.trade_id + 1
    in_debt = debt_of(state, event.from_seat) is not None
    if in_debt and outside_turn(edition, state, event.from_seat):
        _count(state, ("debt", "offers", (event.from_seat,)))
    elif not in_debt or counts_in_turn(edition):
        if edition.trade_counts == "offers":
            _count(state, ("turn", "trade", (event.from_seat,)))
        _count(state, ("turn", "offer_made", (event.from_seat,)))


def counts_in_turn(edition: Edition) -> bool:
    """Whether offers in a debt of the own turn count for the turn; else only refusals are counted (IND-DEBT-20)."""
    return edition.debt_trade_limit is not None and edition.debt_trade_limit.counts == "offers"


def outside_turn(edition: Edition, state: State, seat: int) -> bool:
    """A debtor outside the own turn has an allowance of its own (MET-TRADE-09, BRA-TRADE-11, TAB-TRADE-12)."""
    return counts_in_turn(edition) and seat != state.turn_seat


def _count(state: State, key: CounterKey) -> None:
    state.counters[key] = state.counters.get(key, 0) + 1


def trade_closed(edition: Edition, state: State, event: TradeClosed) -> None:
    """Refusals are remembered (IND-TRADE-18, -19, IND-DEBT-20); a deal may use up the trade (IND-TRADE-17)."""
    frame = next(frame for frame in state.agenda if isinstance(frame, TradeFrame) and frame.id == event.trade_id)
    state.agenda.remove(frame)
    if state.clocks and not any([isinstance(other, GapFrame) for other in state.agenda]):
        state.clocks.pop("answer", None)
    in_debt = debt_of(state, frame.from_seat) is not None
    if event.outcome == "accepted":
        if edition.trade_counts == "deals" and not in_debt:
            _count(state, ("turn", "trade", (frame.from_seat,)))
    elif event.outcome in ("refused", "expired"):
        _remember_refusal(edition, state, frame, in_debt)


def _remember_refusal(edition: Edition, state: State, frame: TradeFrame, in_debt: bool) -> None:
    seats = state.config.seats
    get_cell = frame.get.cells[0] if frame.get.cells else NONE
    give_cell = frame.give.cells[0] if frame.give.cells else NONE
    money = frame.give.cash - frame.get.cash
    if edition.repeat_offer_step and seats[frame.to_seat].kind == "bot":
        state.counters[("game", "offer", (frame.from_seat, frame.to_seat, get_cell, give_cell))] = money
    if (
        edition.bot_offers is not None
        and seats[frame.from_seat].kind == "bot"
        and seats[frame.to_seat].kind == "person"
    ):
        named = frame.get.cells or frame.give.cells
        for cell in named:
            state.counters[("game", "silence", (frame.from_seat, frame.to_seat, cell))] = state.round
    if in_debt and not counts_in_turn(edition):
        _count(state, ("debt", "refused", (frame.from_seat,)))
        if edition.repeat_offer_step:
            state.counters[("debt", "sale", (frame.to_seat, give_cell))] = frame.get.cash


def rent_claimable(edition: Edition, state: State, event: RentClaimable) -> None:
    """Nothing is due until the owner asks (TAB-RENT-11)."""
    claim = RentClaim(event.visitor, event.cell, event.owner, event.amount, event.rate)
    state.rent_claims = (*state.rent_claims, claim)


def rent_claim_closed(edition: Edition, state: State, event: RentClaimClosed) -> None:
    """Claimed or lapsed."""
    state.rent_claims = tuple(
        [claim for claim in state.rent_claims if (claim.visitor, claim.cell) != (event.visitor, event.cell)]
    )


def leaving(edition: Edition, state: State, event: Leaving) -> None:
    """Acted on when no lot is open; who left by himself gets no points for it (BRA-WIN-08)."""
    state.leaving[event.seat] = event.reason
    count_down_if_back(state)
    if event.reason in ("surrender", "strikes"):
        state.counters[("game", "left", (event.seat,))] = 1


def bankrupt(edition: Edition, state: State, event: Bankrupt) -> None:
    """What follows is told by events of its own."""


def seat_out(edition: Edition, state: State, event: SeatOut) -> None:
    """IND-INV-12: nothing is left of the seat, nor an extra roll owed to it (IND-TURN-10); claims of it go to the bank
    (IND-DEBT-24), and a vote for a pause goes on without it (BRA-TIME-08)."""
    seat = event.seat
    state.in_play[seat] = False
    state.out_order = (*state.out_order, seat)
    state.jail_tries[seat] = NONE
    state.release_cards[seat] = ()
    state.strikes[seat] = 0
    state.leaving[seat] = ""
    if seat == state.turn_seat:
        state.extra_owed = False
    kept = [_frame_without(frame, seat) for frame in state.agenda]
    state.agenda = [frame for frame in kept if frame is not None]
    state.counters.pop(("turn", "gap", (seat,)), None)
    if state.clocks and not any([isinstance(frame, GapFrame) for frame in state.agenda]):
        state.clocks.pop("answer", None)
    if state.rent_claims:
        state.rent_claims = tuple([claim for claim in state.rent_claims if seat not in (claim.visitor, claim.owner)])
    if state.vote is not None:
        state.vote = replace(state.vote, yes=tuple([voter for voter in state.vote.yes if voter != seat]))
    count_down_if_back(state)


def _frame_without(frame: Frame, seat: int) -> Frame | None:
    if isinstance(frame, RollFrame):
        return None if frame.seat == seat else frame
    if isinstance(frame, CollectFrame):
        return without_seat(frame, seat)
    if isinstance(frame, PaymentFrame):
        claims = tuple(Claim(BANK, claim.amount) if claim.payee == seat else claim for claim in frame.claims)
        return replace(frame, claims=claims)
    if isinstance(frame, DemolitionFrame | EstateFrame):
        return None if frame.seat == seat else frame
    if isinstance(frame, GapFrame):
        asked = tuple([asker for asker in frame.asked if asker != seat])
        return GapFrame(asked) if asked else None
    if isinstance(frame, PauseFrame):
        return replace(frame, back=tuple([back for back in frame.back if back != seat]))
    return frame
