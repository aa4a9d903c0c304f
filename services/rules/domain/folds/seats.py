"""Small facts about seats, read by folds and moves alike."""

from dataclasses import replace

from services.rules.domain.state import CollectFrame, CounterKey, PauseFrame, PaymentFrame, State, TradeFrame

#: value of a counter that is only asked for being there
MARK = 1


def counted(state: State, key: CounterKey) -> int:
    """How often something was counted; 0 for what never was."""
    return state.counters.get(key, 0)


def clockwise(state: State, seat: int) -> tuple[int, ...]:
    """Seats in play other than `seat`, in ascending order from its neighbour, wrapping round."""
    in_play = state.in_play
    count = len(in_play)
    return tuple([other for other in [*range(seat + 1, count), *range(seat)] if in_play[other]])


def allied(state: State, seat: int, other: int) -> bool:
    """Whether two different seats are of one team (docs/rules/parameters.md, section 2)."""
    seats = state.config.seats
    return seat != other and seats[seat].team == seats[other].team


def debt_of(state: State, seat: int) -> PaymentFrame | None:
    """The open payment of a seat."""
    for frame in state.agenda:
        if frame.__class__ is PaymentFrame and frame.payer == seat:
            return frame
    return None


def open_trade(state: State) -> TradeFrame | None:
    """The open offer."""
    for frame in state.agenda:
        if isinstance(frame, TradeFrame):
            return frame
    return None


def without_seat(frame: CollectFrame, seat: int) -> CollectFrame | None:
    """The frame when a payer is done or gone; None when nobody is left to pay."""
    payers = tuple(payer for payer in frame.payers if payer != seat)
    return CollectFrame(frame.seat, frame.amount, frame.card, payers) if payers else None


def staying(state: State) -> tuple[int, ...]:
    """Seats in play that are not leaving: those whose word a pause needs (BRA-TIME-08, -09)."""
    return tuple([seat for seat, in_play in enumerate(state.in_play) if in_play and not state.leaving[seat]])


def count_down_if_back(state: State) -> None:
    """The countdown begins when everybody who stays has confirmed (BRA-TIME-09)."""
    top = state.agenda[-1] if state.agenda else None
    if isinstance(top, PauseFrame) and all([seat in top.back for seat in staying(state)]):
        state.agenda[-1] = replace(top, stage="countdown")
