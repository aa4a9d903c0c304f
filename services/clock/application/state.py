"""What the parts of a running clock share."""

from __future__ import annotations

from collections.abc import Collection
from copy import copy
from dataclasses import dataclass, field, replace

from services.clock.application.instruments import Instruments
from services.clock.application.ports import Hold, Kept, Timepiece
from services.clock.application.readings import Readings, Told
from services.clock.application.records import Records
from services.clock.domain.deadlines import Deadlines
from services.clock.domain.play_time import Instant, PlayTime


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How often the clock does things, in milliseconds. See the settings."""

    probe_period_ms: int = 250
    longest_gap_ms: int = 375
    probe_spacing_ms: int = 100
    checkpoint_ms: int = 200
    renew_ms: int = 400
    lease_ms: int = 3_000
    look_ms: int = 200
    relist_ms: int = 60_000
    retry_ms: int = 1_000
    not_due_wait_ms: int = 50
    grace_ms: int = 500
    max_in_flight: int = 256

    @property
    def fresh_ms(self) -> int:
        """So long after a checkpoint play time still moves: what is not stored is lost to a successor, and would stand
        still again there."""
        return min(self.lease_ms, 2 * self.checkpoint_ms + 600)


@dataclass(slots=True, kw_only=True, eq=False)
class Band:
    """Shards whose counters have been one since they were taken: whatever happens to time happens to all of them.

    They may move until `leased_until_ns` of monotonic time: their lease lasts longer.
    """

    play_time: PlayTime
    leased_until_ns: int
    shards: frozenset[int]

    def kept(self, now: Instant) -> Kept:
        """What there is to store of them at this moment."""
        return Kept(
            shards=tuple(sorted(self.shards)),
            epoch=self.play_time.epoch,
            checkpoint=self.play_time.checkpoint(now),
        )


@dataclass(slots=True, kw_only=True, eq=False)
class Shard:
    """One shard that this replica holds."""

    band: Band
    deadlines: Deadlines

    @property
    def play_time(self) -> PlayTime:
        """Its counter."""
        return self.band.play_time


@dataclass(slots=True, kw_only=True)
class State:
    """The shards that this replica holds, by number, and the bands that they make up."""

    pace: Pace
    timepiece: Timepiece
    readings: Readings
    records: Records
    instruments: Instruments
    shards: dict[int, Shard] = field(default_factory=dict)
    bands: list[Band] = field(default_factory=list)
    # By their begin.
    holds: tuple[Hold, ...] = ()

    def add(self, band: Band) -> None:
        """Takes up a band of shards that were not held."""
        self.bands.append(band)
        for number in band.shards:
            self.shards[number] = Shard(band=band, deadlines=Deadlines(retry_ms=self.pace.retry_ms))

    def take_out(self, numbers: Collection[int]) -> list[Band]:
        """From now on nothing moves these shards here; the bands that they were."""
        out = self.split_off(numbers)
        for band in out:
            self.bands.remove(band)
            for number in band.shards:
                del self.shards[number]
        return out

    def split_off(self, numbers: Collection[int]) -> list[Band]:
        """Bands of these shards alone (of those that are held), for something to happen to them only."""
        found = []
        for band in list(self.bands):
            part = band.shards & frozenset(numbers)
            if part and part != band.shards:
                band.shards -= part
                band = replace(band, play_time=copy(band.play_time), shards=part)  # noqa: PLW2901
                self.bands.append(band)
                for number in part:
                    self.shards[number].band = band
            if part:
                found.append(band)
        return found

    def leased(self, now: Instant) -> list[Band]:
        """Those whose lease has not run out: only these may move or fire."""
        return [band for band in self.bands if now.mono_ns < band.leased_until_ns]

    def armed(self) -> int:
        """Deadlines in force, over all shards."""
        return sum(len(shard.deadlines) for shard in self.shards.values())

    def publish(self, now: Instant) -> None:
        """Tells all readers where play time is."""
        self.readings.publish(tuple(told for band in self.bands for told in self._told(band, now)))

    def apply_holds(self, now: Instant) -> None:
        """Lets stand still what is to stand still by now, and lets go what was."""
        unix_ms = self.records.clock_at(now.mono_ns)
        held = frozenset(
            number for hold in self.holds if hold.begins_at_ms <= unix_ms < hold.ends_at_ms for number in hold.shards
        )
        if not held and not any(band.play_time.held for band in self.bands):
            return
        for band in self.split_off(held):
            ended = band.play_time.hold(now)
            if ended is not None:
                self.records.add([(band.shards, ended)])
        for band in self.bands:
            if not band.shards & held:
                band.play_time.release(now)

    def told(self, number: int, now: Instant) -> Told:
        """The reading of one shard that is held here."""
        [told] = self._told(replace(self.shards[number].band, shards=frozenset({number})), now)
        return told

    def _told(self, band: Band, now: Instant) -> list[Told]:
        reading = band.play_time.read(now)
        if not self.holds:
            return [Told(band.shards, reading)]
        unix_ms = self.records.clock_at(now.mono_ns)
        parts: dict[Hold | None, set[int]] = {}
        for number in band.shards:
            parts.setdefault(self._hold_of(number, unix_ms), set()).add(number)
        return [
            Told(frozenset(part), reading) if hold is None else Told(frozenset(part), reading, hold, unix_ms)
            for hold, part in parts.items()
        ]

    def _hold_of(self, number: int, unix_ms: int) -> Hold | None:
        """The hold of a shard that lasts or comes next, up to the end of all that follow it without a break."""
        told = None
        for hold in self.holds:
            if number not in hold.shards or hold.ends_at_ms <= unix_ms:
                continue
            if told is None:
                told = hold
            elif told.ends_at_ms < hold.ends_at_ms and hold.begins_at_ms <= told.ends_at_ms:
                told = replace(told, ends_at_ms=hold.ends_at_ms)
        return told
