"""Limits for each session and each address: one bounded set of token buckets for each kind of wish."""

from __future__ import annotations

from collections import OrderedDict

from services.table.application.ports import Wall
from services.table.domain.buckets import Bucket, Rate
from services.table.domain.refusals import Reason, RefusalError

_MAX_BUCKETS = 10_000


class Limiter:
    """Buckets by key; those not used for longest are forgotten when there are too many."""

    def __init__(self, rate: Rate, what: str, wall: Wall) -> None:
        self._rate = rate
        self._what = what
        self._wall = wall
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def take(self, key: str) -> None:
        """Counts one wish; refuses with `overloaded` and a delay when there were too many."""
        if not self._rate.burst:
            return
        now_s = self._wall.monotonic_s()
        bucket = self._buckets.get(key)
        if bucket is None:
            bucket = self._buckets[key] = self._rate.full(now_s)
            if len(self._buckets) > _MAX_BUCKETS:
                self._buckets.popitem(last=False)
        else:
            self._buckets.move_to_end(key)
        wait_ms = self._rate.take(bucket, now_s)
        if wait_ms is not None:
            raise RefusalError(
                Reason.OVERLOADED, f"too many {self._what}", {"retry_after_ms": str(wait_ms)}, retry_after_ms=wait_ms
            )
