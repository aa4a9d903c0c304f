"""Clocks and randomness of the machine."""

from __future__ import annotations

import base64
import secrets
import time

# Where there is one that goes on while the machine is suspended: it must notice how long it was away.
_MONOTONIC = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
_SEED_BYTES = 32
_TOKEN_BYTES = 24
_ID_BYTES = 10


class SystemWall:
    """See `ports.Wall`."""

    def unix_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic_s(self) -> float:
        return time.clock_gettime(_MONOTONIC)


class SystemChance:
    """See `ports.Chance`."""

    def token(self) -> str:
        return secrets.token_urlsafe(_TOKEN_BYTES)

    def public_id(self) -> str:
        return base64.b32encode(secrets.token_bytes(_ID_BYTES)).decode().lower()

    def seed(self) -> bytes:
        return secrets.token_bytes(_SEED_BYTES)
