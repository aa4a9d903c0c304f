"""How much of a long test to run: the share that fits CI, or all of it (`make test-full`)."""

from __future__ import annotations

import os


def is_full() -> bool:
    """Whether the long form was asked for."""
    return os.environ.get("MAGNATE_TEST_FULL", "") not in {"", "0"}


def amount(share: int, full: int) -> int:
    """The number of rounds, games or examples: `share` in CI, `full` when asked for."""
    return full if is_full() else share
