"""A token bucket: so many at once, and so many a second in the long run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Bucket:
    """What is left, and when that was reckoned, in seconds of a monotonic clock."""

    left: float
    at_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """`burst` at once, `per_second` in the long run; a burst of 0 means no limit."""

    burst: float
    per_second: float

    def full(self, now_s: float) -> Bucket:
        """A bucket that nothing was taken from."""
        return Bucket(self.burst, now_s)

    def take(self, bucket: Bucket, now_s: float) -> int | None:
        """Takes one; None if there was one, else the milliseconds until there will be."""
        if not self.burst:
            return None
        bucket.left = min(self.burst, bucket.left + (now_s - bucket.at_s) * self.per_second)
        bucket.at_s = now_s
        if bucket.left >= 1:
            bucket.left -= 1
            return None
        return max(1, int((1 - bucket.left) / self.per_second * 1000) + 1)

    def is_full(self, bucket: Bucket, now_s: float) -> bool:
        """Whether the bucket has filled up again, so that it may be forgotten."""
        return bucket.left + (now_s - bucket.at_s) * self.per_second >= self.burst
