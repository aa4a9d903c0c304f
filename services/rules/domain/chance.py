"""Chance as a value of (seed, number of the draw): nothing here is random.

`hmac-sha256-v1`: draw k out of n is HMAC-SHA256(game seed, "k:attempt"), its first 8 bytes as a number, tried again
with the next attempt while the number lies above the last multiple of n (no modulo bias), then taken modulo n. One draw
is one number k, however many attempts it took, so that folding an event knows how far to count (IND-SETUP-15, -16).
`script`: draw k is the k-th value of a given list, for tests.
"""

import hashlib
import hmac
from collections.abc import Sequence

from services.rules.domain.state import Config

HMAC_SHA256 = "hmac-sha256-v1"
SCRIPT = "script"

_SPAN = 1 << 64


class ChanceError(Exception):
    """The generator cannot give what was asked: an unknown algorithm, or a script that ran out or does not fit."""


def seed_hash(server_seed: bytes) -> str:
    """What is published before the game: SHA-256 of the server's seed, hexadecimal."""
    return hashlib.sha256(server_seed).hexdigest()


def game_seed(server_seed: bytes, nonces: Sequence[str]) -> bytes:
    """The game's seed (32 bytes), made of the server's seed and what each seat brought: neither side chose it."""
    return hmac.digest(server_seed, "|".join(nonces).encode(), "sha256")


def draw(config: Config, number: int, n: int) -> int:
    """The value of draw `number` (from 0), uniform among 0..n-1."""
    if config.algorithm == HMAC_SHA256:
        limit = _SPAN - _SPAN % n
        attempt = 0
        while True:
            block = hmac.digest(config.game_seed, b"%d:%d" % (number, attempt), "sha256")
            drawn = int.from_bytes(block[:8], "big")
            if drawn < limit:
                return drawn % n
            attempt += 1
    if config.algorithm == SCRIPT:
        if number >= len(config.script):
            raise ChanceError(f"the script has {len(config.script)} values, draw {number + 1} was asked for")
        if config.script[number] >= n:
            raise ChanceError(f"value {config.script[number]} of the script does not fit a draw out of {n}")
        return config.script[number]
    raise ChanceError(f"unknown algorithm {config.algorithm!r}")


def two_dice(config: Config, number: int) -> tuple[int, int]:
    """What two dice show, by draws `number` and the one after it (IND-SETUP-15, MET-DICE-01)."""
    return draw(config, number, 6) + 1, draw(config, number + 1, 6) + 1


def shuffled(config: Config, number: int, size: int) -> tuple[int, ...]:
    """The numbers 0..size-1 shuffled by size-1 draws from `number` on (IND-SETUP-15)."""
    items = list(range(size))
    for index in range(size - 1, 0, -1):
        other = draw(config, number, index + 1)
        number += 1
        items[index], items[other] = items[other], items[index]
    return tuple(items)
