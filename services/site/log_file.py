"""Reads the file of a game (docs/log-file.md): a header, then one line for each command, each with a digest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from google.protobuf.json_format import ParseDict, ParseError
from magnate.rules.v1 import rules_service_pb2 as rules_pb

FORMAT = "magnate-log"
VERSION = 1
_MAX_LINE_BYTES = 16 * 1024 * 1024


class LogFileError(Exception):
    """A file that is no log of a game, or that was changed. `seq`: the first event that differs, 0 if none is known."""

    def __init__(self, message: str, *, seq: int = 0) -> None:
        super().__init__(message)
        self.seq = seq


@dataclass(frozen=True, slots=True)
class GameLog:
    """What is in a file. `changed_seq`: the first event of the first line that was changed, 0 if none was."""

    edition: str
    version: int
    finished: bool
    entries: tuple[rules_pb.LogEntry, ...]
    changed_seq: int


def read_log_file(path: Path, progress: Callable[[int], None] = lambda lines: None) -> GameLog:
    """The log in a file; `progress` hears how many lines are read. Raises LogFileError, OSError."""
    lines = _lines(path)
    chain = _Chain()
    try:
        header = _header(*next(lines), chain)
    except StopIteration:
        raise LogFileError("the file is empty; a log begins with a header line") from None
    entries: list[rules_pb.LogEntry] = []
    changed = 1 if chain.broken else 0
    for number, line in lines:
        expected = entries[-1].update.last_seq + 1 if entries else 1
        entry = _entry(number, line, chain, expected)
        if chain.broken and not changed:
            changed = expected
        entries.append(entry)
        progress(number)
    return GameLog(header["edition"], header["edition_version"], header["finished"], tuple(entries), changed)


class _Chain:
    """Follows the digests of the lines; the line after a changed one is measured by what it says itself."""

    def __init__(self) -> None:
        self._last = ""
        self.broken = False

    def check(self, value: dict[str, Any]) -> None:
        said = value.pop("chain", "")
        body = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()
        if said != hashlib.sha256(self._last.encode() + body).hexdigest():
            self.broken = True
        self._last = said if isinstance(said, str) else ""


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    with path.open("rb") as file:
        number = 0
        while line := file.readline(_MAX_LINE_BYTES):
            number += 1
            if not line.endswith(b"\n"):
                raise LogFileError(f"line {number} is cut off; export the game again")
            yield number, line


def _value(number: int, line: bytes, seq: int = 0) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise LogFileError(f"line {number} is not JSON: {error}", seq=seq) from None
    if not isinstance(value, dict):
        raise LogFileError(f"line {number} is not a JSON object", seq=seq)
    return value


def _header(number: int, line: bytes, chain: _Chain) -> dict[str, Any]:
    value = _value(number, line)
    chain.check(value)
    if value.get("format") != FORMAT:
        raise LogFileError(f"line {number} is not the header of a {FORMAT} file")
    if value.get("version") != VERSION:
        raise LogFileError(
            f"version {value.get('version')} of the file is not known here; this program reads {VERSION}"
        )
    wanted = {"edition": str, "edition_version": int, "finished": bool}
    for name, kind in wanted.items():
        if not isinstance(value.get(name), kind):
            raise LogFileError(f"line {number}: the header has no {name}")
    return value


def _entry(number: int, line: bytes, chain: _Chain, seq: int) -> rules_pb.LogEntry:
    value = _value(number, line, seq)
    chain.check(value)
    try:
        entry = ParseDict(value, rules_pb.LogEntry(), max_recursion_depth=20)
    except (ParseError, ValueError, TypeError) as error:
        raise LogFileError(f"line {number} is not an entry of a log: {error}", seq=seq) from None
    if entry.update.first_seq != seq:
        raise LogFileError(f"line {number} begins with event {entry.update.first_seq}, not {seq}", seq=seq)
    return entry
