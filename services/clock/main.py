"""Puts the clock together, for a process of its own or one shared with other services."""

from __future__ import annotations

import secrets

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

DESCRIPTOR = clock_service_pb2.DESCRIPTOR.services_by_name["ClockService"]


def build(
    settings: ClockSettings,
    *,
    table_client: TableClient,
    gateway_client: GatewayClient,
    stream: EventStream,
    replica: str = "",
    database: Database | None = None,
    timepiece: Timepiece | None = None,
    telemetry: Telemetry | None = None,
) -> Service:
    """A replica of the clock as a service that is not started yet; `local(DESCRIPTOR)` of it is a client.

    `replica` names it among those of its database, by chance when none is given. Who starts again under a name has at
    once what the process before held under it, so that there must never be two of it. The clock closes its database;
    clients and stream belong to the caller.
    """
    telemetry = telemetry or Telemetry.off()
    replica = replica or secrets.token_hex(8)
    timepiece = timepiece or SystemTime()
    store = SqlStore(
        database or open_database(settings.database_url),
        replica=replica,
        terms=settings.terms(),
        timepiece=timepiece,
        forget_after_ms=settings.forget_after_ms,
    )
    clock = Clock(
        replica=replica,
        pace=settings.pace(),
        timepiece=timepiece,
        leases=store,
        outages=store,
        tables=TableCalls(table_client, expire_limit_ms=settings.expire_limit_ms),
        probes=GatewayProbes(gateway_client, token=settings.clock_token, limit_ms=settings.probe_limit_ms),
        updates=StreamUpdates(stream),
        instruments=Instruments(telemetry),
    )

    async def takes_part() -> None:
        if not clock.takes_part():
            raise ServiceError(grpc.StatusCode.UNAVAILABLE, "unreachable", "the store does not know this replica")

    service = Service("clock", settings, telemetry=telemetry)
    service.add_handler(DESCRIPTOR, ClockHandler(clock, store))
    service.add_check("takes_part", takes_part)
    service.add_check("event_stream", stream.met)
    service.add_background("clock", clock.run)
    service.add_closer(store.close)
    return service
