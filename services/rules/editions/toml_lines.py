"""A TOML file together with the line on which each of its keys stands."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from services.rules.editions.problems import EditionError, Problem

KeyPath = tuple[str | int, ...]

_HEADER = re.compile(r"^\s*(\[\[?)([^\[\]]+)\]\]?\s*(#.*)?$")
_ERROR_LINE = re.compile(r"\(at line (\d+), column \d+\)")


@dataclass(frozen=True, slots=True)
class TomlFile:
    """Parsed data and lines; `name` is what problems call the file."""

    name: str
    data: dict[str, Any]
    lines: dict[KeyPath, int]

    def line_of(self, *path: str | int) -> int:
        """The line of a key, or of the nearest table around it, or 1."""
        for length in range(len(path), 0, -1):
            line = self.lines.get(path[:length])
            if line is not None:
                return line
        return 1

    def problem(self, reason: str, *path: str | int) -> Problem:
        """A problem at a key; the path names it even where only a table around it is in the file."""
        return Problem(self.name, self.line_of(*path), ".".join(str(part) for part in path) or "file", reason)


def read_toml(path: Path) -> TomlFile:
    """Parse a TOML file; raises EditionError with the line if it cannot be read or is no TOML."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise EditionError([Problem(path.name, 1, "file", f"cannot be read: {error}")]) from error
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = _ERROR_LINE.search(str(error))
        line = int(found[1]) if found else len(text.splitlines())
        raise EditionError([Problem(path.name, max(line, 1), "file", f"is no TOML: {error}")]) from error
    return TomlFile(name=path.name, data=data, lines=_key_lines(text))


def _key_lines(text: str) -> dict[KeyPath, int]:
    """Lines of all keys outside inline tables; `text` is known to be valid TOML."""
    lines: dict[KeyPath, int] = {}
    counts: dict[KeyPath, int] = {}
    table: KeyPath = ()
    statement, begun = "", 0
    for number, line in enumerate(text.splitlines(), start=1):
        header = None if statement else _HEADER.match(line)
        if header:
            table = _keys_of(f"{header[2].strip()} = 0")
            if header[1] == "[[":
                index = counts.get(table, 0)
                counts[table] = index + 1
                lines.setdefault(table, number)
                table = (*table, index)
            lines.setdefault(table, number)
            continue
        begun = begun if statement else number
        statement = f"{statement}\n{line}" if statement else line
        if not _is_complete(statement):
            continue
        path = table
        for key in _keys_of(statement):
            path = (*path, key)
            lines.setdefault(path, begun)
        statement = ""
    return lines


def _is_complete(statement: str) -> bool:
    """Whether the statement needs no further line: an open array or string does not parse on its own."""
    try:
        tomllib.loads(statement)
    except tomllib.TOMLDecodeError:
        return False
    return True


def _keys_of(statement: str) -> KeyPath:
    """The (dotted) key of `key = value` without what is inside an inline table; empty for blanks and comments."""
    keys: list[str | int] = []
    data: Any = tomllib.loads(statement)
    depth = len(_split_key(statement.split("=", 1)[0]))
    while isinstance(data, dict) and len(data) == 1 and len(keys) < depth:
        key, data = next(iter(data.items()))
        keys.append(key)
    return tuple(keys)


def _split_key(key: str) -> list[str]:
    """The parts of a bare dotted key."""
    return [part for part in key.split(".") if part.strip()]
