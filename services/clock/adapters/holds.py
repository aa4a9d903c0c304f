"""Holds of operators as rows: one stays until a new one comes after its end, and may lose shards before."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import sqlalchemy as sa

from services.clock.adapters.databases import now_ms
from services.clock.adapters.schema import holds
from services.clock.application.ports import Hold
from services.clock.domain.shards import read_shards, write_shards

_KEPT_MS = 30 * 24 * 3_600_000
# Each replica asks several times a second: the statement is built once.
_LASTING = (
    sa.select(holds).where(holds.c.ends_at_ms > sa.bindparam("now")).order_by(holds.c.begins_at_ms, holds.c.hold_id)
)
# In one order for all, so that two who lock do not wait for each other.
_LOCKED = _LASTING.with_for_update()


def announce(connection: sa.Connection, hold: Hold, now: int) -> None:
    """Keeps a hold, unless there is one of its id; forgets those that ended long ago."""
    if connection.execute(sa.select(holds.c.hold_id).where(holds.c.hold_id == hold.hold_id)).first() is not None:
        return
    connection.execute(sa.delete(holds).where(holds.c.ends_at_ms < now - _KEPT_MS))
    connection.execute(
        sa.insert(holds).values(
            hold_id=hold.hold_id,
            shards=write_shards(hold.shards),
            reason=hold.reason,
            begins_at_ms=hold.begins_at_ms,
            ends_at_ms=hold.ends_at_ms,
        )
    )


def release(connection: sa.Connection, shards: Collection[int], unix_ms: int) -> tuple[int, ...]:
    """Takes the shards out of all holds that have not ended; returns those that were in one. Who releases at the same
    moment waits, and finds what this one has left."""
    now = now_ms(connection, unix_ms)
    found: set[int] = set()
    for hold in _read(connection, _LOCKED, now):
        rest = set(hold.shards) - set(shards)
        found |= set(hold.shards) - rest
        changed = {"shards": write_shards(rest)} if rest else {"ends_at_ms": min(now, hold.ends_at_ms)}
        connection.execute(sa.update(holds).where(holds.c.hold_id == hold.hold_id).values(**changed))
    return tuple(sorted(found))


def lasting(connection: sa.Connection, now: int) -> tuple[Hold, ...]:
    """Holds that have not ended, by their begin."""
    return _read(connection, _LASTING, now)


def _read(connection: sa.Connection, query: sa.Select[Any], now: int) -> tuple[Hold, ...]:
    return tuple(
        Hold(
            hold_id=row.hold_id,
            shards=read_shards(row.shards),
            reason=row.reason,
            begins_at_ms=row.begins_at_ms,
            ends_at_ms=row.ends_at_ms,
        )
        for row in connection.execute(query, {"now": now})
    )
