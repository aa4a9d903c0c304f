"""Who stands on the event stream is not ready before it has answered once, and stays so whatever becomes of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, cast

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

import gateway.main
import services.bots.main
import services.clock.main
import services.rules.main
import services.table.main
from gateway.settings import GatewaySettings
from services.bots.settings import BotsSettings
from services.clock.settings import ClockSettings
from services.kit.calls import OneReplica, RemoteClient, open_channel
from services.kit.server import Service
from services.kit.streams import EventStream
from services.kit.streams_memory import MemoryStream
from services.kit.streams_redis import RedisStream
from services.table.settings import TableSettings
from tests.support.servers import RedisServer, free_port

RULES, TABLE, CLOCK, GATEWAY = (
    services.rules.main.DESCRIPTOR,
    services.table.main.DESCRIPTOR,
    services.clock.main.DESCRIPTOR,
    gateway.main.DESCRIPTOR,
)
READY = health_pb2.HealthCheckResponse.SERVING
# A second lies between two looks at the checks.
SEEN_S = 2.0


async def everybody(folder: Path, stream: EventStream, away: grpc.aio.Channel) -> list[Service]:
    """All services that stand on the event stream, not started yet; of each other they reach nothing."""
    rules, table, clock, edge = (
        cast(Any, RemoteClient(descriptor, away)) for descriptor in (RULES, TABLE, CLOCK, GATEWAY)
    )
    url = f"sqlite:///{folder / 'magnate.db'}"
    return [
        await services.table.main.build(
            TableSettings(database_url=url), rules_client=rules, clocks=OneReplica(lambda: clock), stream=stream
        ),
        services.clock.main.build(
            ClockSettings(database_url=url), table_client=table, gateway_client=edge, stream=stream
        ),
        services.bots.main.build(BotsSettings(), table_client=table, submitter=table.Submit, stream=stream),
        gateway.main.build(
            GatewaySettings(),
            table_client=table,
            submit=table.Submit,
            rules_client=rules,
            clocks=OneReplica(lambda: clock),
            stream=stream,
            with_web=False,
        ).service,
    ]


@pytest.fixture
async def start(tmp_path: Path) -> AsyncIterator[Callable[[EventStream], Any]]:
    """Starts everybody over a stream."""
    running: list[Service] = []

    away = open_channel(f"127.0.0.1:{free_port()}")

    async def start_over(stream: EventStream) -> list[Service]:
        running.extend(await everybody(tmp_path, stream, away))
        running[-1].add_closer(stream.close)
        for service in running:
            await service.start(0)
        return running

    yield start_over
    await asyncio.gather(*(service.stop() for service in running))
    await away.close()


async def readiness(running: list[Service]) -> dict[str, bool]:
    """Who says that he serves."""
    found = {}
    for service in running:
        async with open_channel(f"127.0.0.1:{service.port}") as channel:
            stub: Any = health_pb2_grpc.HealthStub(channel)
            answer = await stub.Check(health_pb2.HealthCheckRequest())
            found[service.name] = answer.status == READY
    return found


async def all_become_ready(running: list[Service]) -> None:
    async with asyncio.timeout(20):
        while not all((await readiness(running)).values()):
            await asyncio.sleep(0.1)


async def test_a_redis_that_was_never_reached_keeps_everybody_out(
    start: Callable[[EventStream], Any], redis_url: str, redis_server: RedisServer
) -> None:
    """Takes some seconds: those between the checks."""
    names = ("table", "clock", "bots", "gateway")
    redis_server.stop()
    try:
        running = await start(RedisStream(redis_url))
        await asyncio.sleep(SEEN_S)
        assert await readiness(running) == dict.fromkeys(names, False)
    finally:
        redis_server.start()
    await all_become_ready(running)
    redis_server.stop()
    try:
        await asyncio.sleep(SEEN_S)
        assert await readiness(running) == dict.fromkeys(names, True)
    finally:
        redis_server.start()


async def test_a_stream_in_process_is_there_at_once(start: Callable[[EventStream], Any]) -> None:
    running = await start(MemoryStream())
    async with asyncio.timeout(5):
        await all_become_ready(running)
