"""Puts the clock together, for a process of its own or one shared with other services."""

from __future__ import annotations

import grpc
from magnate.clock.v1 import clock_service_pb2

from services.clock.adapters.clients import GatewayClient, GatewayProbes, StreamUpdates, TableCalls, TableClient
from services.clock.adapters.databases import Database, open_database
from services.clock.adapters.handler import ClockHandler
from services.clock.adapters.store import SqlStore
from services.clock.application.clock import Clock
from services.clock.application.instruments import Instruments
from services.clock.application.ports import SystemTime, Timepiece
from services.clock.settings import ClockSettings
from services.kit.errors import ServiceError
from services.kit.server import Service
from services.kit.streams import EventStream
from services.kit.telemetry import Telemetry

SHARDS = 64
DESCRIPTOR = clock_service_pb2.DESCRIPTOR.services_by_name["ClockService"]


def build(
    settings: ClockSettings,
    *,
    table_client: TableClient,
    gateway_client: GatewayClient,
    stream: EventStream,
    database: Database | None = None,
    timepiece: Timepiece | None = None,
    telemetry: Telemetry | None = None,
) -> Service:
    """The clock as a service that is not started yet; `local(DESCRIPTOR)` of it is a client.

    There must be one clock for a database, else they take the shards from each other (no harm to games, but the one
    that lost them does nothing more). The clock closes its database; clients and stream belong to the caller.
    """
    telemetry = telemetry or Telemetry.off()
    store = SqlStore(database or open_database(settings.database_url))
    clock = Clock(
        pace=settings.pace(),
        timepiece=timepiece or SystemTime(),
        lease=store,
        store=store,
        tables=TableCalls(table_client, expire_limit_ms=settings.expire_limit_ms),
        probes=GatewayProbes(gateway_client, token=settings.clock_token, limit_ms=settings.probe_limit_ms),
        updates=StreamUpdates(stream, topics=[f"shard:{shard}" for shard in range(SHARDS)]),
        instruments=Instruments(telemetry),
    )

    async def holds_shards() -> None:
        if not clock.holds:
            raise ServiceError(grpc.StatusCode.UNAVAILABLE, "unreachable", "this clock does not hold the shards")

    service = Service("clock", settings, telemetry=telemetry)
    service.add_handler(DESCRIPTOR, ClockHandler(clock))
    service.add_check("holds_shards", holds_shards)
    service.add_background("clock", clock.run)
    service.add_closer(store.close)
    return service
