"""States used lately, so that a command seldom has to bring its own."""

from collections import OrderedDict
from dataclasses import dataclass

from services.rules.domain.edition import Edition
from services.rules.domain.state import State


@dataclass(frozen=True, slots=True)
class StateName:
    """A state of a table: `seq` is the number of its last event, `state_hash` the digest of its view, `update_digest`
    that of the update that led to it. The view does not tell everything: two tries of one command, at two times, end
    alike in it."""

    table_id: str
    seq: int
    state_hash: bytes
    update_digest: bytes


@dataclass(frozen=True, slots=True)
class Known:
    """A state with the flat edition of its game."""

    state: State
    edition: Edition
    state_hash: bytes
    update_digest: bytes


class States:
    """The last two states of each of the tables used last.

    Two, because the caller may fail to commit what was decided, and then decides on the state before again.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._tables: OrderedDict[str, tuple[Known, Known | None]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._tables)

    def find(self, name: StateName) -> Known | None:
        """The state of this name, if it is here."""
        kept = self._tables.get(name.table_id)
        if kept is not None:
            for known in kept:
                if known is not None and _is_named(known, name):
                    self._tables.move_to_end(name.table_id)
                    return known
        return None

    def forget(self, table_id: str) -> None:
        """Keeps nothing of a table any more."""
        self._tables.pop(table_id, None)

    def keep(self, table_id: str, known: Known, *, before: Known | None = None) -> None:
        """Keeps a state, and the one that it came from; the table used longest ago makes room."""
        self._tables[table_id] = (known, before)
        self._tables.move_to_end(table_id)
        if len(self._tables) > self._capacity:
            self._tables.popitem(last=False)


def _is_named(known: Known, name: StateName) -> bool:
    own = (known.state.seq, known.state_hash, known.update_digest)
    return own == (name.seq, name.state_hash, name.update_digest)
