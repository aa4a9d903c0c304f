"""Play time at the gateway: the clock's last reading of each shard, extrapolated for as long as it is good."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from magnate.clock.v1 import clock_service_pb2 as clock_pb
from magnate.gateway.v1 import gateway_service_pb2 as pb

from gateway.application.heard import PATIENCE_MS, Heard, Line, Standing
from gateway.application.ports import ClockCalls
from services.kit.calls import Following, Replicas

SHARDS = 64

# Readings that were long in coming can be behind by this much: what is left still falls no faster than real time, and
# the grace of a deadline makes good for it. Behind by more, the truth is better than a steady countdown.
_FURTHEST_BEHIND_MS = 500
# After a silence, what had piled up is read first.
_PILED_UP_S = 0.05
# So long a question waits for a reading where one is overdue.
_DUE_READING_S = 0.3
# Between two attempts to hear a replica of the clock: while none is heard, nothing can be played.
_PAUSE_S = 0.2
# Of the kind that goes on while the machine is suspended.
_MONOTONIC = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
_STANDSTILLS = {
    clock_pb.OUTAGE_CAUSE_PROBE_LOST: pb.STANDSTILL_PROBE_LOST,
    clock_pb.OUTAGE_CAUSE_CLOCK_AWAY: pb.STANDSTILL_CLOCK_AWAY,
    clock_pb.OUTAGE_CAUSE_HELD: pb.STANDSTILL_HELD,
}


def boot_s() -> float:
    """Monotonic seconds, those included for which the machine was suspended."""
    return time.clock_gettime(_MONOTONIC)


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


class _Shard:
    """One shard as clients are told of it: play time never falls, and while it is said to be running it never runs
    faster than real time, but to make up for readings that were very long in coming."""

    __slots__ = ("_line", "_shown_ahead_ms", "_shown_ms", "heard")

    def __init__(self) -> None:
        self.heard: Heard | None = None
        self._line = Line()
        self._shown_ms = -1.0
        # How far what was shown as running was ahead of our clock, where it was least.
        self._shown_ahead_ms = float("inf")

    def hear(self, heard: Heard) -> None:
        before = self.heard
        if before is not None and heard.epoch < before.epoch:
            return
        if before is not None and not heard.goes_on(before):
            # Whether or not anybody asked: another gateway may have shown it, to somebody who asks here next.
            before_ms = self._meant_ms(before, heard.at_s)
            if before_ms > heard.play_time_ms:
                self._show(before_ms, heard.at_s, running=False)
        self.heard = heard
        self._line.hear(before, heard)

    def is_silent(self, now_s: float) -> bool:
        """Whether a reading is overdue: they come once a period at least, also while play time stands still."""
        return self.heard is not None and self.heard.age_ms(now_s) > self._line.period_ms + PATIENCE_MS

    def settled_s(self, now_s: float) -> float:
        """From when on a reading that comes now is to be believed, after what was heard before."""
        if self.is_silent(now_s):
            return now_s + _PILED_UP_S
        return 0.0 if self.heard is None else self.heard.settled_s

    def at(self, now_s: float) -> Reading | None:
        heard = self.heard
        if heard is None:
            return None
        standing = self.standing(heard, now_s)
        hold = _aged(heard.play_time.hold, int(heard.age_ms(now_s))) if standing.hold_id is not None else None
        shown_ms = int(self._show(self._meant_ms(heard, now_s), now_s, running=standing.running))
        return Reading(shown_ms, standing.running, heard.given_back_ms, standing.cause, hold)

    def standing(self, heard: Heard, now_s: float) -> Standing:
        standing = heard.standing(now_s)
        if not standing.running:
            return standing
        exact_ms = self._line.play_time_ms(heard, now_s)
        if heard.shown_up_to_ms > heard.play_time_ms and exact_ms < heard.shown_up_to_ms:
            # It has been shown further before the last outage, and waits there: nobody may count on from it.
            return Standing(False, clock_pb.OUTAGE_CAUSE_PROBE_LOST, standing.hold_id)
        if not self._line.is_sure or exact_ms > heard.furthest_ms:
            # Beyond what the reading is good for it does not advance.
            return Standing(False, clock_pb.OUTAGE_CAUSE_CLOCK_AWAY, standing.hold_id)
        return standing

    @property
    def key(self) -> object:
        """The same for shards that stand alike."""
        return self.heard, self._line.key

    def _meant_ms(self, heard: Heard, now_s: float) -> float:
        """Where play time is by what was heard, were it shown exactly."""
        least_ms = max(heard.play_time_ms, heard.shown_up_to_ms)
        if not (heard.running and heard.valid_ms):
            return float(least_ms)
        return max(least_ms, min(self._line.play_time_ms(heard, now_s), heard.furthest_ms))

    def _show(self, meant_ms: float, now_s: float, *, running: bool) -> float:
        steady_ms = self._shown_ahead_ms + now_s * 1000
        if meant_ms - steady_ms > _FURTHEST_BEHIND_MS:
            steady_ms, self._shown_ahead_ms = meant_ms, float("inf")
        self._shown_ms = max(self._shown_ms, min(meant_ms, steady_ms))
        if running:
            self._shown_ahead_ms = min(self._shown_ahead_ms, self._shown_ms - now_s * 1000)
        return self._shown_ms


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

    def __init__(self, now_s: Callable[[], float] = boot_s) -> None:
        """`now_s` tells monotonic seconds that go on while the machine is suspended."""
        self._now_s = now_s
        self._shards = [_Shard() for _ in range(SHARDS)]
        self._next = asyncio.Event()

    def at(self, shard: int) -> Reading | None:
        """The reading of a shard; None when the clock has not been heard yet."""
        return self._shards[shard].at(self._now_s())

    async def settle(self, shard: int) -> None:
        """Waits a moment for a reading when one is overdue: who was stopped must not take the last for the present."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_DUE_READING_S):
                while self._shards[shard].is_silent(self._now_s()):
                    await self._next.wait()
                    # Until what had piled up is read.
                    await asyncio.sleep(_PILED_UP_S)

    def standings(self) -> list[Standing | None]:
        """How all shards stand, by number. Cheap, for most shards are told the same."""
        now_s = self._now_s()
        found: dict[object, Standing | None] = {}
        keys = [shard.key for shard in self._shards]
        for shard, key in zip(self._shards, keys, strict=True):
            if key not in found:
                found[key] = None if shard.heard is None else shard.standing(shard.heard, now_s)
        return [found[key] for key in keys]

    def hear(self, message: clock_pb.WatchPlayTimeResponse) -> None:
        """Takes the readings of one replica in; one of a lower epoch than the last is void."""
        now_s = self._now_s()
        heard: Heard | None = None
        for play_time in message.play_times:
            number = play_time.shard
            if heard is None or not heard.says(play_time):
                heard = Heard(play_time, now_s, self._shards[number].settled_s(now_s))
            for shard in self._shards if message.same_for_all else self._shards[number : number + 1]:
                shard.hear(heard)
        self._next.set()
        self._next = asyncio.Event()

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
