"""Play time between two readings: extrapolated for a while, never backwards."""

from __future__ import annotations

from typing import NamedTuple


class Reading(NamedTuple):
    """One reading of the clock service; `received_s` is a monotonic moment of our own, in seconds. `held` says why an
    operator lets play time stand still, where he does."""

    play_time_ms: int
    epoch: int
    running: bool
    valid_for_ms: int
    received_s: float
    held: str | None = None


_PERIOD_MS = 250
# A reading that is late by more than this is not only late.
_PATIENCE_MS = 100
# What comes after such a silence had piled up; the last of it has been read so much later.
PILED_UP_S = 0.02


class Track:
    """Play time of one shard as this process knows it."""

    __slots__ = ("_highest_ms", "_period_ms", "_reading", "_settled_s")

    def __init__(self) -> None:
        self._reading: Reading | None = None
        self._highest_ms = 0
        # The time between two readings; one that follows an outage is good for less, or for nothing.
        self._period_ms = _PERIOD_MS
        self._settled_s = 0.0

    def follow(self, reading: Reading) -> bool:
        """Takes a reading over; false for one of a lower epoch, which is void."""
        if self._reading is not None and reading.epoch < self._reading.epoch:
            return False
        if self._reading is not None and not self.is_heard(reading.received_s):
            self._settled_s = reading.received_s + PILED_UP_S
        self._reading = reading
        self._period_ms = max(self._period_ms, reading.valid_for_ms)
        return True

    @property
    def held(self) -> str | None:
        """The operator's words while he lets play time stand still."""
        return None if self._reading is None else self._reading.held

    def is_stale(self, now_s: float) -> bool:
        """No reading says how far play time is now, or whether it still stands: it is long ago, or had piled up."""
        return self._reading is not None and (now_s < self._settled_s or not self.is_heard(now_s))

    def is_heard(self, now_s: float) -> bool:
        """Whether the newest reading is of the present; the clock tells them while play time stands still, too."""
        reading = self._reading
        return reading is not None and (now_s - reading.received_s) * 1000 <= self._period_ms + _PATIENCE_MS

    def now_ms(self, now_s: float) -> int | None:
        """Play time at this monotonic moment; it stands still when readings stay away. None before the first one."""
        reading = self._reading
        if reading is None:
            return None
        value = reading.play_time_ms
        if reading.running:
            value += max(0, min(int((now_s - reading.received_s) * 1000), reading.valid_for_ms))
        # A late reading, or the first of a new epoch, may lie behind what was said already.
        self._highest_ms = max(self._highest_ms, value)
        return self._highest_ms
