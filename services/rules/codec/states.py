"""A state as a snapshot: the public view that everybody may see, and what nobody may see while the game runs.

`write_state` and `read_state` lose nothing; equal states give equal bytes.
"""

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import Any, Literal

from google.protobuf.message import DecodeError
from magnate.game.v1 import event_pb2, view_pb2
from magnate.rules.v1 import state_pb2

from services.rules.codec.messages import TWINS
from services.rules.codec.twins import CodecError, literal_numbers
from services.rules.domain import chance
from services.rules.domain import state as s
from services.rules.domain.events import TradeOffered
from services.rules.domain.parties import NONE

#: version of the encoding of a StateSnapshot
ENCODING = 1

TWINS.pair(s.BuildingClaim, view_pb2.BuildingClaim)

_FRAMES: dict[str, Any] = {
    "turn": TWINS.pair(s.TurnFrame, view_pb2.TurnFrame),
    "roll": TWINS.pair(s.RollFrame, view_pb2.RollFrame),
    "collect": TWINS.pair(s.CollectFrame, view_pb2.CollectFrame),
    "payment": TWINS.pair(s.PaymentFrame, view_pb2.PaymentFrame),
    "auction": TWINS.pair(s.AuctionFrame, view_pb2.AuctionFrame),
    "demolition": TWINS.pair(s.DemolitionFrame, view_pb2.DemolitionFrame),
    "lots": TWINS.pair(s.LotsFrame, view_pb2.LotsFrame),
    "gap": TWINS.pair(s.GapFrame, view_pb2.GapFrame),
    "claims": TWINS.pair(s.ClaimsFrame, view_pb2.ClaimsFrame),
    "estate": TWINS.pair(s.EstateFrame, view_pb2.EstateFrame),
    "pause": TWINS.pair(s.PauseFrame, view_pb2.PauseFrame),
}
TWINS.pair(s.RentClaim, view_pb2.RentClaim)
TWINS.pair(s.PauseVote, view_pb2.PauseVote)
_FRAME_NAMES = {twin.value: name for name, twin in _FRAMES.items()}


class _Words:
    """The words of a Literal and their numbers in a message."""

    def __init__(self, hint: Any, message: Any, field: str) -> None:
        self._field = message.DESCRIPTOR.fields_by_name[field]
        self.numbers = literal_numbers(hint, self._field.enum_type)
        self._words = {number: word for word, number in self.numbers.items()}

    def word(self, number: int) -> Any:
        if number not in self._words:
            raise CodecError(f"{self._field.full_name} is {number}")
        return self._words[number]


_SEATING = _Words(s.Seating, view_pb2.GameView, "seating")
_SEAT_KIND = _Words(s.SeatKind, view_pb2.SeatView, "kind")
_LEAVING = _Words(s.LeaveReason | Literal[""], view_pb2.SeatView, "leaving")
_DECISION_KIND = _Words(s.DecisionKind, view_pb2.GameView, "decision_kind")
_CLOCK_KIND = _Words(s.DeadlineKind, view_pb2.StoppedClock, "kind")
_ENDED = _Words(s.EndReason | Literal[""], view_pb2.GameView, "ended")


# ---- the public view


def view_message(state: s.State) -> view_pb2.GameView:
    """The public part of a state; nothing secret is read."""
    config, decision = state.config, state.decision
    view = view_pb2.GameView(
        seq=state.seq,
        edition=config.edition,
        version=config.version,
        overrides=[event_pb2.Override(parameter=name, value=value) for name, value in config.overrides],
        # An empty state has no seats and no seating yet.
        seating=_SEATING.numbers[config.seating] if config.seats else 0,  # type: ignore[arg-type]
        nonces=[seat.nonce for seat in config.seats],
        seed_hash=config.seed_hash,
        grace_ms=config.grace_ms,
        first_seat=state.first_seat,
        turn_seat=state.turn_seat,
        round=state.round,
        doubles=state.doubles,
        extra_owed=state.extra_owed,
        last_roll=state.last_roll,
        trip_taken=state.trip_taken,
        trip_memory=_given(state.trip_memory),
        owners=state.owners,
        levels=state.levels,
        mortgaged_rounds=state.mortgaged_rounds,
        supply_houses=_given(state.supply_houses),
        supply_hotels=_given(state.supply_hotels),
        jackpot=state.jackpot,
        out_order=state.out_order,
        started_at_ms=config.started_at_ms,
        paused_ms=state.paused_ms,
        deadlines=[TWINS[s.Deadline].to_message(deadline) for deadline in state.deadlines],
        next_ids=_next_ids(state),
        ended=_ENDED.numbers[state.ended],  # type: ignore[arg-type]
        places=[TWINS[s.Place].to_message(place) for place in state.places],
        seats=[_seat_message(state, seat) for seat in range(len(state.cash))],
        agenda=[_frame_message(frame) for frame in state.agenda],
        counters=_counter_messages(state),
        rent_claims=[TWINS[s.RentClaim].to_message(claim) for claim in state.rent_claims],
        vote=None if state.vote is None else TWINS[s.PauseVote].to_message(state.vote),
        clocks=_clock_messages(state),
        ratings=[seat.rating for seat in config.seats] if any(seat.rating for seat in config.seats) else (),
    )
    if decision is not None:
        view.decision_id = decision.id
        view.decision_kind = _DECISION_KIND.numbers[decision.kind]  # type: ignore[assignment]
        view.decision_seats.extend(decision.seats)
        view.decision_deadline_id = decision.deadline_id
    return view


