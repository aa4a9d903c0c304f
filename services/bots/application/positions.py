"""The positions of the tables played last, kept up to date by the updates that pass by."""

from __future__ import annotations

from collections import OrderedDict

from services.bots.application.ports import Change, Position, Reader

# A table that no bot has been asked at for so long costs less when it is asked for anew.
_MOST_UNREAD = 64


class Positions:
    """At most `capacity` tables; updates are read only when a position is asked for.

    With several replicas each sees a part of the updates: a table with a gap is forgotten, and asked for anew.
    """

    def __init__(self, reader: Reader, *, capacity: int) -> None:
        self._reader = reader
        self._capacity = capacity
        self._tables: OrderedDict[str, Position] = OrderedDict()
        self._changes: dict[str, list[Change]] = {}

    def __len__(self) -> int:
        return len(self._tables)

    def __contains__(self, table_id: str) -> bool:
        return table_id in self._tables

    def keep(self, table_id: str, position: Position) -> None:
        """Remembers where a table stands, unless something newer is known."""
        known = self._tables.get(table_id)
        if known is not None and known.seq >= position.seq:
            return
        self._tables[table_id] = position
        self._tables.move_to_end(table_id)
        self._changes[table_id] = [item for item in self._changes.get(table_id, ()) if item.last_seq > position.seq]
        if len(self._tables) > self._capacity:
            oldest, _ = self._tables.popitem(last=False)
            self._changes.pop(oldest, None)

    def note(self, change: Change) -> None:
        """An update passed by."""
        position = self._tables.get(change.table_id)
        if position is None:
            return
        changes = self._changes[change.table_id]
        known = changes[-1].last_seq if changes else position.seq
        if change.first_seq == known + 1 and len(changes) < _MOST_UNREAD:
            changes.append(change)
        elif change.first_seq > known:
            self.forget(change.table_id)

    def forget(self, table_id: str) -> None:
        """Drops what is known of a table."""
        self._tables.pop(table_id, None)
        self._changes.pop(table_id, None)

    def find(self, table_id: str) -> Position | None:
        """Where a table stands, as far as is known."""
        position = self._tables.get(table_id)
        if position is None:
            return None
        changes = self._changes[table_id]
        for change in changes:
            after = self._reader.follow_up(position, change)
            if after is None:
                self.forget(table_id)
                return None
            position = after
        changes.clear()
        self._tables[table_id] = position
        self._tables.move_to_end(table_id)
        return position
