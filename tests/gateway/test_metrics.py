"""What operators see of a gateway."""

from __future__ import annotations

import asyncio
import re

import pytest
from magnate.game.v1 import command_pb2, update_pb2
from magnate.gateway.v1 import gateway_service_pb2 as pb
from magnate.table.v1 import table_pb2

from services.kit.errors import ServiceError
from services.kit.telemetry import Telemetry
from tests.support.gateways import read_updates, running_site, target
from tests.support.http import request
from tests.support.servers import free_port


async def test_the_gateway_is_measured() -> None:
    """Open watches, watched tables, cut clients, silence, and commands by what became of them."""
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
    assert 0 <= _value(page, "magnate_gateway_stream_silence_milliseconds") < 5_000
    assert _value(page, "magnate_gateway_commands_total", 'outcome="done"') == 3
    assert _value(page, "magnate_gateway_commands_total", 'outcome="not_your_seat"') == 1


async def test_a_deaf_gateway_is_told_from_one_that_hears() -> None:
    """By its own time: neither play time of another shard nor what a table has stood still is silence."""
    port, now = free_port(), SetTime()
    telemetry = Telemetry("gateway", metrics_port=port)
    async with running_site(telemetry=telemetry, now_s=now) as site:

        async def silence_ms() -> float:
            page = (await request("GET", f"http://127.0.0.1:{port}/metrics")).body.decode()
            return _value(page, "magnate_gateway_stream_silence_milliseconds")

        async def hear(play_time_ms: int, held_ms: int = 0) -> None:
            update = update_pb2.Update(table_id="t", first_seq=1, last_seq=2, play_time_ms=play_time_ms)
            message = table_pb2.StreamMessage(update=update.SerializeToString(), history_id="0" * 16, held_ms=held_ms)
            await site.stream.publish("shard:3", [("t", 2, message.SerializeToString())])
            await asyncio.sleep(0.05)

        now.s += 20
        assert await silence_ms() == 20_000
        await hear(90_000_000)
        assert await silence_ms() == 0
        now.s += 3
        assert await silence_ms() == 3_000
        await hear(90_000_000 - 3_600_000, held_ms=3_600_000)
        assert await silence_ms() == 0
        now.s += 16
        await hear(90_000_000 + 900_000)
        now.s += 16
        assert await silence_ms() == 16_000


class SetTime:
    """Monotonic seconds that pass as told."""

    s = 1_000.0

    def __call__(self) -> float:
        return self.s


def _value(page: str, name: str, label: str = "") -> float:
    for line in page.splitlines():
        if re.match(rf"{name}(\{{|\s)", line) and label in line:
            return float(line.rsplit(" ", 1)[1])
    raise AssertionError(f"{name} {label} is not among\n{page}")