def _given(value: int) -> int | None:
    return None if value == NONE else value


def _next_ids(state: s.State) -> Sequence[int]:
    return (state.next_decision, state.next_deadline, state.next_auction, state.next_trade, state.next_payment)


def _seat_message(state: s.State, seat: int) -> view_pb2.SeatView:
    setup = state.config.seats[seat]
    return view_pb2.SeatView(
        kind=_SEAT_KIND.numbers[setup.kind],  # type: ignore[arg-type]
        team=setup.team,
        cash=state.cash[seat],
        position=state.position[seat],
        in_play=state.in_play[seat],
        jail_tries=_given(state.jail_tries[seat]),
        release_cards=state.release_cards[seat],
        strikes=state.strikes[seat],
        leaving=_LEAVING.numbers[state.leaving[seat]],  # type: ignore[arg-type]
    )


def _frame_message(frame: s.Frame) -> view_pb2.Frame:
    message = view_pb2.Frame()
    if isinstance(frame, s.TradeFrame):
        offer = TradeOffered(
            frame.id, frame.from_seat, frame.to_seat, frame.give, frame.get, frame.redeem, frame.settles
        )
        message.trade.offer.MergeFromString(TWINS[TradeOffered].write(offer))
        return message
    twin = TWINS[type(frame)]
    inner = getattr(message, _FRAME_NAMES[twin.value])
    inner.SetInParent()
    inner.MergeFromString(twin.write(frame))
    return message


def _counter_messages(state: s.State) -> list[view_pb2.Counter]:
    return [
        view_pb2.Counter(scope=scope, what=what, keys=keys, value=value)
        for (scope, what, keys), value in sorted(state.counters.items())
    ]


def _clock_messages(state: s.State) -> list[view_pb2.StoppedClock]:
    numbers = _CLOCK_KIND.numbers
    return [
        view_pb2.StoppedClock(kind=numbers[kind], left_ms=left_ms)  # type: ignore[arg-type]
        for kind, left_ms in sorted(state.clocks.items(), key=lambda item: numbers[item[0]])
    ]


def read_view(view: view_pb2.GameView) -> s.State:
    """The state without its secrets. Raises CodecError for a view that the rules do not know."""
    state = s.State()
    state.config = _read_config(view)
    for name in ("seq", "first_seat", "turn_seat", "round", "doubles", "extra_owed", "trip_taken"):
        setattr(state, name, getattr(view, name))
    for name in ("jackpot", "paused_ms"):
        setattr(state, name, getattr(view, name))
    for name in ("trip_memory", "supply_houses", "supply_hotels"):
        setattr(state, name, getattr(view, name) if view.HasField(name) else NONE)  # type: ignore[arg-type]
    for name in ("owners", "levels", "mortgaged_rounds"):
        setattr(state, name, list(getattr(view, name)))
    state.last_roll = tuple(view.last_roll)
    state.out_order = tuple(view.out_order)
    _read_seats(view.seats, state)
    state.agenda = [_read_frame(frame) for frame in view.agenda]
    state.counters = {(item.scope, item.what, tuple(item.keys)): item.value for item in view.counters}
    state.deadlines = tuple(TWINS[s.Deadline].read(deadline) for deadline in view.deadlines)
    if view.decision_id:
        kind = _DECISION_KIND.word(view.decision_kind)
        state.decision = s.Decision(view.decision_id, kind, tuple(view.decision_seats), view.decision_deadline_id)
    if len(view.next_ids) != len(_next_ids(state)):
        raise CodecError(f"a view with {len(view.next_ids)} next ids")
    state.next_decision, state.next_deadline, state.next_auction, state.next_trade, state.next_payment = view.next_ids
    state.ended = _ENDED.word(view.ended)
    state.places = tuple(TWINS[s.Place].read(place) for place in view.places)
    state.rent_claims = tuple(TWINS[s.RentClaim].read(claim) for claim in view.rent_claims)
    state.vote = TWINS[s.PauseVote].read(view.vote) if view.HasField("vote") else None
    state.clocks = {_CLOCK_KIND.word(clock.kind): clock.left_ms for clock in view.clocks}
    return state


