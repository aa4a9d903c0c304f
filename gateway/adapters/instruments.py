"""What is measured of the gateway beside its calls."""

from __future__ import annotations

from gateway.application.hub import Hub
from services.kit.admission import Admission
from services.kit.telemetry import Telemetry, observable_value


class Instruments:
    """Open watches, cut clients, how long the event stream has been silent, commands by what became of them, and how
    many may be under way."""

    def __init__(self, telemetry: Telemetry, hub: Hub, admission: Admission) -> None:
        meter = telemetry.meter_of("gateway")
        self._commands = meter.create_counter(
            "magnate_gateway_commands_total", description="commands, by `done` or the reason of their refusal"
        )
        meter.create_observable_gauge(
            "magnate_gateway_watches",
            [lambda _: [observable_value(len(hub.watches))]],
            description="watches open",
        )
        meter.create_observable_gauge(
            "magnate_gateway_watched_tables",
            [lambda _: [observable_value(len(hub.feeds))]],
            description="tables watched",
        )
        meter.create_observable_counter(
            "magnate_gateway_slow_clients_total",
            [lambda _: [observable_value(hub.slow_cuts)]],
            description="clients cut because they read too slowly",
        )
        meter.create_observable_gauge(
            "magnate_gateway_commands_under_way",
            [lambda _: [observable_value(admission.under_way)]],
            description="commands that wait for their answer",
        )
        meter.create_observable_gauge(
            "magnate_gateway_commands_limit",
            [lambda _: [observable_value(int(admission.limit))]],
            description="commands that may be under way before more are refused; falls while answers take too long",
        )
        meter.create_observable_gauge(
            "magnate_gateway_stream_silence_milliseconds",
            [lambda _: [observable_value(hub.silence_ms())]],
            description="time since an update came over the event stream; grows while nobody plays",
        )

    def command(self, outcome: str) -> None:
        """Counts a command."""
        self._commands.add(1, {"outcome": outcome})
