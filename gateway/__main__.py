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
from services.kit.calls import Pool, PoolClient, RemoteReplicas, open_channel, open_pool
from services.kit.server import run, run_services
from services.kit.settings import SettingsError
from services.kit.streams_redis import RedisStream

_RULES = rules_service_pb2.DESCRIPTOR.services_by_name["RulesService"]
_TABLE = table_service_pb2.DESCRIPTOR.services_by_name["TableService"]
_CLOCK = clock_service_pb2.DESCRIPTOR.services_by_name["ClockService"]
_BOTS = bots_service_pb2.DESCRIPTOR.services_by_name["BotsService"]
# What may be sent twice without harm: reads, what a client's id makes one thing, and news that replace older ones.
REPEATABLE_AT_TABLES = (
    *("GetSession", "DescribeTable", "ListTables", "ListMyTables", "ReadUpdates", "GetSnapshot"),
    *("Submit", "CreateTable", "TouchPresence"),
)
_REPEATABLE: dict[Any, tuple[str, ...]] = {
    _RULES: ("Describe",),
    _TABLE: REPEATABLE_AT_TABLES,
    _BOTS: ("ListLevels",),
}


async def serve(settings: GatewaySettings) -> int:
    """Runs the gateway until a signal; returns the exit status."""
    telemetry = settings.telemetry("gateway")
    stream = RedisStream(settings.redis_url)
    closers = [stream.close]

    async def pool(descriptor: Any, addresses: str, service: str) -> Pool:
        opened = open_pool(
            descriptor,
            addresses,
            service=service,
            tls=settings.tls(),
            attempt_ms=settings.attempt_ms,
            telemetry=telemetry,
        )
        closers.append(opened.close)
        await opened.start()
        return opened

    async def client(descriptor: Any, addresses: str, service: str) -> Any:
        found = await pool(descriptor, addresses, service)
        return PoolClient(descriptor, found, repeatable=_REPEATABLE.get(descriptor, ()))

    tables = await pool(_TABLE, settings.table_address, "table")
    table: Any = PoolClient(_TABLE, tables, repeatable=_REPEATABLE[_TABLE])
    submit = StreamedSubmit(table, tables, timeout_ms=settings.submit_timeout_ms)
    gateway = build(
        settings,
        table_client=table,
        submit=submit,
        probe_ways=submit.probe_ways,
        rules_client=await client(_RULES, settings.rules_address, "rules"),
        clocks=RemoteReplicas(
            _CLOCK,
            settings.clock_address,
            connect=lambda address: open_channel(str(address), tls=settings.tls(), service="clock"),
            telemetry=telemetry,
        ),
        bots_client=await client(_BOTS, settings.bots_address, "bots"),
        stream=stream,
        telemetry=telemetry,
    )
    gateway.service.add_check("table", tables.met)
    for close in closers:
        gateway.service.add_closer(close)
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