def _read_config(view: view_pb2.GameView) -> s.Config:
    ratings = list(view.ratings) or [0] * len(view.seats)
    seats = [
        s.SeatSetup(_SEAT_KIND.word(seat.kind), seat.team, nonce, rating)
        for (seat, nonce), rating in zip(zip_longest(view.seats, view.nonces, fillvalue=""), ratings, strict=False)
        if isinstance(seat, view_pb2.SeatView)
    ]
    return s.Config(
        edition=view.edition,
        version=view.version,
        overrides=tuple((item.parameter, item.value) for item in view.overrides),
        seating=_SEATING.word(view.seating) if view.seating else s.Config().seating,
        seats=tuple(seats),
        seed_hash=view.seed_hash,
        grace_ms=view.grace_ms,
        started_at_ms=view.started_at_ms,
    )


def _read_seats(seats: Iterable[view_pb2.SeatView], state: s.State) -> None:
    for seat in seats:
        state.cash.append(seat.cash)
        state.position.append(seat.position)
        state.in_play.append(seat.in_play)
        state.jail_tries.append(seat.jail_tries if seat.HasField("jail_tries") else NONE)
        state.release_cards.append(tuple(seat.release_cards))
        state.strikes.append(seat.strikes)
        state.leaving.append(_LEAVING.word(seat.leaving))


def _read_frame(message: view_pb2.Frame) -> s.Frame:
    name = message.WhichOneof("frame")
    if name is None:
        raise CodecError("a frame that the rules do not know")
    if name == "trade":
        offer: TradeOffered = TWINS[TradeOffered].read(message.trade.offer)
        return s.TradeFrame(
            offer.trade_id, offer.from_seat, offer.to_seat, offer.give, offer.get, offer.redeem, offer.settles
        )
    frame: s.Frame = _FRAMES[name].read(getattr(message, name))
    return frame


# ---- the whole state


def write_state(state: s.State) -> bytes:
    """A StateSnapshot message; equal states give equal bytes."""
    config = state.config
    secrets = state_pb2.GameSecrets(
        algorithm=config.algorithm,
        server_seed=config.server_seed,
        draws=state.draws,
        script=config.script,
        decks=[
            state_pb2.DeckOrder(deck=deck, order=order, discard=state.discards.get(deck, ()))
            for deck, order in sorted(state.decks.items())
        ],
    )
    snapshot = state_pb2.StateSnapshot(encoding=ENCODING, view=view_message(state), secrets=secrets)
    return snapshot.SerializeToString(deterministic=True)


class NoStateError(CodecError):
    """Bytes that no version has written as a snapshot."""


def read_state(data: bytes) -> s.State:
    """The state of a StateSnapshot message. Raises CodecError for anything else, NoStateError for what
    no version can read."""
    try:
        snapshot = state_pb2.StateSnapshot.FromString(data)
    except DecodeError as error:
        raise NoStateError("no snapshot of a state") from error
    if not snapshot.encoding:
        raise NoStateError("a snapshot without an encoding")
    if snapshot.encoding != ENCODING:
        raise CodecError(f"a snapshot of encoding {snapshot.encoding}")
    state, secrets = read_view(snapshot.view), snapshot.secrets
    state.draws = secrets.draws
    state.decks = {deck.deck: tuple(deck.order) for deck in secrets.decks}
    state.discards = {deck.deck: tuple(deck.discard) for deck in secrets.decks}
    if secrets.algorithm:
        config = state.config
        seats = [seat.nonce for seat in config.seats]
        state.config = s.Config(
            config.edition,
            config.version,
            config.overrides,
            config.seating,
            config.seats,
            config.seed_hash,
            config.grace_ms,
            config.started_at_ms,
            secrets.algorithm,
            secrets.server_seed,
            chance.game_seed(secrets.server_seed, seats),
            tuple(secrets.script),
        )
    return state
