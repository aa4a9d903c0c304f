"""Play time at the gateway: the clock's last reading of each shard, extrapolated for as long as it is good."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from magnate.clock.v1 import clock_service_pb2 as clock_pb
from magnate.gateway.v1 import gateway_service_pb2 as pb

from gateway.application.ports import ClockCalls
from services.kit.calls import Following, Replicas

SHARDS = 64

# So much longer than the clock says a reading is shown on: readings of a busy machine come late, and play time that
# flickers helps nobody. What is shown decides nothing.
_PATIENCE_MS = 350
# Readings that were long in coming can be behind by this much: what is left still falls no faster than real time, and
# the grace of a deadline makes good for it. Behind by more, the truth is better than a steady countdown.
_FURTHEST_BEHIND_MS = 500
# After a silence, what had piled up is read first.
_PILED_UP_S = 0.05
# A reading that is good for so long, or for longer than any before, says exactly how far play time is.
_PERIOD_MS = 250
# Between two attempts to hear a replica of the clock: while none is heard, nothing can be played.
_PAUSE_S = 0.2
_STANDSTILLS = {
    clock_pb.OUTAGE_CAUSE_PROBE_LOST: pb.STANDSTILL_PROBE_LOST,
    clock_pb.OUTAGE_CAUSE_CLOCK_AWAY: pb.STANDSTILL_CLOCK_AWAY,
    clock_pb.OUTAGE_CAUSE_HELD: pb.STANDSTILL_HELD,
}


@dataclass(frozen=True, slots=True)
class Reading:
    """Play time now, whether it is advancing and if not why, what did not count in total, and the hold that lasts or
    is announced; in milliseconds."""

    play_time_ms: int
    running: bool
    given_back_ms: int
    cause: clock_pb.OutageCause.ValueType
    hold: clock_pb.Hold | None = None

    @property
    def standstill(self) -> pb.Standstill.ValueType:
        """Why it stands still, for clients."""
        return _STANDSTILLS.get(self.cause, pb.STANDSTILL_UNSPECIFIED)

    @property
    def maintenance(self) -> pb.Maintenance | None:
        """The hold, for clients."""
        if self.hold is None:
            return None
        return pb.Maintenance(
            begins_in_ms=self.hold.begins_in_ms,
            ends_in_ms=self.hold.ends_in_ms,
            ends_at_unix_ms=self.hold.ends_at_unix_ms,
            reason=self.hold.reason,
        )


class Standing(NamedTuple):
    """Whether play time of a shard is advancing and if not why, and the hold that lasts or is announced."""

    running: bool
    cause: clock_pb.OutageCause.ValueType
    hold_id: str | None


class _Heard:
    """What the clock said of some shards, at a monotonic moment of our own; believed from `settled_s` on."""

    __slots__ = (
        "at_s",
        "epoch",
        "given_back_ms",
        "good_ms",
        "play_time",
        "play_time_ms",
        "running",
        "settled_s",
        "valid_ms",
    )

    def __init__(self, play_time: clock_pb.PlayTime, at_s: float, settled_s: float) -> None:
        self.play_time = play_time
        self.at_s = at_s
        self.settled_s = settled_s
        # Looked at for each shard: a field of a message is not as cheap.
        self.play_time_ms = play_time.play_time_ms
        self.epoch = play_time.epoch
        self.running = play_time.running
        self.given_back_ms = play_time.given_back_ms
        self.valid_ms = play_time.valid_for_ms
        # So long it is shown on.
        self.good_ms = self.valid_ms + _PATIENCE_MS

    def age_ms(self, now_s: float) -> float:
        return max(0.0, now_s - self.at_s) * 1000

    def is_good(self, now_s: float) -> bool:
        """Whether what it says of the present can be believed."""
        return self.settled_s <= now_s and self.age_ms(now_s) <= self.good_ms

    def says(self, other: clock_pb.PlayTime) -> bool:
        """Whether the other shard of the same message is told the same."""
        return (
            self.play_time_ms == other.play_time_ms
            and self.epoch == other.epoch
            and self.running == other.running
            and self.valid_ms == other.valid_for_ms
            and self.given_back_ms == other.given_back_ms
            and self.play_time.cause == other.cause
            and not (self.play_time.HasField("hold") or other.HasField("hold"))
        )

    def standing(self, now_s: float) -> Standing:
        said, age_ms = self.play_time, self.age_ms(now_s)
        running = self.running and self.is_good(now_s)
        cause = said.cause
        if self.running:
            cause = clock_pb.OUTAGE_CAUSE_UNSPECIFIED if running else clock_pb.OUTAGE_CAUSE_CLOCK_AWAY
        lasts = said.HasField("hold") and said.hold.ends_in_ms > int(age_ms)
        return Standing(running, cause, said.hold.hold_id if lasts else None)


class _Shard:
    """One shard as clients are told of it: play time never falls, and while it is said to be running it never runs
    faster than real time, but to make up for readings that were very long in coming."""

    __slots__ = ("_ahead_ms", "_period_ms", "_shown_ahead_ms", "_shown_ms", "_stretch", "heard")

    def __init__(self) -> None:
        self.heard: _Heard | None = None
        # How far play time is ahead of our clock, in the stretch in which it has been running: the reading that came
        # quickest says it, for the others are behind by as much as they took longer.
        self._ahead_ms = float("-inf")
        self._stretch = (0, 0)
        self._period_ms = _PERIOD_MS
        self._shown_ms = -1.0
        # The same of what was shown as running, where it was least.
        self._shown_ahead_ms = float("inf")

    def hear(self, heard: _Heard) -> None:
        before = self.heard
        if before is not None and heard.epoch < before.epoch:
            return
        if before is not None:
            # Whether or not anybody asked: another gateway may have shown it, to somebody who asks here next.
            before_ms = self._meant_ms(before, heard.at_s)
            if before_ms > heard.play_time_ms:
                self._show(before_ms, heard.at_s, running=False)
        self.heard = heard
        stretch = (heard.epoch, heard.given_back_ms)
        if stretch != self._stretch or not heard.running or self._is_repeated(before, heard):
            self._stretch, self._ahead_ms = stretch, float("-inf")
        if heard.running and heard.valid_ms >= self._period_ms:
            self._period_ms = heard.valid_ms
            self._ahead_ms = max(self._ahead_ms, heard.play_time_ms - heard.at_s * 1000)

    @staticmethod
    def _is_repeated(before: _Heard | None, heard: _Heard) -> bool:
        """Not late, but not advancing either."""
        return before is not None and before.at_s < heard.at_s and before.play_time_ms == heard.play_time_ms

    def at(self, now_s: float) -> Reading | None:
        heard = self.heard
        if heard is None:
            return None
        standing = heard.standing(now_s)
        hold = _aged(heard.play_time.hold, int(heard.age_ms(now_s))) if standing.hold_id is not None else None
        shown_ms = int(self._show(self._meant_ms(heard, now_s), now_s, running=standing.running))
        return Reading(shown_ms, standing.running, heard.given_back_ms, standing.cause, hold)

    def _meant_ms(self, heard: _Heard, now_s: float) -> float:
        """Where play time is by what was heard, were it shown exactly."""
        meant_ms = float(heard.play_time_ms)
        if heard.running and heard.valid_ms:
            late_ms = self._ahead_ms + heard.at_s * 1000 - meant_ms
            if 0 < late_ms <= _FURTHEST_BEHIND_MS:
                meant_ms += late_ms
            meant_ms += min(heard.age_ms(now_s), heard.good_ms)
        return meant_ms

    def _show(self, meant_ms: float, now_s: float, *, running: bool) -> float:
        steady_ms = self._shown_ahead_ms + now_s * 1000
        if meant_ms - steady_ms > _FURTHEST_BEHIND_MS:
            steady_ms, self._shown_ahead_ms = meant_ms, float("inf")
        self._shown_ms = max(self._shown_ms, min(meant_ms, steady_ms))
        if running:
            self._shown_ahead_ms = min(self._shown_ahead_ms, self._shown_ms - now_s * 1000)
        return self._shown_ms


def _settled_s(before: _Heard | None, now_s: float) -> float:
    """From when on a reading that comes now is to be believed, after what was heard before."""
    if before is None or not before.running:
        return 0.0
    return now_s + _PILED_UP_S if before.age_ms(now_s) > before.good_ms else before.settled_s


def _aged(hold: clock_pb.Hold, age_ms: int) -> clock_pb.Hold:
    """The same, heard so long ago."""
    return clock_pb.Hold(
        hold_id=hold.hold_id,
        reason=hold.reason,
        ends_at_unix_ms=hold.ends_at_unix_ms,
        begins_in_ms=max(0, hold.begins_in_ms - age_ms),
        ends_in_ms=hold.ends_in_ms - age_ms,
    )


class PlayTimes:
    """Follows all replicas of the clock. Before the first reading, and when it has aged, play time stands still here
    too."""

    def __init__(self, now_s: Callable[[], float] = time.monotonic) -> None:
        self._now_s = now_s
        self._shards = [_Shard() for _ in range(SHARDS)]

    def at(self, shard: int) -> Reading | None:
        """The reading of a shard; None when the clock has not been heard yet."""
        return self._shards[shard].at(self._now_s())

    def standings(self) -> list[Standing | None]:
        """How all shards stand, by number. Cheap, for most shards are told the same."""
        now_s = self._now_s()
        found: dict[_Heard | None, Standing | None] = {None: None}
        for shard in self._shards:
            heard = shard.heard
            if heard is not None and heard not in found:
                found[heard] = heard.standing(now_s)
        return [found[shard.heard] for shard in self._shards]

    def hear(self, message: clock_pb.WatchPlayTimeResponse) -> None:
        """Takes the readings of one replica in; one of a lower epoch than the last is void."""
        now_s = self._now_s()
        heard: _Heard | None = None
        for play_time in message.play_times:
            number = play_time.shard
            if heard is None or not heard.says(play_time):
                heard = _Heard(play_time, now_s, _settled_s(self._shards[number].heard, now_s))
            for shard in self._shards if message.same_for_all else self._shards[number : number + 1]:
                shard.hear(heard)

    async def follow(self, clocks: Replicas[ClockCalls]) -> None:
        """Listens to the clock for ever, through its absences."""
        following = Following(
            clocks,
            open_stream=lambda clock: clock.WatchPlayTime(clock_pb.WatchPlayTimeRequest()),
            take=lambda _, message: self.hear(message),
            what="play_time",
            longest_pause_s=_PAUSE_S,
        )
        await following.run()
