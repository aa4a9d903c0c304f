"""Deadlines in force, and which of them are due.

One entry of the heap for each table, at a moment that is never later than its first due deadline: most commands
replace a deadline by a later one and so never touch the heap. An entry that turns out too early is moved on when its
time comes.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heapify, heappop, heappush
from typing import NamedTuple

_SPARE = 1_000


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


class _Table:
    __slots__ = ("armed", "round", "scheduled_ms", "seq")

    def __init__(self) -> None:
        self.seq = 0
        self.round = 0
        self.scheduled_ms: int | None = None
        self.armed: tuple[_Armed, ...] = ()


class Deadlines:
    """All deadlines in force of the tables of a clock.

    A deadline that is handed out as due stays in force until an update without it comes or it is dropped, and is
    handed out again after `retry_ms` of play time: none is forgotten because a call failed.
    """

    def __init__(self, *, retry_ms: int = 1_000) -> None:
        self._retry_ms = retry_ms
        self._tables: dict[str, _Table] = {}
        self._heap: list[tuple[int, str]] = []
        self._count = 0
        self._round = 0

    def __len__(self) -> int:
        return self._count

    def arm(self, table_id: str, seq: int, deadlines: Iterable[Deadline], grace_ms: int) -> None:
        """Takes over what is in force at a table after `seq`, all of it; older news than known changes nothing."""
        table = self._tables.get(table_id)
        if table is not None and seq < table.seq:
            return
        known = {item.deadline_id: item for item in table.armed} if table is not None else {}
        armed = tuple(_kept(known.get(item.deadline_id), _armed(item, grace_ms)) for item in deadlines)
        if not armed:
            self.forget(table_id)
            return
        if table is None:
            table = self._tables[table_id] = _Table()
        self._count += len(armed) - len(table.armed)
        table.seq, table.armed, table.round = seq, armed, self._round
        self._schedule(table_id, table)

    def forget(self, table_id: str) -> None:
        """Nothing is in force at the table."""
        table = self._tables.pop(table_id, None)
        if table is not None:
            self._count -= len(table.armed)

    def drop(self, table_id: str, deadline_id: int) -> None:
        """The deadline is no longer in force: it took effect, or the table says that it is stale."""
        table = self._tables.get(table_id)
        if table is None:
            return
        rest = tuple(item for item in table.armed if item.deadline_id != deadline_id)
        if not rest:
            self.forget(table_id)
            return
        self._count += len(rest) - len(table.armed)
        table.armed = rest

    def next_ms(self) -> int | None:
        """A play time at which something may be due, and before which nothing is; None if nothing runs."""
        while self._heap and self._is_void(*self._heap[0]):
            heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def take_due(self, play_time_ms: int, limit: int) -> list[Due]:
        """At least `limit` of the deadlines due by now if there are as many, the longest due first."""
        found: list[Due] = []
        while self._heap and self._heap[0][0] <= play_time_ms and len(found) < limit:
            at_ms, table_id = heappop(self._heap)
            if self._is_void(at_ms, table_id):
                continue
            table = self._tables[table_id]
            retry_at_ms = play_time_ms + self._retry_ms
            found += [
                Due(table_id, item.deadline_id, item.due_ms) for item in table.armed if item.fire_at_ms <= play_time_ms
            ]
            table.armed = tuple(
                item._replace(fire_at_ms=retry_at_ms) if item.fire_at_ms <= play_time_ms else item
                for item in table.armed
            )
            table.scheduled_ms = None
            self._schedule(table_id, table)
        return found

    def left(self, table_id: str, play_time_ms: int) -> list[Left]:
        """Play time left of each deadline of a table: never negative, never more than its budget."""
        table = self._tables.get(table_id)
        if table is None:
            return []
        return [
            Left(item.deadline_id, min(max(0, item.due_ms - item.grace_ms - play_time_ms), item.budget_ms))
            for item in table.armed
        ]

    def begin_round(self) -> None:
        """Begins to take over a complete list of what is in force, by `arm`."""
        self._round += 1

    def end_round(self) -> int:
        """The list is complete: forgets the tables that neither it nor an update since named; says how many."""
        gone = [table_id for table_id, table in self._tables.items() if table.round != self._round]
        for table_id in gone:
            self.forget(table_id)
        return len(gone)

    def _schedule(self, table_id: str, table: _Table) -> None:
        first_ms = min(item.fire_at_ms for item in table.armed)
        if table.scheduled_ms is None or first_ms < table.scheduled_ms:
            table.scheduled_ms = first_ms
            heappush(self._heap, (first_ms, table_id))
            if len(self._heap) > 2 * len(self._tables) + _SPARE:
                self._compact()

    def _compact(self) -> None:
        # Tables that end leave their entries behind; without this they would stay until their time comes.
        self._heap = [
            (table.scheduled_ms, table_id) for table_id, table in self._tables.items() if table.scheduled_ms is not None
        ]
        heapify(self._heap)

    def _is_void(self, at_ms: int, table_id: str) -> bool:
        table = self._tables.get(table_id)
        return table is None or table.scheduled_ms != at_ms


def _armed(deadline: Deadline, grace_ms: int) -> _Armed:
    due_ms = deadline.opened_at_ms + deadline.budget_ms + grace_ms
    return _Armed(deadline.deadline_id, due_ms, deadline.budget_ms, grace_ms, due_ms)


def _kept(known: _Armed | None, named: _Armed) -> _Armed:
    """The one that is armed already if it is the same: its next attempt must not be forgotten."""
    return known if known is not None and known[:4] == named[:4] else named
