"""The audit log: what operators did, and what the service did of itself; entries are only ever added."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from services.table.domain.table import Table

#: who an entry names when the service acted of itself
ITSELF = "table"
DONE = "done"
NOTHING = "nothing"
#: what a player is called, and the session that he had, when he has been deleted
DELETED_NAME = "Deleted player"
DELETED_SESSION = "deleted"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """See magnate.admin.v1.AuditEntry; `action` is the number of its enum, `shard` that of the table or session."""

    audit_id: str
    at_unix_ms: int
    who: str
    from_: str
    action: int
    shard: int = 0
    table_id: str = ""
    session_id: str = ""
    seat: int | None = None
    reason: str = ""
    outcome: str = DONE
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Marks:
    """How far a game is on the event stream, and of which event its snapshot is; 0 where there is none."""

    published_seq: int
    snapshot_seq: int


class Administration(Protocol):
    """What the store does for operators: each change together with its entry, or not at all."""

    async def record(self, entry: AuditEntry) -> None:
        """Adds an entry alone."""
        ...

    async def list_audit(self, table_id: str, before: tuple[int, str] | None, limit: int) -> list[AuditEntry]:
        """Newest first, after (at_unix_ms, audit_id) of the page before; of one table, or of all for an empty id."""
        ...

    async def save_audited(self, table: Table, entry: AuditEntry, snapshot: tuple[int, bytes] | None = None) -> bool:
        """Stores a changed table over the version before, and a snapshot in place of the one that is there; false if
        that is no longer the stored version."""
        ...

    async def load_marks(self, table: Table) -> Marks: ...

    async def forget_player(self, shard: int, session_id: str, entry: AuditEntry) -> list[Table] | None:
        """Deletes a session, and name and session at every seat that it held; the tables of these, each in its new
        version, which nothing decided before survives. None if nothing of it was there."""
        ...

    async def count_stopped(self) -> tuple[int, int]:
        """Tables that stopped themselves, and tables that operators stopped."""
        ...
