"""The counter of the time during which a shard could be played.

It advances only over stretches that lie between two probes that came back and are no longer than the rhythm of the
probes allows. Whatever else passes is given back: no deadline sees it. While a shard is held by an operator nothing
counts, whatever the probes do.

Only monotonic time moves the counter; a wall-clock moment is kept beside it for people to read.
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


@dataclass(frozen=True, slots=True)
class Stretch:
    """What did not count: from and to in monotonic nanoseconds, and why."""

    from_ns: int
    to_ns: int
    cause: Cause

    @property
    def given_back_ms(self) -> int:
        """How long it was."""
        return (self.to_ns - self.from_ns) // NS_PER_MS


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What a counter goes on from. `away_ms` passed since it was stored; None for a counter that never ran. `cause` is
    why it stood still then already, None if it advanced."""

    play_time_ms: int = 0
    given_back_ms: int = 0
    away_ms: int | None = None
    cause: Cause | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """What to store of a counter. The last `uncounted_ms` before now are in neither number; None: it never ran.
    `cause` is why play time stands still now, None while it advances."""

    play_time_ms: int
    given_back_ms: int
    uncounted_ms: int | None
    cause: Cause | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Play time as it is told to others.

    A reader may extrapolate for `valid_for_ms`. The next reading may be behind what he got that way, by at most
    one period (under a new epoch: what was not on the checkpoint yet); he then waits for it, and never goes back.
    Clients are shown play time up to the longest gap after the last probe that came back. `shown_up_to_ms` is the most
    that any of them may have been shown by now, so that all who show it wait at the same place.
    """

    play_time_ms: int
    read_at_unix_ms: int
    epoch: int
    running: bool
    valid_for_ms: int
    given_back_ms: int
    cause: Cause | None
    shown_up_to_ms: int


class PlayTime:
    """The counter of one shard under one epoch; it stands still until the first probe comes back."""

    def __init__(self, *, epoch: int, start: Start, rhythm: Rhythm, now: Instant) -> None:
        self.epoch = epoch
        self._period_ns = rhythm.period_ms * NS_PER_MS
        self._longest_gap_ns = rhythm.longest_gap_ms * NS_PER_MS
        self._counted_ns = start.play_time_ms * NS_PER_MS
        self._shown_ns = self._counted_ns
        self._shown_up_to_ns = self._counted_ns
        # In nanoseconds, so that both counters together are monotonic time.
        self._given_back_ns = start.given_back_ms * NS_PER_MS
        # Up to here everything has been counted or given back.
        self._since_ns = now.mono_ns
        self._has_run = False
        self._last_tick_ns = now.mono_ns
        self._standing: Cause | None = None
        self._held = False
        self._released_ns: int | None = None
        if start.away_ms is not None:
            away_ns = max(0, start.away_ms) * NS_PER_MS
            self._since_ns -= away_ns
            self._standing = start.cause or Cause.CLOCK_AWAY
            if self._standing is Cause.HELD:
                # Unless it is held again, it was released meanwhile.
                self._released_ns = now.mono_ns
            # The one before may have counted for a period what he had not stored yet.
            self._shown_up_to_ns += min(away_ns, self._period_ns + self._longest_gap_ns)

    @property
    def play_time_ms(self) -> int:
        """Play time that surely passed: what deadlines are measured with. Never falls."""
        return self._counted_ns // NS_PER_MS

    @property
    def given_back_ms(self) -> int:
        """Milliseconds that did not count, in total, over all epochs."""
        return self._given_back_ns // NS_PER_MS

    @property
    def running(self) -> bool:
        """Whether play time is advancing."""
        return self._has_run and self._standing is None

    @property
    def held(self) -> bool:
        """Whether it stands still by order."""
        return self._held

    @property
    def cause(self) -> Cause | None:
        """Why play time stands still; None while it advances."""
        return None if self.running else self._standing or Cause.PROBE_LOST

    def tick(self, now: Instant, *, lapsed: bool = False) -> Stretch | None:
        """To be called about once a period, whatever the probes do; returns a stretch that ended for another to begin.
        With `lapsed` it is the clock's own fault that nothing counts."""
        self._note_shown(now)
        ended = None
        if self.running and self._is_gap(now):
            self._standing = Cause.CLOCK_AWAY if lapsed else self._cause_at(now)
        elif self._released_ns is not None and now.mono_ns - self._released_ns > self._longest_gap_ns:
            ended = self._end(self._released_ns)
            self._standing = Cause.PROBE_LOST
        self._last_tick_ns = max(self._last_tick_ns, now.mono_ns)
        return ended

    def probe_returned(self, now: Instant) -> Stretch | None:
        """Counts the stretch since the probe before, or ends one that did not count and gives it back."""
        self._note_shown(now)
        if self._held or now.mono_ns <= self._since_ns:
            return None
        if self.running and self._is_gap(now):
            self._standing = self._cause_at(now)
        ended = self._end(now.mono_ns)
        if ended is None and self._has_run:
            self._counted_ns += now.mono_ns - self._since_ns
        self._has_run = True
        self._since_ns = now.mono_ns
        self._last_tick_ns = max(self._last_tick_ns, now.mono_ns)
        return ended

    def hold(self, now: Instant) -> Stretch | None:
        """Play time stands still from now until it is released; returns the stretch for whose cause it stood before.
        One that was held all the time goes on, whoever held it."""
        if self._held:
            return None
        self._note_shown(now)
        ended = None
        if self._standing is not Cause.HELD:
            ended = self._end(now.mono_ns)
            if not self._has_run:
                self._since_ns = now.mono_ns
        self._held, self._standing, self._released_ns = True, Cause.HELD, None
        return ended

    def release(self, now: Instant) -> None:
        """The next probe that comes back sets play time going again."""
        if self._held:
            self._held, self._released_ns = False, now.mono_ns

    def read(self, now: Instant) -> Reading:
        """The reading at this moment; readings of one epoch never fall and never run faster than real time."""
        valid_ns = 0
        self._note_shown(now)
        if self.running:
            passed_ns = min(max(0, now.mono_ns - self._since_ns), self._longest_gap_ns)
            self._shown_ns = max(self._shown_ns, self._counted_ns + passed_ns)
            valid_ns = max(0, self._counted_ns + self._period_ns - self._shown_ns)
        return Reading(
            play_time_ms=self._shown_ns // NS_PER_MS,
            read_at_unix_ms=now.unix_ms,
            epoch=self.epoch,
            running=self.running,
            valid_for_ms=valid_ns // NS_PER_MS,
            given_back_ms=self.given_back_ms,
            cause=self.cause,
            shown_up_to_ms=max(self._shown_ns, self._shown_up_to_ns) // NS_PER_MS,
        )

    def checkpoint(self, now: Instant) -> Checkpoint:
        """What to store: never ahead of what surely passed, so that a restart errs in the players' favour."""
        ran = self._has_run or self._standing is not None
        return Checkpoint(
            play_time_ms=self.play_time_ms,
            given_back_ms=self.given_back_ms,
            uncounted_ms=max(0, now.mono_ns - self._since_ns) // NS_PER_MS if ran else None,
            cause=self.cause,
        )

    def expected_ns(self, play_time_ms: int) -> int | None:
        """The monotonic moment at which play time gets there if nothing fails; None while it stands still."""
        if not self.running:
            return None
        return self._since_ns + play_time_ms * NS_PER_MS - self._counted_ns

    def _note_shown(self, now: Instant) -> None:
        if self.running:
            passed_ns = min(max(0, now.mono_ns - self._since_ns), self._longest_gap_ns)
            self._shown_up_to_ns = max(self._shown_up_to_ns, self._counted_ns + passed_ns)

    def _is_gap(self, now: Instant) -> bool:
        return now.mono_ns - self._since_ns > self._longest_gap_ns

    def _cause_at(self, now: Instant) -> Cause:
        # Who was not called himself for so long cannot blame the probes: stopped, suspended, or starved.
        is_own = now.mono_ns - self._last_tick_ns > self._longest_gap_ns
        return Cause.CLOCK_AWAY if is_own else Cause.PROBE_LOST

    def _end(self, to_ns: int) -> Stretch | None:
        if self._standing is None:
            return None
        ended = Stretch(self._since_ns, max(self._since_ns, to_ns), self._standing)
        self._given_back_ns += ended.to_ns - ended.from_ns
        self._since_ns = ended.to_ns
        self._standing, self._released_ns = None, None
        return ended
