"""A guest session: who a caller is, without an account."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """`token_hash` is the SHA-256 of the token; `salt` makes the ids of the tables that this session creates."""

    session_id: str
    shard: int
    name: str
    token_hash: bytes
    salt: bytes
    created_at_ms: int
    expires_at_ms: int

    def is_over(self, now_ms: int) -> bool:
        """Whether it has expired at this moment, in milliseconds of Unix time."""
        return now_ms >= self.expires_at_ms


def is_good_name(name: str) -> bool:
    """Whether a name can be shown: 1 to 32 characters, no control characters, not blank."""
    return 1 <= len(name) <= 32 and name.isprintable() and bool(name.strip())
