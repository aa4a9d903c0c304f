"""Tables and sessions as the contract shows them."""

from __future__ import annotations

from magnate.game.v1 import event_pb2
from magnate.table.v1 import table_pb2

from services.table.domain.session import Session
from services.table.domain.table import Table


def session_message(session: Session) -> table_pb2.Session:
    """The public part of a session."""
    return table_pb2.Session(session_id=session.session_id, name=session.name, expires_at_unix_ms=session.expires_at_ms)


def table_message(table: Table) -> table_pb2.Table:
    """The public part of a table: no seed, no secret, no nonce."""
    edition = table.seats_of_edition
    return table_pb2.Table(
        table_id=table.table_id,
        shard=table.shard,
        status=int(table.status),  # type: ignore[arg-type]
        settings=table_pb2.TableSettings(
            edition=edition.edition,
            edition_version=edition.version,
            overrides=[event_pb2.Override(parameter=name, value=value) for name, value in table.wishes.overrides],
            seats=table.wishes.capacity,
            spectators=table.wishes.spectators,
            unlisted=table.wishes.unlisted,
        ),
        seats=[
            table_pb2.Seat(
                seat=number,
                kind=event_pb2.SEAT_KIND_BOT if seat.is_bot else event_pb2.SEAT_KIND_PERSON,
                name=seat.name,
                session_id=seat.session_id,
                bot_level=seat.bot_level,
                present=seat.present,
            )
            for number, seat in enumerate(table.seats)
        ],
        host_session_id=table.host_session_id,
        seed_hash=table.seed_hash,
        created_at_unix_ms=table.created_at_ms,
        last_seq=table.last_seq,
        lobby_version=table.lobby_version,
        paused=table.is_paused,
        held_ms=table.held_ms,
        stopped=table.stop is not None,
        history_id=table.history_id,
    )
