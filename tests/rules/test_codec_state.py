"""A state survives its snapshot, and its view shows nothing secret."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from magnate.rules.v1 import state_pb2

from services.rules.codec import states
from services.rules.codec.twins import CodecError
from services.rules.domain import chance
from services.rules.domain import state as s
from tests.rules.values import values

_SMALL = st.integers(0, 1000)
_CELLS = st.lists(st.integers(0, 5), min_size=40, max_size=40)


@st.composite
def configs(draw: Any) -> s.Config:
    config: s.Config = draw(values(s.Config))
    seats = draw(st.lists(values(s.SeatSetup), min_size=2, max_size=6))
    if not config.algorithm:
        return replace(config, seats=tuple(seats), server_seed=b"", game_seed=b"", script=())
    seed = chance.game_seed(config.server_seed, [seat.nonce for seat in seats])
    return replace(config, seats=tuple(seats), game_seed=seed)


@st.composite
def any_states(draw: Any) -> s.State:
    """Any state that the fields can hold, sensible or not."""
    state = s.State()
    state.config = draw(configs())
    count = len(state.config.seats)
    for name in ("seq", "draws", "first_seat", "turn_seat", "round", "doubles", "jackpot", "paused_ms"):
        setattr(state, name, draw(_SMALL))
    for name in ("trip_memory", "supply_houses", "supply_hotels"):
        setattr(state, name, draw(st.integers(-1, 39)))
    for name in ("extra_owed", "trip_taken"):
        setattr(state, name, draw(st.booleans()))
    by_seat: dict[str, st.SearchStrategy[Any]] = {
        "cash": st.integers(0, 10**9),
        "position": st.integers(0, 39),
        "in_play": st.booleans(),
        "jail_tries": st.integers(-1, 3),
        "release_cards": values(tuple[str, ...]),
        "strikes": st.integers(0, 2),
        "leaving": st.sampled_from(["", "surrender", "strikes", "time", "withdrawn"]),
    }
    for name, strategy in by_seat.items():
        setattr(state, name, draw(st.lists(strategy, min_size=count, max_size=count)))
    state.owners = [level - 1 for level in draw(_CELLS)]
    state.levels, state.mortgaged_rounds = draw(_CELLS), draw(_CELLS)
    state.decks = draw(st.dictionaries(st.sampled_from(["chance", "market"]), values(tuple[int, ...])))
    state.discards = dict.fromkeys(state.decks, (1, 2))
    state.agenda = draw(st.lists(values(s.Frame), max_size=4))
    state.counters = draw(st.dictionaries(values(s.CounterKey), st.integers(-5, 10**6), max_size=4))
    state.last_roll, state.out_order = draw(st.sampled_from([(), (3, 4), (1, 2, 3)])), (1,)
    if draw(st.booleans()):
        state.decision = replace(draw(values(s.Decision)), id=draw(st.integers(1, 10**6)))
    state.deadlines, state.places = draw(values(tuple[s.Deadline, ...])), draw(values(tuple[s.Place, ...]))
    state.next_decision, state.next_trade, state.next_payment = 9, 8, draw(_SMALL)
    state.ended = draw(st.sampled_from(["", "last_left", "rounds"]))
    return state


@given(any_states())
@settings(max_examples=60, deadline=None)
def test_a_state_survives_its_snapshot_and_equal_states_have_equal_bytes(state: s.State) -> None:
    data = states.write_state(state)
    back = states.read_state(data)
    assert back.differences(state) == []
    assert states.write_state(back) == data


def test_the_empty_state_survives_its_snapshot() -> None:
    assert states.read_state(states.write_state(s.State())) == s.State()


@given(any_states())
@settings(max_examples=30, deadline=None)
def test_a_view_does_not_depend_on_what_is_secret(state: s.State) -> None:
    other = state.copy()
    other.config = replace(state.config, algorithm="x", server_seed=b"y", game_seed=b"z", script=(1, 2, 3))
    other.decks, other.draws = {"market": (4, 5, 6)}, state.draws + 1
    assert states.view_message(other) == states.view_message(state)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"\xff\xff", "no snapshot"),
        (b"", "without an encoding"),
        (state_pb2.StateSnapshot(encoding=99).SerializeToString(), "encoding 99"),
        (state_pb2.StateSnapshot(encoding=1).SerializeToString(), "next ids"),
        (
            state_pb2.StateSnapshot(encoding=1, view={"ended": 77, "next_ids": [1, 1, 1, 1, 1]}).SerializeToString(),  # type: ignore[arg-type]
            "ended is 77",
        ),
    ],
)
def test_what_is_no_snapshot_is_an_error(data: bytes, says: str) -> None:
    with pytest.raises(CodecError, match=says):
        states.read_state(data)
