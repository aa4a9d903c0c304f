"""The counter of the time during which the site could be played.

It advances only over stretches that lie between two probes that came back and are no longer than the rhythm of the
probes allows. Whatever else passes is given back: it is recorded as an outage and no deadline sees it.

Only monotonic time moves the counter; wall-clock moments are kept beside it for people to read.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

NS_PER_MS = 1_000_000


class Cause(StrEnum):
    """Why play time stood still."""

    PROBE_LOST = "probe_lost"
    CLOCK_AWAY = "clock_away"
    HELD = "held"


@dataclass(frozen=True, slots=True)
class Instant:
    """A moment: monotonic nanoseconds, and milliseconds of Unix time (for people only)."""

    mono_ns: int
    unix_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rhythm:
    """`period_ms`: time between two probes; `longest_gap_ms`: between two that came back for the stretch to count."""

    period_ms: int
    longest_gap_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Outage:
    """A stretch that did not count; `to_unix_ms` is 0 while it lasts. Ids ascend from 1."""

    outage_id: int
    from_unix_ms: int
    to_unix_ms: int
    cause: Cause
    given_back_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """What a restart goes on from. `saved_at_unix_ms` is 0 for a counter that never ran."""

    play_time_ms: int = 0
    given_back_ms: int = 0
    last_outage_id: int = 0
    saved_at_unix_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Play time as it is told to others.

    A reader may extrapolate for `valid_for_ms`. The next reading may be behind what he got that way, by at most
    one period (after a restart: what was not on the checkpoint yet); he then waits for it, and never goes back.
    """

    play_time_ms: int
    read_at_unix_ms: int
    epoch: int
    running: bool
    valid_for_ms: int
    given_back_ms: int


class PlayTime:
    """The counter of one epoch, going on from a checkpoint; it stands still until the first probe comes back."""

    def __init__(self, *, epoch: int, start: Checkpoint, rhythm: Rhythm, now: Instant) -> None:
        self.epoch = epoch
        self._rhythm = rhythm
        self._period_ns = rhythm.period_ms * NS_PER_MS
        self._longest_gap_ns = rhythm.longest_gap_ms * NS_PER_MS
        self._counted_ns = start.play_time_ms * NS_PER_MS
        self._shown_ns = self._counted_ns
        self._given_back_ms = start.given_back_ms
        self._last_outage_id = start.last_outage_id
        self._last_return: Instant | None = None
        self._last_tick = now
        self._open: Outage | None = None
        self._away_ms = 0
        self._started = now
        if start.saved_at_unix_ms:
            self._away_ms = max(0, now.unix_ms - start.saved_at_unix_ms)
            self._open_outage(start.saved_at_unix_ms, Cause.CLOCK_AWAY)

    @property
    def play_time_ms(self) -> int:
        """Play time that surely passed: what deadlines are measured with. Never falls."""
        return self._counted_ns // NS_PER_MS

    @property
    def given_back_ms(self) -> int:
        """Milliseconds that did not count, in total, over all epochs."""
        return self._given_back_ms

    @property
    def running(self) -> bool:
        """Whether play time is advancing."""
        return self._open is None and self._last_return is not None

    @property
    def open_outage(self) -> Outage | None:
        """The outage that lasts, if there is one; what it gives back is not known before its end."""
        return self._open

    def tick(self, now: Instant) -> bool:
        """To be called about once a period, whatever the probes do; true if play time stands still from now on."""
        stopped = False
        if self.running and self._last_return is not None and self._is_gap(self._last_return, now):
            self._open_outage(self._last_return.unix_ms, self._cause_at(now))
            stopped = True
        self._last_tick = max(self._last_tick, now, key=_mono)
        return stopped

    def probe_returned(self, now: Instant) -> Outage | None:
        """Counts the stretch since the probe before, or ends an outage and gives that back."""
        last, ended = self._last_return, None
        if last is not None and now.mono_ns <= last.mono_ns:
            return None
        if last is None:
            ended = self._end_outage(now, self._away_ms + (now.mono_ns - self._started.mono_ns) // NS_PER_MS)
        elif self._open is not None or self._is_gap(last, now):
            if self._open is None:
                self._open_outage(last.unix_ms, self._cause_at(now))
            ended = self._end_outage(now, (now.mono_ns - last.mono_ns) // NS_PER_MS)
        else:
            self._counted_ns += now.mono_ns - last.mono_ns
        self._last_return = now
        self._last_tick = max(self._last_tick, now, key=_mono)
        return ended

    def read(self, now: Instant) -> Reading:
        """The reading at this moment; readings of one epoch never fall and never run faster than real time."""
        valid_ns = 0
        if self.running and self._last_return is not None:
            passed_ns = min(max(0, now.mono_ns - self._last_return.mono_ns), self._period_ns)
            self._shown_ns = max(self._shown_ns, self._counted_ns + passed_ns)
            valid_ns = max(0, self._counted_ns + self._period_ns - self._shown_ns)
        return Reading(
            play_time_ms=self._shown_ns // NS_PER_MS,
            read_at_unix_ms=now.unix_ms,
            epoch=self.epoch,
            running=self.running,
            valid_for_ms=valid_ns // NS_PER_MS,
            given_back_ms=self._given_back_ms,
        )

    def checkpoint(self, now: Instant) -> Checkpoint:
        """What to store: never ahead of what surely passed, so that a restart errs in the players' favour."""
        return Checkpoint(
            play_time_ms=self.play_time_ms,
            given_back_ms=self._given_back_ms,
            last_outage_id=self._last_outage_id if self._open is None else self._last_outage_id - 1,
            saved_at_unix_ms=now.unix_ms if self._open is None else self._open.from_unix_ms,
        )

    def expected_ns(self, play_time_ms: int) -> int | None:
        """The monotonic moment at which play time gets there if nothing fails; None while it stands still."""
        if not self.running or self._last_return is None:
            return None
        return self._last_return.mono_ns + play_time_ms * NS_PER_MS - self._counted_ns

    def _is_gap(self, last: Instant, now: Instant) -> bool:
        return now.mono_ns - last.mono_ns > self._longest_gap_ns

    def _cause_at(self, now: Instant) -> Cause:
        # Who was not called himself for so long cannot blame the probes: stopped, suspended, or starved.
        return Cause.CLOCK_AWAY if self._is_gap(self._last_tick, now) else Cause.PROBE_LOST

    def _open_outage(self, from_unix_ms: int, cause: Cause) -> None:
        self._last_outage_id += 1
        self._open = Outage(
            outage_id=self._last_outage_id, from_unix_ms=from_unix_ms, to_unix_ms=0, cause=cause, given_back_ms=0
        )

    def _end_outage(self, now: Instant, given_back_ms: int) -> Outage | None:
        if self._open is None:
            return None
        ended = Outage(
            outage_id=self._open.outage_id,
            from_unix_ms=self._open.from_unix_ms,
            to_unix_ms=now.unix_ms,
            cause=self._open.cause,
            given_back_ms=given_back_ms,
        )
        self._given_back_ms += given_back_ms
        self._open = None
        return ended


def _mono(instant: Instant) -> int:
    return instant.mono_ns
