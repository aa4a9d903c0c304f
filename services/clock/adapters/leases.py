"""Leases of shards as statements: each function is one piece of work in one transaction.

A lease, and the sign of life of a replica, count only while they do not lie far ahead: one that does was written before
the store's clock was set back.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache

import sqlalchemy as sa

from services.clock.adapters.databases import now_ms
from services.clock.adapters.holds import lasting
from services.clock.adapters.schema import play_time, replicas, shards
from services.clock.application.ports import Kept, Look, Taken, Terms
from services.clock.domain.play_time import Cause, Start
from services.clock.domain.shards import SHARDS

# Epochs of shards begin so far above the last one of the program before, which may be started again meanwhile.
_ABOVE_BEFORE = 1_000
_FORGOTTEN_MS = 600_000
_STEP_MS = 1_000
# What is given for each band of shards, and of them for each shard.
_BAND = {
    "postgresql": """
        SELECT * FROM jsonb_to_recordset(CAST(:given AS jsonb)) AS band(
            shards jsonb, epoch bigint, play_time_ms bigint, given_back_ms bigint, saved_at_ms bigint, cause text)
    """,
    "sqlite": """
        SELECT json_extract(value, '$.shards') AS shards, json_extract(value, '$.epoch') AS epoch,
            json_extract(value, '$.play_time_ms') AS play_time_ms,
            json_extract(value, '$.given_back_ms') AS given_back_ms,
            json_extract(value, '$.saved_at_ms') AS saved_at_ms, json_extract(value, '$.cause') AS cause
        FROM json_each(:given)
    """,
}
_EACH = {
    "postgresql": "SELECT CAST(each.shard AS int) AS shard, band.* "
    "FROM band, jsonb_array_elements_text(band.shards) AS each(shard)",
    "sqlite": "SELECT each.value AS shard, band.* FROM band, json_each(band.shards) AS each",
}
_SAVE = """
    WITH band AS MATERIALIZED ({band})
    UPDATE clock_shards
    SET holder = :holder, lease_until_ms = :lease_until_ms, play_time_ms = given.play_time_ms,
        given_back_ms = given.given_back_ms, saved_at_ms = given.saved_at_ms, cause = given.cause
    FROM ({each}) AS given
    WHERE clock_shards.shard = given.shard AND clock_shards.epoch = given.epoch AND clock_shards.holder = :replica
    RETURNING clock_shards.shard
