"""What is measured of the rules."""

from collections.abc import Callable

from services.kit.telemetry import Telemetry, observable_value

_ACCEPTED = {"outcome": "accepted"}


class Instruments:
    """The rules' metrics."""

    def __init__(self, telemetry: Telemetry) -> None:
        self._meter = telemetry.meter_of("rules")
        self._commands = self._meter.create_counter(
            "magnate_rules_commands_total",
            description="commands decided, by outcome: accepted or a refusal's reason",
        )
        self._missing = self._meter.create_counter(
            "magnate_rules_states_missing_total", description="calls whose state had to be asked for"
        )
        self._broken = self._meter.create_counter(
            "magnate_rules_invariants_broken_total", description="states that no game can have; each is a fault"
        )
        # Shown from the start: to whoever watches, a series that is born with its first fault has not risen.
        self._broken.add(0)

    def watch(self, *, kept_states: Callable[[], int]) -> None:
        """Reads this whenever metrics are collected."""
        self._meter.create_observable_gauge(
            "magnate_rules_kept_states",
            [lambda _: [observable_value(kept_states())]],
            description="tables whose state is kept",
        )

    def accepted(self) -> None:
        """A command was accepted."""
        self._commands.add(1, _ACCEPTED)

    def refused(self, reason: str) -> None:
        """A command was refused."""
        self._commands.add(1, {"outcome": reason})

    def state_missing(self) -> None:
        """A state was neither here nor in the call."""
        self._missing.add(1)

    def broken(self) -> None:
        """An invariant does not hold."""
        self._broken.add(1)
