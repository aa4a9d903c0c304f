"""The clock in a process of its own: `python -m services.clock`."""

from __future__ import annotations

import os
import sys
from typing import Any

from magnate.gateway.v1 import gateway_service_pb2
from magnate.table.v1 import table_service_pb2

from services.clock.adapters.expiring import StreamedTables
from services.clock.adapters.probing import EveryGateway
from services.clock.main import build
from services.clock.settings import ClockSettings
from services.kit.calls import PoolClient, bearer, open_pool
from services.kit.server import run, run_services
from services.kit.settings import SettingsError
from services.kit.streams_redis import RedisStream

TABLE = table_service_pb2.DESCRIPTOR.services_by_name["TableService"]
GATEWAY = gateway_service_pb2.DESCRIPTOR.services_by_name["GatewayService"]


async def serve(settings: ClockSettings) -> int:
    """Runs the clock until a signal; returns the exit status."""
    telemetry = settings.telemetry("clock")
    stream = RedisStream(settings.redis_url)
    tables = open_pool(
        TABLE,
        settings.table_address,
        service="table",
        tls=settings.tls(),
        attempt_ms=settings.attempt_ms,
        telemetry=telemetry,
        shows=bearer(settings.clock_token),
    )
    gateways = open_pool(
        GATEWAY,
        settings.gateway_address,
        service=settings.gateway_tls_name,
        tls=settings.gateway_tls(),
        attempt_ms=settings.attempt_ms,
        telemetry=telemetry,
    )
    one_by_one: Any = PoolClient(TABLE, tables, repeatable=("ListDeadlines", "ExpireDeadline"))
    table_client = StreamedTables(one_by_one, tables)
    service = build(
        settings,
        table_client=table_client,
        gateway_client=EveryGateway(gateways),
        stream=stream,
        telemetry=telemetry,
    )
    service.add_check("table", tables.met)
    service.add_check("gateway", gateways.met)
    service.add_closer(tables.close)
    service.add_closer(table_client.close)
    service.add_closer(gateways.close)
    service.add_closer(stream.close)
    await tables.start()
    await gateways.start()
    return await run_services([(service, settings.port)])


def main() -> int:
    """Reads the settings and serves; 2 when they are not allowed."""
    try:
        settings = ClockSettings.load(os.environ)
        settings.pace()
    except SettingsError as error:
        print(f"magnate: {error}", file=sys.stderr)
        return 2
    settings.configure_logs("clock")
    return run(serve(settings))


if __name__ == "__main__":
    sys.exit(main())
