"""Messages of a watch as bytes, built once and shared by all watchers.

The table service has serialised an update once; here it is only given another tag. Nothing on this path parses it:
its first fields, which the table service writes first, are read by hand, and by the parser where they are not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from magnate.game.v1 import update_pb2
from magnate.gateway.v1 import gateway_service_pb2 as gateway_pb
from magnate.table.v1 import table_pb2

_UPDATE_IN_WATCH: Final = b"\x1a"  # WatchResponse.update = 3, length-delimited
_UPDATE_IN_STREAM: Final = 0x0A  # StreamMessage.update = 1, length-delimited
_HISTORY_IN_STREAM: Final = b"\x7a\x10"  # StreamMessage.history_id = 15, of 16 characters
_HISTORY_BYTES: Final = 2 + 16
_TIMES_IN_STREAM: Final = (b"\x80\x01", b"\x88\x01")  # StreamMessage.held_ms = 16 and grace_ms = 17, for the clock
_TIMES_BYTES: Final = 2 * (2 + 9)
_HEAD: Final = (0x0A, 0x10, 0x18, 0x20)  # Update.table_id, first_seq, last_seq, play_time_ms


class Frame:
    """One serialised WatchResponse. `last_seq` is 0 for what is no update or snapshot. `history_id` is known of updates
    that came over the event stream."""

    __slots__ = ("data", "first_seq", "history_id", "last_seq", "lobby_version", "play_time_ms", "table_id")

    def __init__(
        self,
        data: bytes,
        *,
        table_id: str = "",
        first_seq: int = 0,
        last_seq: int = 0,
        play_time_ms: int = 0,
        lobby_version: int = 0,
        history_id: str = "",
    ) -> None:
        self.data = data
        self.table_id = table_id
        self.first_seq = first_seq
        self.last_seq = last_seq
        self.play_time_ms = play_time_ms
        self.lobby_version = lobby_version
        self.history_id = history_id


def update_frame(update: bytes) -> Frame:
    """The frame of a serialised Update. Raises DecodeError for other bytes."""
    return _framed(_UPDATE_IN_WATCH + _varint(len(update)) + update, update)


def read_stream_message(data: bytes) -> Frame | table_pb2.StreamMessage:
    """The frame of an update from the event stream; any other message parsed. Raises DecodeError."""
    start, end = _place_of_update(data)
    if start:
        frame = _framed(_UPDATE_IN_WATCH + data[1:end], data[start:end])
        frame.history_id = data[end + 2 : end + _HISTORY_BYTES].decode(errors="replace")
        return frame
    message = table_pb2.StreamMessage.FromString(data)
    if message.WhichOneof("message") != "update":
        return message
    frame = update_frame(message.update)
    frame.history_id = message.history_id
    return frame


def snapshot_frame(snapshot: update_pb2.Snapshot) -> Frame:
    """The frame of a snapshot, which stands for all events up to its `seq`."""
    data = gateway_pb.WatchResponse(snapshot=snapshot).SerializeToString()
    return Frame(data, table_id=snapshot.table_id, last_seq=snapshot.seq)


def table_frame(table: table_pb2.Table) -> Frame:
    """The frame of a table that has changed outside its game."""
    data = gateway_pb.WatchResponse(table=table).SerializeToString()
    return Frame(data, table_id=table.table_id, lobby_version=table.lobby_version)


def heartbeat_frame(heartbeat: gateway_pb.Heartbeat) -> Frame:
    """The frame of a heartbeat."""
    return Frame(gateway_pb.WatchResponse(heartbeat=heartbeat).SerializeToString())


def opened_frame(watch_id: str, *, contract_version: str, heartbeat_ms: int) -> Frame:
    """The first frame of a watch."""
    opened = gateway_pb.WatchOpened(watch_id=watch_id, contract_version=contract_version, heartbeat_ms=heartbeat_ms)
    return Frame(gateway_pb.WatchResponse(opened=opened).SerializeToString())


def ended_frame(reason: str, *, table_id: str = "", resume_after_seq: int = 0) -> Frame:
    """The frame that ends a table's part of a watch, or without a table the whole watch."""
    ended = gateway_pb.WatchEnded(table_id=table_id, reason=reason, resume_after_seq=resume_after_seq)
    return Frame(gateway_pb.WatchResponse(ended=ended).SerializeToString(), table_id=table_id)


def ended_frames(reason: str, resume_after: Mapping[str, int]) -> list[Frame]:
    """The end of a whole watch: one frame for each table with its place, then the one for the watch."""
    frames = [ended_frame(reason, table_id=table_id, resume_after_seq=seq) for table_id, seq in resume_after.items()]
    return [*frames, ended_frame(reason)]


def _place_of_update(data: bytes) -> tuple[int, int]:
    """Where the update begins and ends in a message of it and at most its history and times; zeros for other bytes."""
    if not data or data[0] != _UPDATE_IN_STREAM:
        return 0, 0
    try:
        length, start = _read_varint(data, 1)
    except IndexError:
        return 0, 0
    end = start + length
    rest = len(data) - end
    if rest >= _HISTORY_BYTES and data[end : end + 2] == _HISTORY_IN_STREAM:
        rest -= _HISTORY_BYTES
    times = len(data) - rest
    known = rest == 0 or (rest <= _TIMES_BYTES and data[times : times + 2] in _TIMES_IN_STREAM)
    return (start, end) if known else (0, 0)


def _framed(data: bytes, update: bytes) -> Frame:
    head = _read_head(update)
    if head is None:
        parsed = update_pb2.Update.FromString(update)
        head = (parsed.table_id, parsed.first_seq, parsed.last_seq, parsed.play_time_ms)
    table_id, first_seq, last_seq, play_time_ms = head
    return Frame(data, table_id=table_id, first_seq=first_seq, last_seq=last_seq, play_time_ms=play_time_ms)


def _read_head(update: bytes) -> tuple[str, int, int, int] | None:
    """Table, first and last number and play time of an update whose first fields are these; None if they are not."""
    if len(update) < 2 or update[0] != _HEAD[0]:
        return None
    try:
        length, at = _read_varint(update, 1)
        table_id = update[at : at + length].decode()
        at += length
        numbers = [0, 0, 0]
        for index, tag in enumerate(_HEAD[1:]):
            if update[at] != tag:
                # A play time of 0 is not written; the numbers of events are never 0.
                return (table_id, numbers[0], numbers[1], 0) if index == 2 else None
            numbers[index], at = _read_varint(update, at + 1)
    except (IndexError, UnicodeDecodeError):
        return None
    return table_id, numbers[0], numbers[1], numbers[2]


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    """The number that begins at this place, and the place after it. IndexError when it has no end."""
    byte = data[at]
    if byte < 0x80:
        return byte, at + 1
    number, shift = byte & 0x7F, 7
    while True:
        at += 1
        byte = data[at]
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, at + 1
        shift += 7
        if shift > 63:
            raise IndexError(at)


def _varint(number: int) -> bytes:
    encoded = bytearray()
    while number >= 0x80:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)
