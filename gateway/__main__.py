"""The gateway in a process of its own: `python -m gateway`."""

from __future__ import annotations

import os
import sys
from typing import Any

from magnate.bots.v1 import bots_service_pb2
from magnate.clock.v1 import clock_service_pb2
from magnate.rules.v1 import rules_service_pb2
from magnate.table.v1 import table_service_pb2

from gateway.adapters.submitting import StreamedSubmit
from gateway.main import build
from gateway.settings import GatewaySettings
from services.kit.calls import RemoteClient, open_channel
from services.kit.server import run, run_services
from services.kit.settings import SettingsError
from services.kit.streams_redis import RedisStream

_RULES = rules_service_pb2.DESCRIPTOR.services_by_name["RulesService"]
_TABLE = table_service_pb2.DESCRIPTOR.services_by_name["TableService"]
_CLOCK = clock_service_pb2.DESCRIPTOR.services_by_name["ClockService"]
_BOTS = bots_service_pb2.DESCRIPTOR.services_by_name["BotsService"]


async def serve(settings: GatewaySettings) -> int:
    """Runs the gateway until a signal; returns the exit status."""
    telemetry = settings.telemetry("gateway")
    stream = RedisStream(settings.redis_url)
    closers = [stream.close]

    files = settings.tls()

    def client(descriptor: Any, address: str, service: str) -> Any:
        channel = open_channel(address, tls=files, service=service)
        closers.append(channel.close)
        return RemoteClient(descriptor, channel, telemetry=telemetry)

    table = client(_TABLE, settings.table_address, "table")
    submit = StreamedSubmit(table, streams=settings.submit_streams, timeout_ms=settings.submit_timeout_ms)
    gateway = build(
        settings,
        table_client=table,
        submit=submit,
        rules_client=client(_RULES, settings.rules_address, "rules"),
        clock_client=client(_CLOCK, settings.clock_address, "clock"),
        bots_client=client(_BOTS, settings.bots_address, "bots"),
        stream=stream,
        telemetry=telemetry,
    )
    for close in closers:
        gateway.service.add_closer(close)
    gateway.service.add_opener(submit.start)
    gateway.service.add_closer(submit.close)
    return await run_services([(gateway.service, settings.port)])


def main() -> int:
    """Reads the settings and serves; 2 when they are not allowed."""
    try:
        settings = GatewaySettings.load(os.environ)
    except SettingsError as error:
        print(f"magnate: {error}", file=sys.stderr)
        return 2
    settings.configure_logs("gateway")
    return run(serve(settings))


if __name__ == "__main__":
    sys.exit(main())
