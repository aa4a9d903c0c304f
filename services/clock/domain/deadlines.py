"""Deadlines in force, and which of them are due.

One entry of the agenda for each table, at a moment that is never later than its first due deadline: most commands
replace a deadline by a later one and so never touch it. An entry that turns out too early is moved on when its time
comes. A clock may hold a million deadlines, so that each table is a few packed numbers, in which the garbage
collector has nothing to look through.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from struct import Struct
from typing import NamedTuple

from services.clock.domain.agenda import Agenda


class Deadline(NamedTuple):
    """A budget of play time as a committed update names it; all times in milliseconds of play time."""

    deadline_id: int
    opened_at_ms: int
    budget_ms: int


class Due(NamedTuple):
    """A deadline whose time is up; `due_ms` is the play time at which it became due."""

    table_id: str
    deadline_id: int
    due_ms: int


class Left(NamedTuple):
    """Play time left of a deadline in milliseconds, without the grace."""

    deadline_id: int
    left_ms: int


class _Armed(NamedTuple):
    deadline_id: int
    due_ms: int
    budget_ms: int
    grace_ms: int
    fire_at_ms: int


class _Table(NamedTuple):
    seq: int
    round: int
    scheduled_ms: int
    armed: tuple[_Armed, ...]


@dataclass(slots=True)
class _Tally:
    deadlines: int = 0
    tables: int = 0


# How they are kept: seq, round and scheduled_ms of a table, then each armed one. What counts the commands of a table,
# or is a length of time, has four bytes; a table with one deadline then fits into 80.
_HEAD = Struct("<IIq")
_ARMED = Struct("<IqIIq")


class Deadlines:
    """All deadlines in force of the tables of a clock.

    A deadline that is handed out as due stays in force until an update without it comes or it is dropped, and is
    handed out again after `retry_ms` of play time: none is forgotten because a call failed.
    """

    def __init__(self, *, retry_ms: int = 1_000) -> None:
        self._retry_ms = retry_ms
        self._tables: dict[str, bytes] = {}
        self._agenda = Agenda(self._scheduled_ms)
        self._round = 0
        self._complete_round = 0
        self._all = _Tally()
        self._named = _Tally()

    def __len__(self) -> int:
        return self._all.deadlines

    def arm(self, table_id: str, seq: int, deadlines: Iterable[Deadline], grace_ms: int) -> None:
        """Takes over what is in force at a table after `seq`, all of it; older news than known changes nothing."""
        table = self._find(table_id)
        if table is not None and seq < table.seq:
            return
        known = {item.deadline_id: item for item in table.armed} if table is not None else {}
        armed = tuple(_kept(known.get(item.deadline_id), _armed(item, grace_ms)) for item in deadlines)
        if armed:
            self._put(table_id, table, armed, seq, self._round)
        else:
            self.forget(table_id)

    def forget(self, table_id: str) -> None:
        """Nothing is in force at the table."""
        table = self._find(table_id)
        if table is not None:
            del self._tables[table_id]
            self._count(table, -1)

    def drop(self, table_id: str, deadline_id: int) -> None:
        """The deadline is no longer in force: it took effect, or the table says that it is stale."""
        table = self._find(table_id)
        if table is None:
            return
        rest = tuple(item for item in table.armed if item.deadline_id != deadline_id)
        if rest:
            self._put(table_id, table, rest, table.seq, table.round)
        else:
            self.forget(table_id)

    def next_ms(self) -> int | None:
        """A play time at which something may be due, and before which nothing is; None if nothing runs."""
        first = self._agenda.first()
        return None if first is None else first[0]

    def take_due(self, play_time_ms: int, limit: int) -> list[Due]:
        """At least `limit` of the deadlines due by now if there are as many, the longest due first."""
        found: list[Due] = []
        while len(found) < limit:
            first = self._agenda.first()
            if first is None or first[0] > play_time_ms:
                break
            self._agenda.pop()
            found += self._take_table(first[1], play_time_ms)
        return found

    def left(self, table_id: str, play_time_ms: int) -> list[Left]:
        """Play time left of each deadline of a table: never negative, never more than its budget."""
        table = self._find(table_id)
        if table is None:
            return []
        return [
            Left(item.deadline_id, min(max(0, item.due_ms - item.grace_ms - play_time_ms), item.budget_ms))
            for item in table.armed
        ]

    def begin_round(self) -> None:
        """Begins to take over a complete list of what is in force, by `arm`."""
        self._round += 1
        self._named = _Tally()

    def end_round(self) -> int:
        """The list is complete: forgets the tables that neither it nor an update since named; says how many."""
        gone = self._all.tables - self._named.tables
        # From now on they are passed over, and removed when their time comes: looking for them would hold up the rest.
        self._complete_round = self._round
        self._all = replace(self._named)
        return gone

    def _find(self, table_id: str) -> _Table | None:
        data = self._tables.get(table_id)
        if data is None:
            return None
        seq, named_in, scheduled_ms = _HEAD.unpack_from(data)
        if named_in < self._complete_round:
            return None
        armed = tuple(map(_Armed._make, _ARMED.iter_unpack(data[_HEAD.size :])))
        return _Table(seq, named_in, scheduled_ms, armed)

    def _put(self, table_id: str, before: _Table | None, armed: tuple[_Armed, ...], seq: int, named_in: int) -> None:
        """Keeps a table; an entry of the agenda that is early enough stays as it is."""
        first_ms = min(item.fire_at_ms for item in armed)
        scheduled_ms = first_ms
        if before is not None:
            scheduled_ms = min(before.scheduled_ms, first_ms)
            self._count(before, -1)
        table = _Table(seq, named_in, scheduled_ms, armed)
        self._count(table, 1)
        self._keep(table_id, table)
        if before is None or scheduled_ms < before.scheduled_ms:
            self._agenda.enter(scheduled_ms, table_id)
            self._agenda.trim(self._tables, len(self._tables))

    def _take_table(self, table_id: str, play_time_ms: int) -> list[Due]:
        """What is due at a table whose entry has just been taken out; enters it again for what comes next."""
        table = self._find(table_id)
        if table is None:
            del self._tables[table_id]
            return []
        retry_at_ms = play_time_ms + self._retry_ms
        due = [item for item in table.armed if item.fire_at_ms <= play_time_ms]
        armed = tuple(
            item._replace(fire_at_ms=retry_at_ms) if item.fire_at_ms <= play_time_ms else item for item in table.armed
        )
        first_ms = min(item.fire_at_ms for item in armed)
        self._keep(table_id, table._replace(scheduled_ms=first_ms, armed=armed))
        self._agenda.enter(first_ms, table_id)
        return [Due(table_id, item.deadline_id, item.due_ms) for item in due]

    def _keep(self, table_id: str, table: _Table) -> None:
        head = _HEAD.pack(table.seq, table.round, table.scheduled_ms)
        self._tables[table_id] = head + b"".join(_ARMED.pack(*item) for item in table.armed)

    def _scheduled_ms(self, table_id: str) -> int | None:
        data = self._tables.get(table_id)
        return None if data is None else _HEAD.unpack_from(data)[2]

    def _count(self, table: _Table, sign: int) -> None:
        for tally in (self._all, self._named) if table.round == self._round else (self._all,):
            tally.deadlines += sign * len(table.armed)
            tally.tables += sign


def _armed(deadline: Deadline, grace_ms: int) -> _Armed:
    due_ms = deadline.opened_at_ms + deadline.budget_ms + grace_ms
    return _Armed(deadline.deadline_id, due_ms, deadline.budget_ms, grace_ms, due_ms)


def _kept(known: _Armed | None, named: _Armed) -> _Armed:
    """The one that is armed already if it is the same: its next attempt must not be forgotten."""
    return known if known is not None and known[:4] == named[:4] else named