"""
# Each replica runs these several times a second: they are built once.
_ME, _NOW = sa.bindparam("me", type_=sa.String), sa.bindparam("now", type_=sa.BigInteger)
_SEEN_MS = sa.bindparam("seen_ms", type_=sa.BigInteger)
_LEASE_MS, _JOIN_MS = sa.bindparam("lease_ms", type_=sa.BigInteger), sa.bindparam("join_ms", type_=sa.BigInteger)
_SIGN = sa.update(replicas).where(replicas.c.replica == _ME).values(seen_at_ms=_NOW)
_OTHERS = sa.select(sa.func.count()).where(
    replicas.c.replica != _ME,
    replicas.c.seen_at_ms.between(_NOW - _SEEN_MS + 1, _NOW + _LEASE_MS),
    sa.or_(replicas.c.joins_at_ms <= _NOW, replicas.c.joins_at_ms > _NOW + _JOIN_MS),
)
_NEVER_HELD = shards.c.epoch == 0
_COUNT_NEVER_HELD = sa.select(sa.func.count()).where(_NEVER_HELD)


def _taking(*, with_expired: bool) -> sa.Executable:
    """Takes up to `wanted` free shards that are not among `held`."""
    held = sa.bindparam("held", type_=sa.SmallInteger, expanding=True)
    free = sa.or_(
        shards.c.holder == "",
        # Taken, but the answer was lost; or by the process of this name before.
        sa.and_(shards.c.holder == _ME, shards.c.shard.not_in(held)),
    )
    if with_expired:
        free = sa.or_(free, sa.not_(shards.c.lease_until_ms.between(_NOW + 1, _NOW + 2 * _LEASE_MS)))
    chosen = (
        sa.select(shards.c.shard)
        .where(free, shards.c.shard.not_in(held))
        .order_by(shards.c.shard)
        .limit(sa.bindparam("wanted", type_=sa.Integer))
        .with_for_update(skip_locked=True)
    )
    return (
        sa.update(shards)
        .where(shards.c.shard.in_(chosen))
        .values(holder=_ME, epoch=shards.c.epoch + 1, lease_until_ms=_NOW + _LEASE_MS)
        .returning(*shards.c)
    )


_TAKE = {with_expired: _taking(with_expired=with_expired) for with_expired in (False, True)}


@dataclass(frozen=True, slots=True)
class Replica:
    """Who looks, and by which terms."""

    name: str
    terms: Terms


def look(
    connection: sa.Connection, replica: Replica, held: Collection[int], expected_unix_ms: int | None, unix_ms: int
) -> Look:
    """Says that the replica lives, and takes what is free up to its share. Leases count as over only by a clock that
    shows about what is expected: after a step of it, their holders must have had the time to renew them."""
    now = now_ms(connection, unix_ms)
    _sign(connection, replica, now)
    share = -(-SHARDS // _counted(connection, replica, now))
    taken: list[Taken] = []
    if len(held) < share:
        _go_on_from_before(connection)
        is_sure = expected_unix_ms is not None and abs(now - expected_unix_ms) <= _STEP_MS
        taken = _take(connection, replica, held, share - len(held), now, with_expired=is_sure)
    return Look(taken=tuple(taken), share=share, unix_ms=now, holds=lasting(connection, now))


def save(connection: sa.Connection, replica: Replica, kept: Sequence[Kept], unix_ms: int) -> frozenset[int]:
    """Stores checkpoints and renews the leases of those that the replica still holds; returns these."""
    now = now_ms(connection, unix_ms)
    return _write(connection, replica, kept, now, holder=replica.name, lease_until_ms=now + replica.terms.lease_ms)


def give_back(connection: sa.Connection, replica: Replica, kept: Sequence[Kept], unix_ms: int) -> None:
    """Stores for the last time."""
    _write(connection, replica, kept, now_ms(connection, unix_ms), holder="", lease_until_ms=0)


def leave(connection: sa.Connection, replica: Replica) -> None:
    """Whatever the replica still holds is free."""
    connection.execute(sa.update(shards).where(shards.c.holder == replica.name).values(holder="", lease_until_ms=0))
    connection.execute(sa.delete(replicas).where(replicas.c.replica == replica.name))


def _sign(connection: sa.Connection, replica: Replica, now: int) -> None:
    if connection.execute(_SIGN, {"me": replica.name, "now": now}).rowcount == 0:
        joins = now + replica.terms.join_ms
        connection.execute(sa.insert(replicas).values(replica=replica.name, seen_at_ms=now, joins_at_ms=joins))
        connection.execute(sa.delete(replicas).where(replicas.c.seen_at_ms < now - _FORGOTTEN_MS))


def _counted(connection: sa.Connection, replica: Replica, now: int) -> int:
    """Replicas that share the shards, this one included."""
    mine = replica.terms
    terms = {"lease_ms": mine.lease_ms, "join_ms": mine.join_ms, "seen_ms": mine.seen_ms}
    return 1 + connection.execute(_OTHERS, {"me": replica.name, "now": now, **terms}).scalar_one()


def _go_on_from_before(connection: sa.Connection) -> None:
    if connection.execute(_COUNT_NEVER_HELD).scalar_one() < SHARDS:
        return
    # Raised first: who still writes under the epoch before finds that it is over.
    raised = sa.update(play_time).where(play_time.c.epoch > 0).values(epoch=play_time.c.epoch + 1)
    before = connection.execute(raised.returning(*play_time.c)).first()
    if before is not None:
        connection.execute(
            sa.update(shards)
            .where(_NEVER_HELD)
            .values(
                epoch=before.epoch + _ABOVE_BEFORE,
                play_time_ms=before.play_time_ms,
                given_back_ms=before.given_back_ms,
                saved_at_ms=before.saved_at_unix_ms,
            )
        )


def _take(
    connection: sa.Connection, replica: Replica, held: Collection[int], wanted: int, now: int, *, with_expired: bool
) -> list[Taken]:
    values = {"me": replica.name, "now": now, "lease_ms": replica.terms.lease_ms, "held": tuple(held), "wanted": wanted}
    rows = connection.execute(_TAKE[with_expired], values)
    found: dict[tuple[int, Start], list[int]] = {}
    for row in rows:
        start = Start(
            play_time_ms=row.play_time_ms,
            given_back_ms=row.given_back_ms,
            away_ms=max(0, now - row.saved_at_ms) if row.saved_at_ms else None,
            cause=Cause(row.cause) if row.saved_at_ms and row.cause else None,
        )
        found.setdefault((row.epoch, start), []).append(row.shard)
    return [Taken(shards=tuple(sorted(numbers)), epoch=epoch, start=start) for (epoch, start), numbers in found.items()]


def _write(
    connection: sa.Connection,
    replica: Replica,
    kept: Sequence[Kept],
    now: int,
    *,
    holder: str,
    lease_until_ms: int,
) -> frozenset[int]:
    given = json.dumps([_row(item, now) for item in kept])
    values = {"holder": holder, "replica": replica.name, "lease_until_ms": lease_until_ms, "given": given}
    return frozenset(connection.execute(_saving(connection.dialect.name), values).scalars())


@lru_cache(maxsize=len(_BAND))
def _saving(dialect: str) -> sa.TextClause:
    return sa.text(_SAVE.format(band=_BAND[dialect], each=_EACH[dialect]))


def _row(kept: Kept, now: int) -> dict[str, object]:
    checkpoint = kept.checkpoint
    return {
        "shards": kept.shards,
        "epoch": kept.epoch,
        "play_time_ms": checkpoint.play_time_ms,
        "given_back_ms": checkpoint.given_back_ms,
        "saved_at_ms": 0 if checkpoint.uncounted_ms is None else now - checkpoint.uncounted_ms,
        "cause": checkpoint.cause or "",
    }
