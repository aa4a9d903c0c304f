"""What operators see of a gateway."""

from __future__ import annotations

import asyncio
import re

import pytest
from magnate.game.v1 import command_pb2
from magnate.gateway.v1 import gateway_service_pb2 as pb

from services.kit.errors import ServiceError
from services.kit.telemetry import Telemetry
from tests.support.gateways import read_updates, running_site, target
from tests.support.http import request
from tests.support.servers import free_port


async def test_the_gateway_is_measured() -> None:
    """Open watches, watched tables, cut clients, lag, and commands by what became of them."""
    port = free_port()
    telemetry = Telemetry("gateway", metrics_port=port)
    async with running_site(telemetry=telemetry, queue_frames=8, slow_ms=60_000) as site:
        ada, slow = await site.client("Ada"), await site.client("Slow")
        table_id = await site.started_table(ada)
        foreign = command_pb2.Command(command_id="f", seat=1, roll=command_pb2.Roll())
        async with ada.watch(target(table_id, 0)) as stream:
            await read_updates(stream, 1)
            for _ in range(3):
                await site.submit(ada, table_id)
            with pytest.raises(ServiceError, match="not_your_seat"):
                await ada.call("Submit", pb.SubmitRequest(table_id=table_id, command=foreign))
            await read_updates(stream, site.table.held(table_id).last_seq)
            stuck = slow.watch(target(table_id, 0))
            await read_updates(stuck, 1)
            site.table.padding = 20_000
            while site.gateway.hub.slow_cuts < 1:
                await site.play(table_id, 1)
                await read_updates(stream, site.table.held(table_id).last_seq)
            page = (await request("GET", f"http://127.0.0.1:{port}/metrics")).body.decode()
            stuck.cancel()
            await asyncio.sleep(0.05)
    assert _value(page, "magnate_gateway_watched_tables") == 1
    assert _value(page, "magnate_gateway_watches") == 2
    assert _value(page, "magnate_gateway_slow_clients_total") == 1
    assert _value(page, "magnate_gateway_stream_lag_milliseconds") > 0
    assert _value(page, "magnate_gateway_commands_total", 'outcome="done"') == 3
    assert _value(page, "magnate_gateway_commands_total", 'outcome="not_your_seat"') == 1


def _value(page: str, name: str, label: str = "") -> float:
    for line in page.splitlines():
        if re.match(rf"{name}(\{{|\s)", line) and label in line:
            return float(line.rsplit(" ", 1)[1])
    raise AssertionError(f"{name} {label} is not among\n{page}")
