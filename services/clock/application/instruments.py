"""What is measured of the clock."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from opentelemetry.metrics import CallbackOptions, Observation

from services.clock.domain.play_time import Cause
from services.kit.telemetry import Telemetry


class Instruments:
    """The clock's metrics. Values that are read from its state are given by `watch`."""

    def __init__(self, telemetry: Telemetry) -> None:
        meter = telemetry.meter
        self.telemetry = telemetry
        self.probes_lost = meter.create_counter(
            "magnate_clock_probes_lost_total", description="probes that did not come back in time"
        )
        self.probe_seconds = meter.create_histogram(
            "magnate_clock_probe_seconds", unit="s", description="time of a probe for the whole way of a command"
        )
        self.expiries = meter.create_counter(
            "magnate_clock_expiries_total", description="deadlines ended, by the table's answer"
        )
        self.late_ms = meter.create_histogram(
            "magnate_clock_late_milliseconds", unit="ms", description="play time from a deadline's due to its effect"
        )
        self.outages = meter.create_counter("magnate_clock_outages_total", description="outages ended, by cause")
        self.given_back_ms = meter.create_counter(
            "magnate_clock_given_back_milliseconds_total", unit="ms", description="time given back, by cause"
        )
        # Shown from the start: to whoever watches, a series that is born with its first fault has not risen.
        self.probes_lost.add(0)
        for cause in Cause:
            self.outages.add(0, {"cause": cause.value})
            self.given_back_ms.add(0, {"cause": cause.value})

    def watch(
        self,
        *,
        armed: Callable[[], int],
        play_time_ms: Callable[[], int],
        held: Callable[[], int],
        standing: Callable[[], int],
    ) -> None:
        """Reads these whenever metrics are collected."""
        meter = self.telemetry.meter
        for name, unit, description, value in (
            ("magnate_clock_deadlines_armed", "", "deadlines in force", armed),
            ("magnate_clock_play_time_milliseconds", "ms", "play time of the shard that is furthest", play_time_ms),
            ("magnate_clock_shards_held", "", "shards that this replica holds, of 64", held),
            ("magnate_clock_shards_standing", "", "shards held whose play time stands still", standing),
            (
                "magnate_clock_running",
                "",
                "1 while play time of all shards held advances, 0 while it stands still or none is held",
                lambda: int(held() > 0 and standing() == 0),
            ),
        ):
            meter.create_observable_gauge(name, callbacks=[_reader(value)], unit=unit, description=description)


def _reader(value: Callable[[], int]) -> Callable[[CallbackOptions], Iterable[Observation]]:
    def read(_: CallbackOptions) -> Iterable[Observation]:
        return [Observation(int(value()))]

    return read
