"""Page tokens: opaque to callers, checked when they come back."""

from __future__ import annotations

import base64
import binascii
import json
import zlib

from services.table.domain.refusals import Reason, RefusalError
from services.table.domain.shards import is_table_id

_MAX_NUMBER = 2**62


def encode(kind: str, number: int, table_id: str) -> str:
    """A token for the place after (number, table id) in the list of this kind."""
    body = json.dumps([kind, number, table_id], separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(zlib.crc32(body).to_bytes(4, "big") + body).decode()


def decode(kind: str, token: str) -> tuple[int, str] | None:
    """The place that a token means; None for the empty one. Refuses what this list did not give out."""
    if not token:
        return None
    try:
        raw = base64.b64decode(token.encode("ascii"), altchars=b"-_", validate=True)
        body = raw[4:]
        if int.from_bytes(raw[:4], "big") != zlib.crc32(body):
            raise ValueError
        found, number, table_id = json.loads(body)
        if found != kind or type(number) is not int or not 0 <= number < _MAX_NUMBER:
            raise ValueError
        if not isinstance(table_id, str) or not is_table_id(table_id):
            raise ValueError
    except (ValueError, TypeError, RecursionError, binascii.Error):
        raise RefusalError(Reason.MALFORMED, "no page token of this list", {"field": "page_token"}) from None
    return number, table_id
