"""The clock's store, as one replica uses it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TypeVar

import sqlalchemy as sa

from services.clock.adapters import holds, leases, outages
from services.clock.adapters.databases import Database, now_ms
from services.clock.adapters.leases import Replica
from services.clock.adapters.migrations import VERSION_TABLE, VERSIONS
from services.clock.application.ports import Hold, Kept, Look, Outage, Terms, Timepiece
from services.kit.migrations import upgrade

T = TypeVar("T")


class SqlStore:
    """Leases, holds and outages. The first call brings the tables up to date. Every call raises ServiceError
    `unreachable` when the store does not answer. Outages are deleted `forget_after_ms` after their end, 0: never."""

    def __init__(
        self, database: Database, *, replica: str, terms: Terms, timepiece: Timepiece, forget_after_ms: int = 0
    ) -> None:
        self._database = database
        self._replica = Replica(replica, terms)
        self._timepiece = timepiece
        self._forget_after_ms = forget_after_ms
        self._migrated = False

    async def look(self, held: Collection[int], expected_unix_ms: int | None) -> Look:
        return await self._run(
            lambda connection: leases.look(connection, self._replica, held, expected_unix_ms, self._unix_ms())
        )

    async def save(self, kept: Sequence[Kept], ended: Sequence[Outage]) -> frozenset[int]:
        def work(connection: sa.Connection) -> frozenset[int]:
            outages.store(connection, ended)
            if ended and self._forget_after_ms:
                outages.forget(connection, self._forget_after_ms, self._unix_ms())
            return leases.save(connection, self._replica, kept, self._unix_ms()) if kept else frozenset()

        return await self._run(work)

    async def give_back(self, kept: Sequence[Kept]) -> None:
        if kept:
            await self._run(lambda connection: leases.give_back(connection, self._replica, kept, self._unix_ms()))

    async def leave(self) -> None:
        await self._run(lambda connection: leases.leave(connection, self._replica))

    async def list_outages(self, *, before_id: int | None, limit: int) -> list[Outage]:
        def work(connection: sa.Connection) -> list[Outage]:
            lasting = outages.list_open(connection, self._unix_ms()) if before_id is None else []
            return (lasting + outages.list_ended(connection, before_id, limit))[:limit]

        return await self._run(work)

    async def hold(
        self, hold_id: str, shards: Collection[int], reason: str, *, begins_in_ms: int, lasts_ms: int
    ) -> int:
        def work(connection: sa.Connection) -> int:
            now = now_ms(connection, self._unix_ms())
            begins_at_ms = now + begins_in_ms
            hold = Hold(
                hold_id=hold_id,
                shards=tuple(sorted(shards)),
                reason=reason,
                begins_at_ms=begins_at_ms,
                ends_at_ms=begins_at_ms + lasts_ms,
            )
            holds.announce(connection, hold, now)
            return now

        return await self._run(work)

    async def release(self, shards: Collection[int]) -> tuple[int, ...]:
        return await self._run(lambda connection: holds.release(connection, shards, self._unix_ms()))

    async def list_holds(self) -> tuple[tuple[Hold, ...], int]:
        def work(connection: sa.Connection) -> tuple[tuple[Hold, ...], int]:
            now = now_ms(connection, self._unix_ms())
            return holds.lasting(connection, now), now

        return await self._run(work)

    async def close(self) -> None:
        """Closes the database."""
        await self._database.close()

    def _unix_ms(self) -> int:
        return self._timepiece.now().unix_ms

    async def _run(self, work: Callable[[sa.Connection], T]) -> T:
        if not self._migrated:
            await upgrade(self._database.run, versions=VERSIONS, version_table=VERSION_TABLE)
            self._migrated = True
        return await self._database.run(work)
