"""The clock's store: one row of play time for all shards of a database, guarded by its epoch, and the outages."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from services.clock.adapters.databases import Database
from services.clock.adapters.migrations import VERSION_TABLE, VERSIONS
from services.clock.adapters.schema import outages, play_time
from services.clock.application.ports import FencedError, Held
from services.clock.domain.play_time import Cause, Checkpoint, Outage
from services.kit.migrations import upgrade

_SHARD = 0
_ROW = play_time.c.shard == _SHARD


class SqlStore:
    """Store and Lease at once: who takes over raises the epoch of the row, which every write of others then misses."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._migrated = False

    async def take_over(self) -> Held:
        if not self._migrated:
            await upgrade(self._database.run, versions=VERSIONS, version_table=VERSION_TABLE)
            self._migrated = True
        return await self._database.run(_take_over)

    async def save(self, *, epoch: int, checkpoint: Checkpoint, ended: Sequence[Outage]) -> None:
        await self._database.run(lambda connection: _save(connection, epoch, checkpoint, ended))

    async def list_outages(self, *, before_id: int | None, limit: int) -> list[Outage]:
        return await self._database.run(lambda connection: _list_outages(connection, before_id, limit))

    async def close(self) -> None:
        """Closes the database."""
        await self._database.close()


def _take_over(connection: sa.Connection) -> Held:
    connection.execute(sa.update(play_time).where(_ROW).values(epoch=play_time.c.epoch + 1))
    row = connection.execute(sa.select(play_time).where(_ROW)).one()
    return Held(
        epoch=row.epoch,
        checkpoint=Checkpoint(
            play_time_ms=row.play_time_ms,
            given_back_ms=row.given_back_ms,
            last_outage_id=row.last_outage_id,
            saved_at_unix_ms=row.saved_at_unix_ms,
        ),
    )


def _save(connection: sa.Connection, epoch: int, checkpoint: Checkpoint, ended: Sequence[Outage]) -> None:
    written = connection.execute(
        sa.update(play_time)
        .where(_ROW, play_time.c.epoch == epoch)
        .values(
            play_time_ms=checkpoint.play_time_ms,
            given_back_ms=checkpoint.given_back_ms,
            last_outage_id=checkpoint.last_outage_id,
            saved_at_unix_ms=checkpoint.saved_at_unix_ms,
        )
    )
    if written.rowcount == 0:
        raise FencedError
    for outage in ended:
        _insert_once(connection, outage)


def _insert_once(connection: sa.Connection, outage: Outage) -> None:
    # A save whose answer was lost comes again.
    same = sa.select(outages.c.outage_id).where(outages.c.shard == _SHARD, outages.c.outage_id == outage.outage_id)
    if connection.execute(same).first() is None:
        connection.execute(
            sa.insert(outages).values(
                shard=_SHARD,
                outage_id=outage.outage_id,
                from_unix_ms=outage.from_unix_ms,
                to_unix_ms=outage.to_unix_ms,
                cause=outage.cause.value,
                given_back_ms=outage.given_back_ms,
            )
        )


def _list_outages(connection: sa.Connection, before_id: int | None, limit: int) -> list[Outage]:
    query = sa.select(outages).where(outages.c.shard == _SHARD).order_by(outages.c.outage_id.desc()).limit(limit)
    if before_id is not None:
        query = query.where(outages.c.outage_id < before_id)
    return [
        Outage(
            outage_id=row.outage_id,
            from_unix_ms=row.from_unix_ms,
            to_unix_ms=row.to_unix_ms,
            cause=Cause(row.cause),
            given_back_ms=row.given_back_ms,
        )
        for row in connection.execute(query)
    ]
