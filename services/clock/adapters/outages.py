"""The record of outages: those that ended as rows of their own, those that last as the shards show them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from services.clock.adapters.databases import now_ms
from services.clock.adapters.schema import outages, shards
from services.clock.application.ports import Outage
from services.clock.domain.play_time import Cause
from services.clock.domain.shards import SHARDS, read_shards, write_shards

_MOST_FORGOTTEN = 100
_KEY = sa.tuple_(outages.c.shard, outages.c.outage_id)


def store(connection: sa.Connection, ended: Sequence[Outage]) -> None:
    """Each once, however often it comes: a save whose answer was lost comes again."""
    for outage in ended:
        same = sa.select(outages.c.outage_id).where(
            outages.c.shard == outage.shards[0], outages.c.outage_id == outage.outage_id
        )
        if connection.execute(same).first() is None:
            connection.execute(
                sa.insert(outages).values(
                    shard=outage.shards[0],
                    outage_id=outage.outage_id,
                    from_unix_ms=outage.from_unix_ms,
                    to_unix_ms=outage.to_unix_ms,
                    cause=outage.cause.value,
                    given_back_ms=outage.given_back_ms,
                    shards=write_shards(outage.shards),
                )
            )


def forget(connection: sa.Connection, after_ms: int, unix_ms: int) -> None:
    """Deletes some of those that ended longer than `after_ms` ago, the oldest first."""
    before_ms = now_ms(connection, unix_ms) - after_ms
    old = connection.execute(ended_before(before_ms)).all()
    if old:
        connection.execute(sa.delete(outages).where(_KEY.in_([tuple(row) for row in old])))


def ended_before(unix_ms: int) -> sa.Select[tuple[int, int]]:
    """The keys of the oldest that ended before, and that nobody else is about to delete."""
    return (
        sa.select(outages.c.shard, outages.c.outage_id)
        # Ids go by the begin: of those that began before, few have not ended before too, one for each shard at most.
        .where(outages.c.outage_id < unix_ms * SHARDS, outages.c.to_unix_ms < unix_ms)
        .order_by(outages.c.outage_id, outages.c.shard.desc())
        .limit(_MOST_FORGOTTEN)
        .with_for_update(skip_locked=True)
    )


def newest(before_id: int | None, limit: int) -> sa.Select[Any]:
    """The rows of those that have ended, newest first."""
    query = sa.select(outages).order_by(outages.c.outage_id.desc(), outages.c.shard).limit(limit)
    return query if before_id is None else query.where(outages.c.outage_id < before_id)


def list_ended(connection: sa.Connection, before_id: int | None, limit: int) -> list[Outage]:
    """Newest first."""
    return [
        Outage(
            outage_id=row.outage_id,
            from_unix_ms=row.from_unix_ms,
            to_unix_ms=row.to_unix_ms,
            cause=Cause(row.cause),
            given_back_ms=row.given_back_ms,
            shards=read_shards(row.shards),
        )
        for row in connection.execute(newest(before_id, limit))
    ]


def list_open(connection: sa.Connection, unix_ms: int) -> list[Outage]:
    """What lasts, by cause and begin: as holders have stored it. A shard that nobody holds stands for the cause for
    which it stood already, or for want of a clock."""
    now = now_ms(connection, unix_ms)
    found: dict[tuple[int, Cause], list[int]] = {}
    for row in connection.execute(sa.select(shards).where(shards.c.saved_at_ms > 0).order_by(shards.c.shard)):
        is_held = row.holder != "" and row.lease_until_ms > now
        cause = row.cause or ("" if is_held else Cause.CLOCK_AWAY)
        if cause:
            found.setdefault((row.saved_at_ms, Cause(cause)), []).append(row.shard)
    return [
        Outage(outage_id=0, from_unix_ms=from_ms, to_unix_ms=0, cause=cause, given_back_ms=0, shards=tuple(numbers))
        for (from_ms, cause), numbers in sorted(found.items(), reverse=True)
    ]
