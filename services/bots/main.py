"""Puts the bots together, for a process of their own or one shared with other services."""

from __future__ import annotations

from magnate.bots.v1 import bots_service_pb2
from magnate.table.v1 import table_service_pb2 as table_pb

from services.bots.adapters.clients import StreamNews, TableCalls, TableClient
from services.bots.adapters.handler import BotsHandler
from services.bots.adapters.rules_library import RulesReader
from services.bots.application.instruments import Instruments
from services.bots.application.play_seat import PlaySeat
from services.bots.application.positions import Positions
from services.bots.application.worker import Worker
from services.bots.settings import BotsSettings
from services.kit.batches import Caller
from services.kit.server import Service
from services.kit.streams import EventStream
from services.kit.telemetry import Telemetry

SHARDS = 64
DESCRIPTOR = bots_service_pb2.DESCRIPTOR.services_by_name["BotsService"]


def build(
    settings: BotsSettings,
    *,
    table_client: TableClient,
    submitter: Caller[table_pb.SubmitRequest, table_pb.SubmitResponse],
    stream: EventStream,
    telemetry: Telemetry | None = None,
) -> Service:
    """The bots as a service that is not started yet; `local(DESCRIPTOR)` of it is a client.

    Any number of replicas may run: they share the turns, and a turn played twice is done once. Clients, submitter
    and stream belong to the caller.
    """
    telemetry = telemetry or Telemetry.off()
    reader = RulesReader()
    instruments = Instruments(telemetry)
    positions = Positions(reader, capacity=settings.kept_positions)
    tables = TableCalls(table_client, submitter, reader)
    worker = Worker(
        tables,
        StreamNews(
            stream,
            topics=[f"shard:{shard}" for shard in range(SHARDS)],
            knows=positions.__contains__,
            gather_ms=settings.gather_ms,
        ),
        positions,
        PlaySeat(tables, positions, instruments, settings.manners()),
        instruments,
        settings.share(),
    )
    service = Service("bots", settings, telemetry=telemetry)
    service.add_handler(DESCRIPTOR, BotsHandler(reader))
    service.add_check("event_stream", stream.met)
    service.add_background("worker", worker.run)
    return service
