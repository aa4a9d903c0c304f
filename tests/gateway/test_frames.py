"""Frames: other bytes than the parser's are never sent, whatever the order of fields."""

from __future__ import annotations

import random

import pytest
from google.protobuf.message import DecodeError
from magnate.game.v1 import event_pb2, update_pb2
from magnate.gateway.v1 import gateway_service_pb2 as pb
from magnate.table.v1 import table_pb2

from gateway.application.frames import Frame, read_stream_message, update_frame


def some_update(draw: random.Random) -> update_pb2.Update:
    """An update with numbers of all sizes."""
    first = draw.choice([1, 127, 128, 16_383, 2**32, 2**63])
    return update_pb2.Update(
        table_id="t" * draw.choice([1, 64, 127, 200]),
        first_seq=first,
        last_seq=first + draw.randint(0, 5),
        play_time_ms=draw.choice([0, 1, 300, 2**40]),
        events=[event_pb2.Event(seq=first)] * draw.randint(0, 40),
        state_hash=bytes(draw.randint(0, 64)),
        game_over=draw.random() < 0.5,
    )


def test_a_frame_parses_to_the_update() -> None:
    """The bytes of the table service's update are inside, unchanged, and its numbers are read right."""
    draw = random.Random(3)
    for _ in range(300):
        update = some_update(draw)
        data = update.SerializeToString()
        by_stream = read_stream_message(table_pb2.StreamMessage(update=data).SerializeToString())
        named = read_stream_message(table_pb2.StreamMessage(update=data, history_id="f" * 16).SerializeToString())
        timed = table_pb2.StreamMessage(update=data, history_id="f" * 16, held_ms=2**40, grace_ms=500)
        late = read_stream_message(timed.SerializeToString())
        odd = read_stream_message(table_pb2.StreamMessage(update=data, history_id="short").SerializeToString())
        assert [frame.history_id for frame in (by_stream, named, late, odd) if isinstance(frame, Frame)] == [
            "",
            "f" * 16,
            "f" * 16,
            "short",
        ]
        for frame in (update_frame(data), by_stream, named, late, odd):
            assert isinstance(frame, Frame)
            assert pb.WatchResponse.FromString(frame.data) == pb.WatchResponse(update=update)
            assert frame.data.endswith(data)
            assert (frame.table_id, frame.first_seq, frame.last_seq, frame.play_time_ms) == (
                update.table_id,
                update.first_seq,
                update.last_seq,
                update.play_time_ms,
            )


def test_fields_in_another_order_are_read_by_the_parser() -> None:
    """Nothing depends on how another writer orders fields."""
    tail = update_pb2.Update(last_seq=9, play_time_ms=4).SerializeToString()
    head = update_pb2.Update(table_id="t", first_seq=8).SerializeToString()
    frame = update_frame(tail + head)
    assert (frame.table_id, frame.first_seq, frame.last_seq, frame.play_time_ms) == ("t", 8, 9, 4)


def test_noise_is_refused() -> None:
    """Random bytes either fail as a DecodeError or are a message; nothing else is raised."""
    draw = random.Random(5)
    for _ in range(2_000):
        noise = draw.randbytes(draw.randint(0, 30))
        for data in (noise, b"\x0a" + noise, b"\x0a" + bytes([len(noise)]) + noise):
            try:
                message = read_stream_message(data)
            except DecodeError:
                continue
            assert isinstance(message, Frame | table_pb2.StreamMessage)
    with pytest.raises(DecodeError):
        update_frame(b"\x0a\xff\xff")
