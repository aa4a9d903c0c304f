"""The table service in a process of its own: `python -m services.table`."""

from __future__ import annotations

import os
import sys
from typing import Any

from magnate.clock.v1 import clock_service_pb2
from magnate.rules.v1 import rules_service_pb2 as rules_pb

from services.kit.calls import PoolClient, RemoteReplicas, open_channel, open_pool
from services.kit.errors import ServiceError
from services.kit.server import run, run_services
from services.kit.settings import SettingsError
from services.kit.streams_redis import RedisStream
from services.table.adapters.applying import StreamedRules
from services.table.main import build
from services.table.settings import TableSettings

RULES = rules_pb.DESCRIPTOR.services_by_name["RulesService"]
# Gateways wait about one attempt for a probe: a replica of the rules that is silent has to be found out before.
PROBE_SHARE = 0.7
CLOCK = clock_service_pb2.DESCRIPTOR.services_by_name["ClockService"]


async def serve(settings: TableSettings) -> int:
    """Runs the table service until a signal; returns the exit status."""
    telemetry = settings.telemetry("table")
    stream = RedisStream(settings.redis_url)
    rules = open_pool(
        RULES,
        settings.rules_address,
        service="rules",
        tls=settings.tls(),
        attempt_ms=settings.attempt_ms,
        telemetry=telemetry,
    )
    # What the rules answer depends on nothing but the question, so asking again is always safe.
    rules_client: Any = PoolClient(RULES, rules, repeatable=("Describe", "NewGame", "Apply", "View"))
    clocks = RemoteReplicas(
        CLOCK,
        settings.clock_address,
        connect=lambda address: open_channel(str(address), tls=settings.tls(), service="clock"),
        telemetry=telemetry,
    )
    applier = StreamedRules(rules, probe_ms=int(settings.attempt_ms * PROBE_SHARE))
    try:
        service = await build(
            settings,
            rules_client=rules_client,
            clocks=clocks,
            stream=stream,
            applier=applier,
            rules_probe=applier.probe,
            telemetry=telemetry,
        )
    except ServiceError as error:
        print(f"magnate: table: {error.message}", file=sys.stderr)
        return 1
    service.add_check("rules", rules.met)
    service.add_closer(rules.close)
    service.add_closer(stream.close)
    service.add_closer(applier.close)
    await applier.start()
    return await run_services([(service, settings.port)])


def main() -> int:
    """Reads the settings and serves; 2 when they are not allowed."""
    try:
        settings = TableSettings.load(os.environ)
    except SettingsError as error:
        print(f"magnate: {error}", file=sys.stderr)
        return 2
    if settings.allow_fixed_seed:
        # Whoever names the seed knows every roll: nothing for a site that others play on.
        print("magnate: MAGNATE_ALLOW_FIXED_SEED: only the embedded site lets a seed be named", file=sys.stderr)
        return 2
    settings.configure_logs("table")
    return run(serve(settings))


if __name__ == "__main__":
    sys.exit(main())
