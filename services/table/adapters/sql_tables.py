"""SQL of tables and seats: the lobby, and who is there."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import sqlalchemy as sa

from services.table.adapters.schema import game_results, games, histories, seats, table_stops, tables
from services.table.application.ports import Sweep, TableKey
from services.table.domain.seating import EditionSeats, Seating
from services.table.domain.table import Seat, Status, Stop, Table, Wishes

_HISTORY = sa.select(histories.c.history_id).scalar_subquery().label("history_id")
_SELECT = (
    sa.select(
        *(tables, games.c.last_seq, games.c.holders_version, _HISTORY),
        *(table_stops.c.why, table_stops.c.is_broken, table_stops.c.was_paused),
    )
    .join(games, sa.and_(games.c.shard == tables.c.shard, games.c.table_id == tables.c.table_id))
    .outerjoin(table_stops, sa.and_(table_stops.c.shard == tables.c.shard, table_stops.c.table_id == tables.c.table_id))
)
# What comes many times a second is built once.
_LOAD = _SELECT.where(tables.c.shard == sa.bindparam("of_shard"), tables.c.table_id == sa.bindparam("of_table"))
_SEATS = (
    sa.select(seats)
    .where(sa.tuple_(seats.c.shard, seats.c.table_id).in_(sa.bindparam("keys", expanding=True)))
    .order_by(seats.c.seat)
)

_MARK = (
    sa.update(tables)
    .where(tables.c.shard == sa.bindparam("of_shard"), tables.c.table_id == sa.bindparam("of_table"))
    .where(tables.c.published_version < sa.bindparam("version", type_=sa.BigInteger))
    .values(published_version=sa.bindparam("version", type_=sa.BigInteger))
)
_UNPUBLISHED = (
    _SELECT.where(tables.c.lobby_version > tables.c.published_version)
    .where(tables.c.changed_at_ms < sa.bindparam("before_ms", type_=sa.BigInteger))
    .order_by(tables.c.changed_at_ms)
    .limit(sa.bindparam("most", type_=sa.Integer))
)


def create(connection: sa.Connection, table: Table) -> bool:
    """False if the id is taken."""
    key: dict[str, Any] = {"shard": table.shard, "table_id": table.table_id}
    found = sa.select(tables.c.shard).where(_is_table(tables, TableKey(table.shard, table.table_id)))
    taken = connection.execute(found).first()
    if taken is not None:
        return False
    connection.execute(sa.insert(tables).values(**key, **_fixed(table), **_changing(table), published_version=0))
    connection.execute(
        sa.insert(games).values(
            **key,
            last_seq=0,
            holders_version=table.holders_version,
            published_seq=0,
            is_live=False,
            is_over=False,
            has_bots=False,
            changed_at_ms=table.created_at_ms,
        )
    )
    _insert_seats(connection, table, {})
    return True


def load(connection: sa.Connection, key: TableKey) -> Table | None:
    found = connection.execute(_LOAD, {"of_shard": key.shard, "of_table": key.table_id}).all()
    return next(iter(_with_seats(connection, found)), None)


def save(connection: sa.Connection, table: Table, changed_at_ms: int) -> bool:
    """False if the stored version is not the one before this."""
    key = TableKey(table.shard, table.table_id)
    changed = connection.execute(
        sa.update(tables)
        .where(_is_table(tables, key), tables.c.lobby_version == table.lobby_version - 1)
        .values(**_changing(table), changed_at_ms=changed_at_ms)
    )
    if changed.rowcount != 1:
        return False
    connection.execute(sa.update(games).where(_is_table(games, key)).values(holders_version=table.holders_version))
    seen = {
        row.session_id: row
        for row in connection.execute(
            sa.select(seats.c.session_id, seats.c.seen_at_ms, seats.c.present).where(_is_table(seats, key))
        )
    }
    connection.execute(sa.delete(seats).where(_is_table(seats, key)))
    _insert_seats(connection, table, seen)
    if table.status == Status.EXPIRED:
        ended = {"shard": table.shard, "table_id": table.table_id, "result": b"", "ended_at_ms": changed_at_ms}
        connection.execute(sa.insert(game_results).values(**ended))
    return True


def list_open(connection: sa.Connection, edition: str, before: tuple[int, str] | None, limit: int) -> list[Table]:
    query = _SELECT.where(tables.c.is_listed)
    if edition:
        query = query.where(tables.c.edition == edition)
    return _newest_first(connection, query, before, limit)


def list_held(connection: sa.Connection, session_id: str, before: tuple[int, str] | None, limit: int) -> list[Table]:
    query = _SELECT.join(seats, sa.and_(seats.c.shard == tables.c.shard, seats.c.table_id == tables.c.table_id)).where(
        seats.c.session_id == session_id
    )
    return _newest_first(connection, query, before, limit)


def touch(connection: sa.Connection, seen: Sequence[tuple[TableKey, str]], now_ms: int) -> list[TableKey]:
    """Notes live sessions; the tables where somebody had been absent."""
    wanted = sa.tuple_(seats.c.shard, seats.c.table_id, seats.c.session_id).in_(
        [(key.shard, key.table_id, session_id) for key, session_id in seen]
    )
    returned = connection.execute(
        sa.select(seats.c.shard, seats.c.table_id).where(wanted, sa.not_(seats.c.present)).distinct()
    ).all()
    connection.execute(sa.update(seats).where(wanted).values(seen_at_ms=now_ms, present=True))
    keys = [TableKey(row.shard, row.table_id) for row in returned]
    _bump(connection, keys, now_ms)
    return keys


def mark_absent(connection: sa.Connection, sweep: Sweep, limit: int) -> list[TableKey]:
    gone = connection.execute(
        sa.select(seats.c.shard, seats.c.table_id, seats.c.seat)
        .where(seats.c.present, seats.c.seen_at_ms < sweep.absent_before_ms, seats.c.session_id != "")
        .limit(limit)
    ).all()
    if not gone:
        return []
    wanted = sa.tuple_(seats.c.shard, seats.c.table_id, seats.c.seat).in_([tuple(row) for row in gone])
    connection.execute(
        sa.update(seats).where(wanted, seats.c.seen_at_ms < sweep.absent_before_ms).values(present=False)
    )
    keys = list(dict.fromkeys(TableKey(row.shard, row.table_id) for row in gone))
    _bump(connection, keys, sweep.now_ms)
    return keys


def abandoned(connection: sa.Connection, sweep: Sweep, limit: int) -> list[Table]:
    of_table = (seats.c.shard == tables.c.shard, seats.c.table_id == tables.c.table_id, seats.c.session_id != "")
    vanished = sa.exists().where(*of_table, seats.c.seen_at_ms < sweep.vacated_before_ms)
    people = sa.select(sa.func.count()).where(*of_table).scalar_subquery()
    query = (
        _SELECT.where(
            tables.c.status == int(Status.LOBBY),
            sa.or_(vanished, sa.and_(tables.c.created_at_ms < sweep.lobby_before_ms, people < 2)),
        )
        .order_by(tables.c.created_at_ms)
        .limit(limit)
    )
    return _with_seats(connection, connection.execute(query).all())


def mark_published(connection: sa.Connection, marks: Sequence[tuple[TableKey, int]]) -> None:
    for key, version in marks:
        connection.execute(_MARK, {"of_shard": key.shard, "of_table": key.table_id, "version": version})


def unpublished(connection: sa.Connection, before_ms: int, limit: int) -> list[Table]:
    found = connection.execute(_UNPUBLISHED, {"before_ms": before_ms, "most": limit})
    return _with_seats(connection, found.all())


def _is_table(of: sa.Table, key: TableKey) -> sa.ColumnElement[bool]:
    return sa.and_(of.c.shard == key.shard, of.c.table_id == key.table_id)


def _bump(connection: sa.Connection, keys: Iterable[TableKey], now_ms: int) -> None:
    """A new lobby version for a change of presence; in one order everywhere, so that nobody waits in a circle."""
    for key in sorted(keys, key=lambda key: (key.shard, key.table_id)):
        connection.execute(
            sa.update(tables)
            .where(_is_table(tables, key))
            .values(lobby_version=tables.c.lobby_version + 1, changed_at_ms=now_ms)
        )


def _newest_first(
    connection: sa.Connection, query: sa.Select[Any], before: tuple[int, str] | None, limit: int
) -> list[Table]:
    place = sa.tuple_(tables.c.created_at_ms, tables.c.table_id)
    if before is not None:
        query = query.where(place < sa.tuple_(sa.literal(before[0], sa.BigInteger), sa.literal(before[1])))
    query = query.order_by(tables.c.created_at_ms.desc(), tables.c.table_id.desc()).limit(limit)
    return _with_seats(connection, connection.execute(query).all())


def _with_seats(connection: sa.Connection, rows: Sequence[sa.Row[Any]]) -> list[Table]:
    if not rows:
        return []
    keys = [(row.shard, row.table_id) for row in rows]
    held: dict[tuple[int, str], list[Seat]] = {key: [] for key in keys}
    for row in connection.execute(_SEATS, {"keys": keys}):
        held[row.shard, row.table_id].append(
            Seat(
                name=row.name,
                session_id=row.session_id,
                bot_level=row.bot_level,
                secret_hash=row.secret_hash,
                nonce=row.nonce,
                joined_at_ms=row.joined_at_ms,
                seen_at_ms=row.seen_at_ms,
                present=row.present or not row.session_id,
            )
        )
    return [_table(row, tuple(held[row.shard, row.table_id])) for row in rows]


def _table(row: sa.Row[Any], taken: tuple[Seat, ...]) -> Table:
    return Table(
        table_id=row.table_id,
        shard=row.shard,
        status=Status(row.status),
        seats_of_edition=EditionSeats(
            edition=row.edition,
            version=row.edition_version,
            least=row.seats_least,
            most=row.seats_most,
            seatings=frozenset(Seating(name) for name in row.seatings.split(",") if name),
        ),
        wishes=Wishes(
            overrides=tuple((name, value) for name, value in json.loads(row.overrides)),
            capacity=row.capacity,
            spectators=row.spectators,
            unlisted=row.unlisted,
        ),
        seats=taken,
        host_session_id=row.host_session_id,
        host_seated=row.host_seated,
        server_seed=row.server_seed,
        seed_hash=row.seed_hash,
        created_at_ms=row.created_at_ms,
        create_digest=row.create_digest,
        grace_ms=row.grace_ms,
        lobby_version=row.lobby_version,
        holders_version=row.holders_version,
        paused_at_ms=row.paused_at_ms,
        held_ms=row.held_ms,
        last_seq=row.last_seq,
        stop=None if row.why is None else Stop(why=row.why, is_broken=row.is_broken, was_paused=row.was_paused),
        history_id=row.history_id,
    )


def _fixed(table: Table) -> dict[str, Any]:
    edition = table.seats_of_edition
    return {
        "edition": edition.edition,
        "edition_version": edition.version,
        "seats_least": edition.least,
        "seats_most": edition.most,
        "seatings": ",".join(sorted(edition.seatings)),
        "overrides": json.dumps(table.wishes.overrides),
        "capacity": table.wishes.capacity,
        "spectators": table.wishes.spectators,
        "unlisted": table.wishes.unlisted,
        "host_seated": table.host_seated,
        "server_seed": table.server_seed,
        "seed_hash": table.seed_hash,
        "created_at_ms": table.created_at_ms,
        "create_digest": table.create_digest,
        "changed_at_ms": table.created_at_ms,
    }


def _changing(table: Table) -> dict[str, Any]:
    return {
        "status": int(table.status),
        "host_session_id": table.host_session_id,
        "grace_ms": table.grace_ms,
        "lobby_version": table.lobby_version,
        "paused_at_ms": table.paused_at_ms,
        "held_ms": table.held_ms,
        "is_listed": table.is_open() and not table.wishes.unlisted,
    }


def _insert_seats(connection: sa.Connection, table: Table, seen: dict[str, Any]) -> None:
    """What presence has noted since the table was loaded is kept."""
    values = []
    for number, seat in enumerate(table.seats):
        noted = seen.get(seat.session_id) if seat.session_id else None
        values.append(
            {
                "shard": table.shard,
                "table_id": table.table_id,
                "seat": number,
                "name": seat.name,
                "session_id": seat.session_id,
                "bot_level": seat.bot_level,
                "secret_hash": seat.secret_hash,
                "nonce": seat.nonce,
                "joined_at_ms": seat.joined_at_ms,
                "seen_at_ms": max(seat.seen_at_ms, noted.seen_at_ms) if noted else seat.seen_at_ms,
                # Bots are always there: those who are looked through for absent people need not hold them.
                "present": noted.present if noted else seat.present and bool(seat.session_id),
            }
        )
    if values:
        connection.execute(sa.insert(seats), values)
