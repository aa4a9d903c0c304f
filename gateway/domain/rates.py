"""Limits on how often somebody may call: token buckets, with the time as an input."""

from __future__ import annotations

from math import ceil


class Rates:
    """One bucket for each key: `per_second` calls on average, `burst` at once. A rate of 0 limits nothing.

    Keys are bounded: when there are more than `max_keys`, those that are full again are forgotten, then the oldest.
    """

    def __init__(self, *, per_second: float, burst: float, max_keys: int = 50_000) -> None:
        self._per_second = per_second
        self._burst = max(1.0, burst)
        self._max_keys = max_keys
        self._buckets: dict[str, list[float]] = {}

    def __len__(self) -> int:
        return len(self._buckets)

    def take(self, key: str, now_s: float) -> int:
        """Takes one call off the key's bucket: 0 if it may go on, else the milliseconds until it may."""
        if not self._per_second:
            return 0
        bucket = self._buckets.get(key)
        if bucket is None:
            self._make_room(now_s)
            self._buckets[key] = [self._burst - 1.0, now_s]
            return 0
        tokens = min(self._burst, bucket[0] + (now_s - bucket[1]) * self._per_second)
        bucket[1] = now_s
        if tokens < 1.0:
            bucket[0] = tokens
            return max(1, ceil((1.0 - tokens) / self._per_second * 1000))
        bucket[0] = tokens - 1.0
        return 0

    def _make_room(self, now_s: float) -> None:
        if len(self._buckets) < self._max_keys:
            return
        full_after_s = self._burst / self._per_second
        self._buckets = {key: bucket for key, bucket in self._buckets.items() if now_s - bucket[1] < full_after_s}
        for key in list(self._buckets)[: max(0, len(self._buckets) - self._max_keys // 2)]:
            del self._buckets[key]
