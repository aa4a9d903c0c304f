"""The last update of a game among many: one that cannot be read must not hold up the others."""

from __future__ import annotations

from google.protobuf.message import DecodeError
from magnate.game.v1 import update_pb2

from services.kit.logs import get_log

_log = get_log(__name__)


def read_update(table_id: str, stored: bytes) -> update_pb2.Update | None:
    """The update; None for bytes that are none, of which the log tells. The next command stops such a table."""
    try:
        return update_pb2.Update.FromString(stored)
    except DecodeError:
        _log.error("update_unreadable", table_id=table_id, size_bytes=len(stored))
        return None
