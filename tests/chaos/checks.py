"""Compares the journals of the clients with the database, and with nothing else. No I/O.

What is wrong comes as `Trouble` of one of the sorts below. `lost`, `doubled` and `gap` are what the run counts; any
other sort fails it as well.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from tests.chaos import journal as j
from tests.chaos.order import Operation, disorders
from tests.chaos.tables import Noted, Row, Stored

LOST, DOUBLED, GAP = "lost", "doubled", "gap"
FORK, DIFFERS, DISORDER, REFUSED_BUT_DONE, STUCK = "fork", "differs", "disorder", "refused_but_done", "stuck"
#: reasons to end a watch that say that the log no longer has what the client saw
_BEHIND = frozenset({"seq_ahead", "no_table"})


class Trouble(NamedTuple):
    """One thing that is wrong. `at_ns` is when a client noted it, 0 where only the database shows it."""

    sort: str
    table_id: str
    at_ns: int
    what: str


def check_table(stored: Stored, clients: Sequence[Noted], must_reach: int) -> list[Trouble]:
    """All that is wrong with a table; each of its watchers must have come as far as event `must_reach`."""
    found = [*check_log(stored), *check_commands(stored, clients), *check_order(stored, clients)]
    for client in clients:
        found += check_watch(stored, client, must_reach)
    return found


def check_log(stored: Stored) -> Iterator[Trouble]:
    """The numbers of a log follow each other without gap, fork or repeat, and each command is in it once."""
    last_seq = 0
    seen: set[str] = set()
    for row in stored.rows:
        if row.first_seq > last_seq + 1:
            yield Trouble(GAP, stored.table_id, 0, f"the log has nothing from {last_seq + 1} to {row.first_seq - 1}")
        elif row.first_seq <= last_seq:
            yield Trouble(FORK, stored.table_id, 0, f"the log has event {row.first_seq} twice")
        if row.last_seq < row.first_seq:
            yield Trouble(GAP, stored.table_id, 0, f"the row {row.first_seq}..{row.last_seq} has no event")
        if row.command_id in seen:
            yield Trouble(DOUBLED, stored.table_id, 0, f"the log has the command {row.command_id!r} twice")
        seen.add(row.command_id)
        last_seq = max(last_seq, row.last_seq)
    if stored.last_seq != last_seq:
        yield Trouble(GAP, stored.table_id, 0, f"the log ends at {last_seq}, the game stands at {stored.last_seq}")


def check_commands(stored: Stored, clients: Iterable[Noted]) -> Iterator[Trouble]:
    """Every acknowledged command is in the log as it was asked for and answered; none that was refused is."""
    rows: defaultdict[str, list[Row]] = defaultdict(list)
    for row in stored.rows:
        rows[row.command_id].append(row)
    asked: dict[str, str] = {}
    answers: dict[str, j.Answered] = {}
    for note in _all_notes(clients):
        if isinstance(note, j.Asked):
            asked[note.command_id] = note.digest
        elif isinstance(note, j.Answered):
            before = answers.setdefault(note.command_id, note)
            if (before.first_seq, before.last_seq) != (note.first_seq, note.last_seq):
                yield _about(DOUBLED, note, f"{note.command_id} was acknowledged at {before.first_seq} too")
            yield from _acknowledged(note, rows[note.command_id], asked[note.command_id])
        elif isinstance(note, j.Refused) and note.is_sure and rows[note.command_id]:
            yield _about(REFUSED_BUT_DONE, note, f"{note.command_id} was refused ({note.reason}) and is in the log")


def _acknowledged(note: j.Answered, rows: Sequence[Row], digest: str) -> Iterator[Trouble]:
    if not rows:
        yield _about(LOST, note, f"{note.command_id} was acknowledged and is not in the log")
    elif len(rows) > 1:
        yield _about(DOUBLED, note, f"{note.command_id} is in the log {len(rows)} times")
    elif (rows[0].first_seq, rows[0].last_seq) != (note.first_seq, note.last_seq):
        yield _about(
            LOST,
            note,
            f"{note.command_id} was acknowledged at {note.first_seq} and is in the log at {rows[0].first_seq}",
        )
    elif rows[0].digest.hex() != digest:
        yield _about(DIFFERS, note, f"{note.command_id} is in the log with another body than was sent")


def check_watch(stored: Stored, client: Noted, must_reach: int) -> Iterator[Trouble]:
    """One client saw the sequence of the log, byte for byte, from where it began and as far as it must."""
    rows = {row.first_seq: row for row in stored.rows}
    place: int | None = None
    watches = False
    at_ns = 0
    for note in client.notes:
        at_ns = note.at_ns
        if isinstance(note, j.Opened):
            watches = True
            if note.after_seq >= 0:
                place = note.after_seq
        elif isinstance(note, j.Began):
            if place is not None and note.seq < place:
                yield _about(LOST, note, f"{client.client} had seen {place} and was given a snapshot of {note.seq}")
            place = note.seq
        elif isinstance(note, j.Seen):
            yield from _seen(note, client.client, place, rows.get(note.first_seq))
            place = max(place or 0, note.last_seq)
        elif isinstance(note, j.Cut) and note.reason in _BEHIND:
            yield _about(LOST, note, f"{client.client} had seen {place} and was told {note.reason}")
    if watches and (place or 0) < must_reach:
        yield Trouble(
            GAP, stored.table_id, at_ns, f"{client.client} was shown {place}, the log went on to {must_reach}"
        )


def _seen(note: j.Seen, client: str, place: int | None, row: Row | None) -> Iterator[Trouble]:
    if place is None:
        yield _about(GAP, note, f"{client} was given {note.first_seq} before it knew where it stands")
    elif note.first_seq > place + 1:
        yield _about(GAP, note, f"{client} was given {note.first_seq} after {place}")
    elif note.first_seq <= place:
        yield _about(DOUBLED, note, f"{client} was given {note.first_seq} after {place}")
    if row is None:
        yield _about(LOST, note, f"{client} was given {note.first_seq}, and the log has no such update")
    elif (row.last_seq, hashlib.sha256(row.update).hexdigest()) != (note.last_seq, note.digest):
        yield _about(DIFFERS, note, f"{client} was given {note.first_seq} with other bytes than the log has")


def check_order(stored: Stored, clients: Iterable[Noted]) -> Iterator[Trouble]:
    """The history of commands and reads is linearisable in the order of the log."""
    found = disorders(operations_of(clients))
    for late, early in found:
        yield Trouble(
            DISORDER,
            stored.table_id,
            late.began_ns,
            f"{early.name} (at {early.seq}) had ended when {late.name} (at {late.seq}) began",
        )


def operations_of(clients: Iterable[Noted]) -> Iterator[Operation]:
    """The acknowledged commands and the reads of a table."""
    asked: dict[str, int] = {}
    answered: set[str] = set()
    for client in clients:
        opened_ns = 0
        for note in client.notes:
            if isinstance(note, j.Asked):
                asked[note.command_id] = note.at_ns
            elif isinstance(note, j.Answered) and note.command_id not in answered:
                answered.add(note.command_id)
                yield Operation(note.last_seq, False, asked[note.command_id], note.at_ns, note.command_id)
            elif isinstance(note, j.Read):
                yield Operation(note.seq, True, note.began_ns, note.at_ns, f"a read of {client.client}")
            elif isinstance(note, j.Opened):
                opened_ns = note.at_ns
            elif isinstance(note, j.Began):
                yield Operation(note.seq, True, opened_ns, note.at_ns, f"a snapshot for {client.client}")


def _all_notes(clients: Iterable[Noted]) -> Iterator[j.Note]:
    for client in clients:
        yield from client.notes


def _about(sort: str, note: j.Note, what: str) -> Trouble:
    return Trouble(sort, note.table_id, note.at_ns, what)
