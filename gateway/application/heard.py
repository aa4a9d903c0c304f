"""What the clock said of play time, and where by all that it said its monotonic time is."""

from __future__ import annotations

from typing import NamedTuple

from magnate.clock.v1 import clock_service_pb2 as clock_pb

# So much longer than the clock says a reading is shown on, for readings come late on a busy machine: up to the longest
# gap that may count. The clock knows that, and tells everybody when play time stands still there.
PATIENCE_MS = 125
# A reading that is good for so long, or for longer than any before, says exactly how far play time is.
_PERIOD_MS = 250
# How far two clocks drift apart, and what no reading can be late by: a clock was set.
_DRIFT = 200e-6
_LATEST_MS = 600
# Two readings that say the same to so much took no time worth speaking of; of so many, one did.
_ALIKE_MS = 5
_ENOUGH = 12


class Standing(NamedTuple):
    """Whether play time of a shard is advancing and if not why, and the hold that lasts or is announced."""

    running: bool
    cause: clock_pb.OutageCause.ValueType
    hold_id: str | None


class Heard:
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
        self.good_ms = self.valid_ms + PATIENCE_MS
        self.furthest_ms = self.play_time_ms + self.good_ms

    def age_ms(self, now_s: float) -> float:
        return max(0.0, now_s - self.at_s) * 1000

    def is_settled(self, now_s: float) -> bool:
        """Whether what had piled up before it is read by now."""
        return self.settled_s <= now_s

    def is_good(self, now_s: float) -> bool:
        """Whether what it says of the present can be believed."""
        return self.is_settled(now_s) and self.age_ms(now_s) <= self.good_ms

    def goes_on(self, before: Heard) -> bool:
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


class Line:
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

    def hear(self, before: Heard | None, heard: Heard) -> None:
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

    def play_time_ms(self, heard: Heard, now_s: float) -> float:
        """Where play time would be if it had been running since this reading."""
        if heard.epoch != self._epoch:
            return heard.play_time_ms + heard.age_ms(now_s)
        return self._ahead_ms - heard.given_back_ms + now_s * 1000
