"""The bots in a process of their own: `python -m services.bots`."""

from __future__ import annotations

import os
import sys
from typing import Any

from magnate.table.v1 import table_service_pb2 as table_pb

from services.bots.main import build
from services.bots.settings import BotsSettings
from services.kit.calls import PoolClient, open_pool
from services.kit.envelopes import Envelopes
from services.kit.server import run, run_services
from services.kit.settings import SettingsError
from services.kit.spread import SpreadCaller
from services.kit.streams_redis import RedisStream

TABLE = table_pb.DESCRIPTOR.services_by_name["TableService"]
_ENVELOPES = Envelopes(TABLE.methods_by_name["SubmitStream"])


async def serve(settings: BotsSettings) -> int:
    """Runs the bots until a signal; returns the exit status."""
    telemetry = settings.telemetry("bots")
    stream = RedisStream(settings.redis_url)
    tables = open_pool(
        TABLE,
        settings.table_address,
        service="table",
        tls=settings.tls(),
        attempt_ms=settings.attempt_ms,
        telemetry=telemetry,
    )
    client: Any = PoolClient(TABLE, tables, repeatable=("GetSnapshot", "ListBotTurns"))
    submitter = SpreadCaller[table_pb.SubmitRequest, table_pb.SubmitResponse](
        tables,
        open_stream=lambda replica, requests: replica.SubmitStream(requests),
        wrap=_ENVELOPES.ask,
        unwrap=_ENVELOPES.answered,
        key_of=lambda request: request.table_id,
        name="submit",
    )
    service = build(settings, table_client=client, submitter=submitter, stream=stream, telemetry=telemetry)
    service.add_check("table", tables.met)
    service.add_closer(tables.close)
    service.add_closer(stream.close)
    service.add_closer(submitter.close)
    await submitter.start()
    return await run_services([(service, settings.port)])


def main() -> int:
    """Reads the settings and serves; 2 when they are not allowed."""
    try:
        settings = BotsSettings.load(os.environ)
    except SettingsError as error:
        print(f"magnate: {error}", file=sys.stderr)
        return 2
    settings.configure_logs("bots")
    return run(serve(settings))


if __name__ == "__main__":
    sys.exit(main())
