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


class Standing(NamedTuple):
    """Whether play time of a shard is advancing and if not why, and the hold that lasts or is announced."""

    running: bool
    cause: clock_pb.OutageCause.ValueType
    hold_id: str | None


@dataclass(frozen=True, slots=True, eq=False)
class _Heard:
    """What the clock said of some shards, at a monotonic moment of our own."""

    play_time: clock_pb.PlayTime
    at_s: float

    @property
    def good_ms(self) -> int:
        """So long it is shown on."""
        return self.play_time.valid_for_ms + _PATIENCE_MS

    def age_ms(self, now_s: float) -> float:
        return max(0.0, now_s - self.at_s) * 1000

    def says(self, other: clock_pb.PlayTime) -> bool:
        """Whether the other shard of the same message is told the same."""
        said = self.play_time
        return (
            said.play_time_ms == other.play_time_ms
            and said.epoch == other.epoch
            and said.running == other.running
            and said.valid_for_ms == other.valid_for_ms
            and said.given_back_ms == other.given_back_ms
            and said.cause == other.cause
            and not (said.HasField("hold") or other.HasField("hold"))
        )

    def standing(self, now_s: float) -> Standing:
        said, age_ms = self.play_time, self.age_ms(now_s)
        running = said.running and age_ms <= self.good_ms
        cause = said.cause
        if said.running:
            cause = clock_pb.OUTAGE_CAUSE_UNSPECIFIED if running else clock_pb.OUTAGE_CAUSE_CLOCK_AWAY
        lasts = said.HasField("hold") and said.hold.ends_in_ms > int(age_ms)
        return Standing(running, cause, said.hold.hold_id if lasts else None)


class _Shard:
    """One shard as clients are told of it: play time never falls, and never runs faster than real time but to make up
    for a reading that was long in coming."""

    __slots__ = ("_shown_ms", "_shown_s", "heard")

    def __init__(self) -> None:
        self.heard: _Heard | None = None
        self._shown_ms = -1.0
        self._shown_s = 0.0

    def hear(self, heard: _Heard) -> None:
        if self.heard is None or heard.play_time.epoch >= self.heard.play_time.epoch:
            self.heard = heard

    def at(self, now_s: float) -> Reading | None:
        heard = self.heard
        if heard is None:
            return None
        said, age_ms, standing = heard.play_time, heard.age_ms(now_s), heard.standing(now_s)
        meant_ms = float(said.play_time_ms)
        if said.running and said.valid_for_ms:
            meant_ms += min(age_ms, heard.good_ms)
        hold = _aged(said.hold, int(age_ms)) if standing.hold_id is not None else None
        return Reading(int(self._show(meant_ms, now_s)), standing.running, said.given_back_ms, standing.cause, hold)

    def _show(self, meant_ms: float, now_s: float) -> float:
        if self._shown_ms < 0:
            self._shown_ms = meant_ms
        steady_ms = self._shown_ms + (now_s - self._shown_s) * 1000
        if meant_ms - steady_ms > _FURTHEST_BEHIND_MS:
            steady_ms = meant_ms
        self._shown_ms = max(self._shown_ms, min(meant_ms, steady_ms))
        self._shown_s = now_s
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
                heard = _Heard(play_time, now_s)
            for shard in self._shards if message.same_for_all else self._shards[number : number + 1]:
                shard.hear(heard)

    async def follow(self, clocks: Replicas[ClockCalls]) -> None:
        """Listens to the clock for ever, through its absences."""
        following = Following(
            clocks,
            open_stream=lambda clock: clock.WatchPlayTime(clock_pb.WatchPlayTimeRequest()),
            take=lambda _, message: self.hear(message),
            what="play_time",
        )
        await following.run()
