"""Protobuf's wire format for one field at a time, with what was written before kept for the next time.

Building message objects only to serialise them takes three times as long as writing their bytes; the rules service
writes half a dozen events and all legal actions for each command, and its readers need the bytes alone. The tests
compare every kind of field with what the protobuf library writes.
"""

from collections.abc import Callable

from google.protobuf.descriptor import FieldDescriptor

VARINT, LENGTH_DELIMITED = 0, 2

#: least and greatest value by the type of a field
RANGES: dict[int, tuple[int, int]] = {
    FieldDescriptor.TYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.TYPE_UINT64: (0, 2**64 - 1),
    FieldDescriptor.TYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.TYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.TYPE_SINT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.TYPE_ENUM: (0, 2**31 - 1),
}

# Caches stop growing here; what they do not hold is computed.
_MOST_NUMBER = 2048
_MOST_ITEMS = 4096
_MOST_TEXT = 64


def varint(value: int) -> bytes:
    """A number from 0 in groups of seven bits, the lowest first."""
    if value < 0x80:
        return bytes((value,))
    if value < 0x4000:
        return bytes((value & 0x7F | 0x80, value >> 7))
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def tag(number: int, wire_type: int) -> bytes:
    """What stands before a field."""
    return varint(number << 3 | wire_type)


def number_writer(field_type: int) -> Callable[[int], bytes]:
    """How a number of this type is written; it raises ValueError for one that the type cannot hold."""
    least, greatest = RANGES[field_type]
    zigzag = field_type == FieldDescriptor.TYPE_SINT32

    def write(value: int) -> bytes:
        if not least <= value <= greatest:
            raise ValueError(f"{value} is not in {least}..{greatest}")
        if zigzag:
            return varint(value << 1 ^ value >> 31)
        return varint(value & 0xFFFF_FFFF_FFFF_FFFF)

    return write


class Varints(dict[int, bytes]):
    """`varint`, by subscript."""

    def __missing__(self, value: int) -> bytes:
        written = varint(value)
        if value < _MOST_NUMBER:
            self[value] = written
        return written


class Numbers(dict[int, bytes]):
    """A field of numbers by its value; `absent` is the value that leaves the field out."""

    def __init__(self, number: int, field_type: int, *, absent: int | None = 0) -> None:
        super().__init__()
        self._tag = tag(number, VARINT)
        self._write = number_writer(field_type)
        if absent is not None:
            self[absent] = b""

    def __missing__(self, value: int) -> bytes:
        written = self._tag + self._write(value)
        if -2 <= value < _MOST_NUMBER:
            self[value] = written
        return written


class Packed(dict[tuple[int, ...], bytes]):
    """A repeated field of numbers by its values."""

    def __init__(self, number: int, field_type: int) -> None:
        super().__init__({(): b""})
        self._tag = tag(number, LENGTH_DELIMITED)
        self._write = number_writer(field_type)

    def __missing__(self, values: tuple[int, ...]) -> bytes:
        body = b"".join([self._write(value) for value in values])
        written = self._tag + LENGTHS[len(body)] + body
        if len(self) < _MOST_ITEMS:
            self[values] = written
        return written


class Texts(dict[str, bytes]):
    """A text field by its value; `explicit` writes the empty one too."""

    def __init__(self, number: int, *, explicit: bool = False) -> None:
        super().__init__()
        self._tag = tag(number, LENGTH_DELIMITED)
        if not explicit:
            self[""] = b""

    def __missing__(self, value: str) -> bytes:
        body = value.encode()
        written = self._tag + LENGTHS[len(body)] + body
        if len(body) <= _MOST_TEXT and len(self) < _MOST_ITEMS:
            self[value] = written
        return written


LENGTHS = Varints()


def delimited(field_tag: bytes, body: bytes) -> bytes:
    """A field of bytes, or a message inside another one."""
    return field_tag + LENGTHS[len(body)] + body
