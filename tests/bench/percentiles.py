"""What of many times is told."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Spread:
    """The middle, the 95th and the 99th hundredth, and the longest; in the unit of what was given, 0 for nothing."""

    p50: float
    p95: float
    p99: float
    longest: float


def spread(times: Iterable[float]) -> Spread:
    """The spread of these."""
    ordered = sorted(times) or [0.0]
    count = len(ordered)
    return Spread(*(round(ordered[min(count - 1, count * part // 100)], 3) for part in (50, 95, 99, 100)))
