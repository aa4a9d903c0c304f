"""What is measured of the bots."""

from __future__ import annotations

import time
from collections.abc import Callable

from services.kit.telemetry import Telemetry, observable_value


class Instruments:
    """The bots' metrics."""

    def __init__(self, telemetry: Telemetry) -> None:
        meter = telemetry.meter_of("bots")
        self._meter = meter
        self._choices = meter.create_counter("magnate_bots_choices_total", description="actions chosen, by level")
        self._choice_seconds = meter.create_histogram(
            "magnate_bots_choice_seconds", unit="s", description="time to choose an action"
        )
        self._turns = meter.create_counter("magnate_bots_turns_total", description="bots' turns, by how they ended")
        self._turn_seconds = meter.create_histogram(
            "magnate_bots_turn_seconds", unit="s", description="time from the news of a turn to its end"
        )
        self.failures = meter.create_counter(
            "magnate_bots_failures_total", description="turns given up because the table service stayed away"
        )
        # Shown from the start: to whoever watches, a series that is born with its first fault has not risen.
        self.failures.add(0)

    def watch(self, *, backlog: Callable[[], int]) -> None:
        """Reads this whenever metrics are collected."""
        self._meter.create_observable_gauge(
            "magnate_bots_backlog",
            [lambda _: [observable_value(backlog())]],
            description="bots' turns known and not yet played",
        )

    def chosen(self, level: str, seconds: float) -> None:
        """An action was chosen."""
        self._choices.add(1, {"level": level})
        self._choice_seconds.record(seconds)

    def turn_done(self, outcome: str, began_s: float) -> None:
        """A turn ended; `began_s` is of time.perf_counter."""
        self._turns.add(1, {"outcome": outcome})
        self._turn_seconds.record(time.perf_counter() - began_s)
