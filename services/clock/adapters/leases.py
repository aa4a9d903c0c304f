"""Leases of shards as statements: each function is one piece of work in one transaction.

A lease, and the sign of life of a replica, count only while they do not lie far ahead: one that does was written before
the store's clock was set back.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from services.clock.adapters.databases import now_ms
from services.clock.adapters.holds import lasting
from services.clock.adapters.schema import play_time, replicas, shards
from services.clock.application.ports import Kept, Look, Taken, Terms
from services.clock.domain.play_time import Start
from services.clock.domain.shards import SHARDS

# Epochs of shards begin so far above the last one of the program before, which may be started again meanwhile.
_ABOVE_BEFORE = 1_000
_FORGOTTEN_MS = 600_000
_STEP_MS = 1_000
_GIVEN = {
    "postgresql": """
        (SELECT CAST(each.shard AS int) AS shard, band.*
         FROM jsonb_to_recordset(CAST(:given AS jsonb)) AS band(
                shards jsonb, epoch bigint, play_time_ms bigint, given_back_ms bigint, saved_at_ms bigint, cause text),
              jsonb_array_elements_text(band.shards) AS each(shard)) AS given
    """,
    "sqlite": """
        (SELECT each.value AS shard, json_extract(band.value, '$.epoch') AS epoch,
                json_extract(band.value, '$.play_time_ms') AS play_time_ms,
                json_extract(band.value, '$.given_back_ms') AS given_back_ms,
                json_extract(band.value, '$.saved_at_ms') AS saved_at_ms,
                json_extract(band.value, '$.cause') AS cause
         FROM json_each(:given) AS band, json_each(band.value, '$.shards') AS each) AS given
    """,
}
_SAVE = """
    UPDATE clock_shards
    SET holder = :holder, lease_until_ms = :lease_until_ms, play_time_ms = given.play_time_ms,
        given_back_ms = given.given_back_ms, saved_at_ms = given.saved_at_ms, cause = given.cause
    FROM {given}
    WHERE clock_shards.shard = given.shard AND clock_shards.epoch = given.epoch AND clock_shards.holder = :replica
    RETURNING clock_shards.shard
"""


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
    me = replicas.c.replica == replica.name
    signed = connection.execute(sa.update(replicas).where(me).values(seen_at_ms=now))
    if signed.rowcount == 0:
        joins = now + replica.terms.join_ms
        connection.execute(sa.insert(replicas).values(replica=replica.name, seen_at_ms=now, joins_at_ms=joins))
        connection.execute(sa.delete(replicas).where(replicas.c.seen_at_ms < now - _FORGOTTEN_MS))


def _counted(connection: sa.Connection, replica: Replica, now: int) -> int:
    """Replicas that share the shards, this one included."""
    lease_ms, join_ms = replica.terms.lease_ms, replica.terms.join_ms
    others = sa.select(sa.func.count()).where(
        replicas.c.replica != replica.name,
        replicas.c.seen_at_ms.between(now - lease_ms + 1, now + lease_ms),
        sa.or_(replicas.c.joins_at_ms <= now, replicas.c.joins_at_ms > now + join_ms),
    )
    return 1 + connection.execute(others).scalar_one()


def _go_on_from_before(connection: sa.Connection) -> None:
    never_held = shards.c.epoch == 0
    if connection.execute(sa.select(sa.func.count()).where(never_held)).scalar_one() < SHARDS:
        return
    # Raised first: who still writes under the epoch before finds that it is over.
    raised = sa.update(play_time).where(play_time.c.epoch > 0).values(epoch=play_time.c.epoch + 1)
    before = connection.execute(raised.returning(*play_time.c)).first()
    if before is not None:
        connection.execute(
            sa.update(shards)
            .where(never_held)
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
    lease_ms = replica.terms.lease_ms
    free = sa.or_(
        shards.c.holder == "",
        # Taken, but the answer was lost; or by the process of this name before.
        sa.and_(shards.c.holder == replica.name, shards.c.shard.not_in(held)),
    )
    if with_expired:
        free = sa.or_(free, sa.not_(shards.c.lease_until_ms.between(now + 1, now + 2 * lease_ms)))
    chosen = (
        sa.select(shards.c.shard)
        .where(free, shards.c.shard.not_in(held))
        .order_by(shards.c.shard)
        .limit(wanted)
        .with_for_update(skip_locked=True)
    )
    rows = connection.execute(
        sa.update(shards)
        .where(shards.c.shard.in_(chosen))
        .values(holder=replica.name, epoch=shards.c.epoch + 1, lease_until_ms=now + lease_ms)
        .returning(*shards.c)
    )
    found: dict[tuple[int, Start], list[int]] = {}
    for row in rows:
        start = Start(
            play_time_ms=row.play_time_ms,
            given_back_ms=row.given_back_ms,
            away_ms=max(0, now - row.saved_at_ms) if row.saved_at_ms else None,
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
    statement = sa.text(_SAVE.format(given=_GIVEN[connection.dialect.name]))
    given = json.dumps([_row(item, now) for item in kept])
    values = {"holder": holder, "replica": replica.name, "lease_until_ms": lease_until_ms, "given": given}
    return frozenset(row.shard for row in connection.execute(statement, values))


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
