"""What a client notes of its own: what it asked for, what was acknowledged, and every update that it saw.

One file for each client, to which lines of JSON are only ever added. Moments are nanoseconds of the machine's
monotonic clock, alike in all of its processes.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeVar


class Asked(NamedTuple):
    """A command is about to be sent for the first time. `digest` is the SHA-256 of its body, hexadecimal."""

    at_ns: int
    table_id: str
    command_id: str
    digest: str


class Answered(NamedTuple):
    """It was acknowledged."""

    at_ns: int
    table_id: str
    command_id: str
    first_seq: int
    last_seq: int
    repeated: bool


class Refused(NamedTuple):
    """It was refused for good. Not `is_sure`: an earlier try of the same command went unanswered."""

    at_ns: int
    table_id: str
    command_id: str
    reason: str
    is_sure: bool


class Failed(NamedTuple):
    """A try went wrong with an answer that is no refusal: the same command is sent again."""

    at_ns: int
    table_id: str
    reason: str


class Opened(NamedTuple):
    """A table is asked for on a watch: after a number, or (-1) with a snapshot first."""

    at_ns: int
    table_id: str
    after_seq: int


class Joined(NamedTuple):
    """The gateway has taken a table up on a watch: its first message about it came."""

    at_ns: int
    table_id: str


class Began(NamedTuple):
    """The snapshot that a watch of a table began with."""

    at_ns: int
    table_id: str
    seq: int


class Seen(NamedTuple):
    """An update as it came. `digest` is the SHA-256 of its bytes, hexadecimal; `is_last` that of the game's end."""

    at_ns: int
    table_id: str
    first_seq: int
    last_seq: int
    digest: str
    is_last: bool


class Cut(NamedTuple):
    """The watch of a table has ended, or its connection is lost."""

    at_ns: int
    table_id: str
    reason: str


class Read(NamedTuple):
    """A call that tells how far a table has come; it was made at `began_ns`."""

    at_ns: int
    table_id: str
    began_ns: int
    seq: int


Note: TypeAlias = Asked | Answered | Refused | Failed | Opened | Joined | Began | Seen | Cut | Read
T = TypeVar("T")

_KINDS: dict[str, Any] = {
    kind.__name__: kind for kind in (Asked, Answered, Refused, Failed, Opened, Joined, Began, Seen, Cut, Read)
}


class Journal:
    """One client's. `acknowledged` counts the answers in it."""

    def __init__(self, path: Path) -> None:
        self.acknowledged = 0
        self._file = path.open("a", encoding="utf-8")

    def note(self, note: Note) -> None:
        """Adds a line."""
        self._file.write(json.dumps((type(note).__name__, *note), separators=(",", ":")) + "\n")
        if isinstance(note, Answered):
            self.acknowledged += 1

    def close(self) -> None:
        """Nothing comes after this."""
        self._file.close()


def read_journal(path: Path) -> Iterator[Note]:
    """The notes of a file, in their order."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            kind, *fields = json.loads(line)
            yield _KINDS[kind](*fields)


def now_ns() -> int:
    """The moment of a note."""
    return time.monotonic_ns()
