"""Play time at the gateway: the clock's last reading of each shard, extrapolated for as long as it is good."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from magnate.clock.v1 import clock_service_pb2 as clock_pb
from magnate.gateway.v1 import gateway_service_pb2 as pb

from gateway.application.ports import ClockCalls
from services.kit.calls import Following, Replicas

SHARDS = 64

# So much longer than the clock says a reading is shown on, for readings come late on a busy machine: up to the longest
# gap that may count. The clock knows that, and tells everybody when play time stands still there.
_PATIENCE_MS = 125
# Readings that were long in coming can be behind by this much: what is left still falls no faster than real time, and
# the grace of a deadline makes good for it. Behind by more, the truth is better than a steady countdown.
_FURTHEST_BEHIND_MS = 500
# After a silence, what had piled up is read first.
_PILED_UP_S = 0.05
# A reading that is good for so long, or for longer than any before, says exactly how far play time is.
_PERIOD_MS = 250
# So long a question waits for a reading where one is overdue.
_DUE_READING_S = 0.3
# How far two clocks drift apart, and what no reading can be late by: a clock was set.
_DRIFT = 200e-6
_LATEST_MS = 600
# Two readings that say the same to so much took no time worth speaking of; of so many, one did.
_ALIKE_MS = 5
_ENOUGH = 12
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
        "furthest_ms",
        "given_back_ms",
        "good_ms",
        "play_time",
        "play_time_ms",
        "running",
        "settled_s",
        "shown_up_to_ms",
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
        self.shown_up_to_ms = play_time.shown_up_to_ms
        # So long, and so far, it is shown on.
        self.good_ms = self.valid_ms + _PATIENCE_MS
        self.furthest_ms = self.play_time_ms + self.good_ms

    def age_ms(self, now_s: float) -> float:
        return max(0.0, now_s - self.at_s) * 1000

    def is_settled(self, now_s: float) -> bool:
        """Whether what had piled up before it is read by now."""
        return self.settled_s <= now_s

    def is_good(self, now_s: float) -> bool:
        """Whether what it says of the present can be believed."""
        return self.is_settled(now_s) and self.age_ms(now_s) <= self.good_ms

    def goes_on(self, before: _Heard) -> bool:
        """Whether play time has been running since the one before."""
        return self.running and self.given_back_ms == before.given_back_ms and self.epoch == before.epoch

    def says(self, other: clock_pb.PlayTime) -> bool:
        """Whether the other shard of the same message is told the same."""
        return (
            self.play_time_ms == other.play_time_ms
            and self.epoch == other.epoch
            and self.running == other.running
            and self.valid_ms == other.valid_for_ms
            and self.given_back_ms == other.given_back_ms
            and self.shown_up_to_ms == other.shown_up_to_ms
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


class _Line:
    """Where the clock's monotonic time is, reckoned by ours: what it counted and what it gave back make it up together.
    The reading that came quickest says it, for the others are behind by as much as they took longer."""

    __slots__ = ("_ahead_ms", "_at_s", "_count", "_epoch", "is_sure", "period_ms")

    def __init__(self) -> None:
        self._epoch = -1
        self._ahead_ms = 0.0
        self._at_s = 0.0
        self._count = 0
        self.period_ms = _PERIOD_MS
        # False at the begin of an epoch whose first reading seems to be late, until another one says the same.
        self.is_sure = True

    def hear(self, before: _Heard | None, heard: _Heard) -> None:
        if not heard.running or heard.valid_ms < self.period_ms:
            return
        self.period_ms = heard.valid_ms
        said_ms = heard.play_time_ms + heard.given_back_ms - heard.at_s * 1000
        known_ms = self._ahead_ms - max(0.0, heard.at_s - self._at_s) * 1000 * _DRIFT
        is_repeated = before is not None and before.at_s < heard.at_s and before.play_time_ms == heard.play_time_ms
        is_settled = heard.is_settled(heard.at_s)
        if heard.epoch != self._epoch:
            # What a successor counts and gave back goes on from there, to what the store took to answer him.
            self.is_sure = is_settled and (self._epoch < 0 or known_ms - said_ms <= _ALIKE_MS)
            self._count, known_ms = 0, said_ms
        elif is_settled:
            self._count += 1
            self.is_sure = self.is_sure or abs(known_ms - said_ms) <= _ALIKE_MS or self._count >= _ENOUGH
            if is_repeated or known_ms - said_ms > _LATEST_MS:
                self.is_sure, known_ms = True, said_ms
        self._epoch, self._ahead_ms, self._at_s = heard.epoch, max(known_ms, said_ms), heard.at_s

    @property
    def key(self) -> object:
        """The same for those that are alike."""
        return self._ahead_ms, self._epoch, self.is_sure

    def play_time_ms(self, heard: _Heard, now_s: float) -> float:
        """Where play time would be if it had been running since this reading."""
        if heard.epoch != self._epoch:
            return heard.play_time_ms + heard.age_ms(now_s)
        return self._ahead_ms - heard.given_back_ms + now_s * 1000


class _Shard:
    """One shard as clients are told of it: play time never falls, and while it is said to be running it never runs
    faster than real time, but to make up for readings that were very long in coming."""

    __slots__ = ("_line", "_shown_ahead_ms", "_shown_ms", "heard")

    def __init__(self) -> None:
        self.heard: _Heard | None = None
        self._line = _Line()
        self._shown_ms = -1.0
        # How far what was shown as running was ahead of our clock, where it was least.
        self._shown_ahead_ms = float("inf")

    def hear(self, heard: _Heard) -> None:
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
        return self.heard is not None and self.heard.age_ms(now_s) > self._line.period_ms + _PATIENCE_MS

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

    def standing(self, heard: _Heard, now_s: float) -> Standing:
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

    def _meant_ms(self, heard: _Heard, now_s: float) -> float:
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
        heard: _Heard | None = None
        for play_time in message.play_times:
            number = play_time.shard
            if heard is None or not heard.says(play_time):
                heard = _Heard(play_time, now_s, self._shards[number].settled_s(now_s))
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
