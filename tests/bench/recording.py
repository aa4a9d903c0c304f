"""A game as the real run has stored it: the bytes that the hollow chain sends, commits and delivers in its place."""

from __future__ import annotations

import base64
import json
import sqlite3
from dataclasses import dataclass
from pathlib import Path

from magnate.game.v1 import update_pb2

SNAPSHOT_EVERY = 64


@dataclass(frozen=True, slots=True)
class Step:
    """One command: its public update in three parts, between which table and command id stand, and its secrets."""

    head: bytes
    middle: bytes
    tail: bytes
    secrets: bytes
    events: int

    def update(self, table_id: bytes, command_id: bytes) -> bytes:
        """The update for another table and command, whose ids are as long as the recorded ones."""
        return b"".join((self.head, table_id, self.middle, command_id, self.tail))


@dataclass(frozen=True, slots=True)
class Recording:
    """Commands of one table in their order, and a snapshot of its state."""

    steps: tuple[Step, ...]
    snapshot: bytes

    def step(self, number: int) -> Step:
        """The step of the so manieth command; after the last one it begins anew."""
        return self.steps[number % len(self.steps)]

    def write(self, path: Path) -> None:
        """Puts it into a file."""
        steps = [[*map(_text, (step.head, step.middle, step.tail, step.secrets)), step.events] for step in self.steps]
        path.write_text(json.dumps({"steps": steps, "snapshot": _text(self.snapshot)}))

    @staticmethod
    def read(path: Path) -> Recording:
        """What `write` wrote."""
        stored = json.loads(path.read_text())
        steps = [(*map(base64.b64decode, step[:4]), step[4]) for step in stored["steps"]]
        return Recording(tuple(Step(*step) for step in steps), base64.b64decode(stored["snapshot"]))


def record(database: Path, table_id: str) -> Recording:
    """The commands of a table in the database of an embedded site."""
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
        rows = connection.execute(
            "SELECT update_bytes, secrets FROM game_log WHERE table_id = ? AND command_id <> '' ORDER BY last_seq",
            (table_id,),
        ).fetchall()
        found = connection.execute("SELECT snapshot FROM game_snapshots WHERE table_id = ?", (table_id,)).fetchone()
    return Recording(tuple(step_of(table_id, *row) for row in rows), found[0])


def step_of(table_id: str, update: bytes, secrets: bytes) -> Step:
    """The step of an update as it is stored, with its withheld events."""
    parsed = update_pb2.Update.FromString(update)
    head, _, rest = update.partition(table_id.encode())
    middle, _, tail = rest.partition(parsed.command.command_id.encode())
    return Step(head, middle, tail, secrets, len(parsed.events))


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()
