"""Secrets as texts and their hashes: session tokens and the secrets of seats are stored hashed only."""

from __future__ import annotations

import base64
import hashlib
import hmac

from services.table.application.ports import Chance

_SEPARATOR = "."
_TABLE_ID_BYTES = 10


def hash_of(secret: str) -> bytes:
    """SHA-256 of a secret; it is random, so it needs no salt and no slow hash."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def new_token(session_id: str, chance: Chance) -> str:
    """A session token: it names its session, so that it is found by key, and holds a secret."""
    return session_id + _SEPARATOR + chance.token()


def session_id_of(token: str) -> str | None:
    """The session that a token names; None for what is no token."""
    session_id, separator, secret = token.partition(_SEPARATOR)
    return session_id if separator and session_id and secret else None


def are_equal(one: bytes, other: bytes) -> bool:
    """Comparison in constant time."""
    return hmac.compare_digest(one, other)


def table_id_of(salt: bytes, command_id: str) -> str:
    """The id of the table that a session creates under a command id: the same for a repeat, and not to be guessed."""
    digest = hmac.digest(salt, command_id.encode(), "sha256")
    return base64.b32encode(digest[:_TABLE_ID_BYTES]).decode().lower()
