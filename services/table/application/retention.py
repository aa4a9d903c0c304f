"""What the store does with tables that have ended, and with those that nobody plays any more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from services.table.domain.table import Table


@dataclass(frozen=True, slots=True)
class IdleGame:
    """A running game without a command for a while: its last update, and when one of its people was last seen, in
    milliseconds of Unix time; 0 where there are none."""

    shard: int
    table_id: str
    last_update: bytes
    seen_at_ms: int


@dataclass(frozen=True, slots=True)
class Archived:
    """One small step of the archive: commands that were packed, and whether the table is done with."""

    table_id: str
    commands: int
    is_whole: bool


class Retention(Protocol):
    """Each call is one short transaction, touches no table in play, and may be made by any number of replicas."""

    async def archive_step(self, ended_before_ms: int, now_ms: int) -> Archived | None:
        """Packs the next commands of a game that ended before this moment; of a lobby that expired nothing is left.
        None when all that is due is done, or in the hands of others."""
        ...

    async def forget(self, archived_before_ms: int, limit: int) -> int:
        """Deletes games that were archived before this moment, with all that is known of them; how many."""
        ...

    async def list_idle(self, before_ms: int, after: tuple[int, str] | None, limit: int) -> list[IdleGame]:
        """Running games without a command since this moment, paused ones too, in the order of (shard, table id)."""
        ...

    async def abandon_game(self, table: Table) -> bool:
        """Stores a table whose game has expired; false if it has changed, or a command has come."""
        ...
