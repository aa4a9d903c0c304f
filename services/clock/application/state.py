"""What the parts of a running clock share."""

from __future__ import annotations

from dataclasses import dataclass, field

from services.clock.application.instruments import Instruments
from services.clock.application.ports import Timepiece
from services.clock.application.readings import Readings
from services.clock.domain.deadlines import Deadlines
from services.clock.domain.play_time import Outage, PlayTime, Reading


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How often the clock does things, in milliseconds. See the settings."""

    probe_period_ms: int = 250
    longest_gap_ms: int = 375
    probe_spacing_ms: int = 100
    checkpoint_ms: int = 1_000
    relist_ms: int = 60_000
    retry_ms: int = 1_000
    not_due_wait_ms: int = 50
    grace_ms: int = 500
    max_in_flight: int = 64


@dataclass(slots=True, kw_only=True)
class State:
    """Play time and deadlines of the shards that this clock holds."""

    pace: Pace
    timepiece: Timepiece
    play_time: PlayTime
    deadlines: Deadlines
    readings: Readings
    instruments: Instruments
    # Outages that ended and are not stored yet.
    unsaved: list[Outage] = field(default_factory=list)

    def read(self) -> Reading:
        """Play time now."""
        return self.play_time.read(self.timepiece.now())
