"""States of games for the rules service: by name, and by value when it asks for them."""

from __future__ import annotations

import hashlib

from magnate.game.v1 import event_pb2, update_pb2
from magnate.rules.v1 import rules_service_pb2 as rules_pb

from services.table.application.ports import LoggedUpdate, Store, TableKey
from services.table.domain.refusals import Reason, RefusalError

_PAGE = 1_000
_DIGEST_BYTES = 8


def digest_of(update: bytes) -> bytes:
    """By which the rules tell the committed state from one that was decided only. See StateSource.update_digest."""
    return hashlib.sha256(update).digest()[:_DIGEST_BYTES]


def by_name(key: TableKey, seq: int, state_hash: bytes, update_digest: bytes) -> rules_pb.StateSource:
    """The state after this event, which the rules service may still have."""
    return rules_pb.StateSource(table_id=key.table_id, seq=seq, state_hash=state_hash, update_digest=update_digest)


async def by_value(store: Store, key: TableKey, name: rules_pb.StateSource) -> rules_pb.StateSource | None:
    """The state of this name with the snapshot before it and the events since; None when the game has gone on so far
    that the snapshot is of a later state."""
    found = await store.load_snapshot(key)
    if found is None:
        raise RefusalError(Reason.INTERNAL, "the table has no snapshot", {"fault": "state"})
    snapshot_seq, snapshot = found
    seq = name.seq
    if snapshot_seq > seq:
        return None
    source = rules_pb.StateSource()
    source.CopyFrom(name)
    source.snapshot = snapshot
    after = snapshot_seq
    while after < seq:
        rows, _ = await store.read_log(key, after, _PAGE, with_secrets=True)
        for row in rows:
            if row.last_seq > seq:
                return source
            source.tail.extend(whole_events(row))
        if not rows:
            return source
        after = rows[-1].last_seq
    return source


def whole_events(row: LoggedUpdate) -> list[event_pb2.Event]:
    """The events of a command with the bodies that its update withholds."""
    update = update_pb2.Update.FromString(row.update)
    if not row.secrets:
        return list(update.events)
    withheld = {event.seq: event for event in rules_pb.LogEntry.FromString(row.secrets).secrets}
    return [withheld.get(event.seq, event) for event in update.events]
