"""Which of the virtual shards a table or a session belongs to."""

from __future__ import annotations

import re
import zlib

SHARDS = 64
_PUBLIC_ID = re.compile(r"[a-z0-9]{1,64}")


def shard_of(public_id: str) -> int:
    """0 to 63, the same for ever and on every machine."""
    return zlib.crc32(public_id.encode()) % SHARDS


def is_table_id(text: str) -> bool:
    """Whether a text can be the id of a table or a session; others need not be looked for."""
    return _PUBLIC_ID.fullmatch(text) is not None
