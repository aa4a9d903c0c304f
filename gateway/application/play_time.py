"""Play time at the gateway: the clock's last reading of each shard, extrapolated for as long as it is good."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from magnate.clock.v1 import clock_service_pb2 as clock_pb
from magnate.gateway.v1 import gateway_service_pb2 as pb

from gateway.application.ports import ClockCalls
from services.kit.calls import Following, Replicas

SHARDS = 64

# So much longer than the clock says a reading is shown on: readings of a busy machine come late, and play time that
# flickers helps nobody. What is shown decides nothing.
_PATIENCE_MS = 350
# Who is further behind than this was deaf for a while, and the truth is better than a steady countdown.
_FURTHEST_BEHIND_MS = 250
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


class _Shard:
    """One shard as clients are told of it: play time never falls, and never runs faster than real time but to make up
    for a reading that was long in coming."""

    __slots__ = ("_heard", "_heard_s", "_shown_ms", "_shown_s")

    def __init__(self) -> None:
        self._heard: clock_pb.PlayTime | None = None
        self._heard_s = 0.0
        self._shown_ms = -1.0
        self._shown_s = 0.0

    def hear(self, play_time: clock_pb.PlayTime, now_s: float) -> None:
        if self._heard is None or play_time.epoch >= self._heard.epoch:
            self._heard, self._heard_s = play_time, now_s

    def at(self, now_s: float) -> Reading | None:
        heard = self._heard
        if heard is None:
            return None
        age_ms = max(0.0, now_s - self._heard_s) * 1000
        good_ms = heard.valid_for_ms + _PATIENCE_MS
        running = heard.running and age_ms <= good_ms
        meant_ms = float(heard.play_time_ms)
        if heard.running and heard.valid_for_ms:
            meant_ms += min(age_ms, good_ms)
        cause = heard.cause
        if heard.running:
            cause = clock_pb.OUTAGE_CAUSE_UNSPECIFIED if running else clock_pb.OUTAGE_CAUSE_CLOCK_AWAY
        hold = _aged(heard.hold, int(age_ms)) if heard.HasField("hold") else None
        return Reading(int(self._show(meant_ms, now_s)), running, heard.given_back_ms, cause, hold)

    def _show(self, meant_ms: float, now_s: float) -> float:
        if self._shown_ms < 0:
            self._shown_ms = meant_ms
        steady_ms = self._shown_ms + (now_s - self._shown_s) * 1000
        if meant_ms - steady_ms > _FURTHEST_BEHIND_MS:
            steady_ms = meant_ms
        self._shown_ms = max(self._shown_ms, min(meant_ms, steady_ms))
        self._shown_s = now_s
        return self._shown_ms


def _aged(hold: clock_pb.Hold, age_ms: int) -> clock_pb.Hold | None:
    """The same, heard so long ago; None once it is over."""
    if hold.ends_in_ms <= age_ms:
        return None
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

    def hear(self, message: clock_pb.WatchPlayTimeResponse) -> None:
        """Takes the readings of one replica in; one of a lower epoch than the last is void."""
        now_s = self._now_s()
        for play_time in message.play_times:
            number = play_time.shard
            for shard in self._shards if message.same_for_all else self._shards[number : number + 1]:
                shard.hear(play_time, now_s)

    async def follow(self, clocks: Replicas[ClockCalls]) -> None:
        """Listens to the clock for ever, through its absences."""
        following = Following(
            clocks,
            open_stream=lambda clock: clock.WatchPlayTime(clock_pb.WatchPlayTimeRequest()),
            take=lambda _, message: self.hear(message),
            what="play_time",
        )
        await following.run()
