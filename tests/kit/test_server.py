"""The shell of a service, alone behind its port and embedded without one."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import AsyncIterator
from typing import Any, cast

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from services.kit.calls import Call, RemoteClient, open_channel
from services.kit.errors import ServiceError
from services.kit.server import Service, ServiceSettings, StartError, run_services
from tests.support.echo import ECHO, EchoRequest, EchoResponse, text_of

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


class Handler:
    """Answers after `go`, when the text says so."""

    def __init__(self) -> None:
        self.began = asyncio.Event()
        self.go = asyncio.Event()

    async def Once(self, request: Any, call: Call) -> Any:
        if request.text == "wait":
            self.began.set()
            await self.go.wait()
        return EchoResponse(text=request.text)

    async def Many(self, request: Any, call: Call) -> AsyncIterator[Any]:
        yield EchoResponse(text="first")
        await call.draining.wait()
        yield EchoResponse(text="last")

    Join = Once

    async def Talk(self, requests: AsyncIterator[Any], call: Call) -> AsyncIterator[Any]:
        async for request in requests:
            yield EchoResponse(text=request.text)


def make(grace_ms: int = 1_000) -> tuple[Service, Handler]:
    service, handler = Service("echo", ServiceSettings(shutdown_grace_ms=grace_ms)), Handler()
    service.add_handler(ECHO, handler)
    return service, handler


async def health_of(channel: grpc.aio.Channel, name: str = "") -> int:
    stub: Any = health_pb2_grpc.HealthStub(channel)
    answer = await stub.Check(health_pb2.HealthCheckRequest(service=name))
    return int(answer.status)


async def test_health_and_reflection_are_there() -> None:
    service, _ = make()
    await service.start(0)
    async with open_channel(f"127.0.0.1:{service.port}") as channel:
        assert await health_of(channel) == SERVING
        assert await health_of(channel, "kit.test.v1.EchoService") == SERVING
        stub: Any = reflection_pb2_grpc.ServerReflectionStub(cast(Any, channel))
        call = stub.ServerReflectionInfo(iter([reflection_pb2.ServerReflectionRequest(list_services="")]))
        names = [found.name async for answer in call for found in answer.list_services_response.service]
        assert "kit.test.v1.EchoService" in names
    await service.stop()


async def test_readiness_follows_the_checks() -> None:
    service, _ = make()
    missing = True

    async def check() -> None:
        if missing:
            raise ConnectionError("the store is away")

    service.add_check("store", check)
    await service.start(0)
    async with open_channel(f"127.0.0.1:{service.port}") as channel:
        assert await health_of(channel) == NOT_SERVING
        assert await health_of(channel, "live") == SERVING, "a restart would not bring the store back"
        missing = False
        async with asyncio.timeout(3):
            while await health_of(channel) != SERVING:
                await asyncio.sleep(0.05)
    await service.stop()


async def test_stop_finishes_what_has_begun() -> None:
    service, handler = make()
    await service.start(0)
    closed: list[str] = []

    async def close(name: str) -> None:
        closed.append(name)

    service.add_closer(lambda: close("first"))
    service.add_closer(lambda: close("second"))
    async with open_channel(f"127.0.0.1:{service.port}") as channel:
        client = RemoteClient(ECHO, channel)
        watching = client.Many(EchoRequest(text="x"))
        assert text_of(await anext(watching)) == "first"
        begun = asyncio.create_task(client.Once(EchoRequest(text="wait")))
        await handler.began.wait()
        stopping = asyncio.create_task(service.stop())
        await asyncio.sleep(0.1)
        assert [text_of(answer) async for answer in watching] == ["last"]
        with pytest.raises(ServiceError) as caught:
            await client.Once(EchoRequest(text="late"))
        assert caught.value.code is grpc.StatusCode.UNAVAILABLE
        handler.go.set()
        assert text_of(await begun) == "wait"
        await asyncio.wait_for(stopping, 2)
    assert closed == ["second", "first"]


async def test_embedded_stop_finishes_what_has_begun() -> None:
    service, handler = make()
    await service.start()
    client: Any = service.local(ECHO)
    begun = asyncio.create_task(client.Once(EchoRequest(text="wait")))
    await handler.began.wait()
    stopping = asyncio.create_task(service.stop())
    await asyncio.sleep(0.05)
    assert not stopping.done()
    handler.go.set()
    assert text_of(await begun) == "wait"
    await stopping


async def test_finishers_run_between_the_background_and_the_closers() -> None:
    """Given work that ends slowly, when the service stops, then what is left to finish comes after it, in order,
    as long as it takes, and a failure of one keeps none of the others from its end."""
    service, _ = make()
    seen: list[str] = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.1)
            seen.append("work")

    async def note(name: str) -> None:
        seen.append(name)

    async def take_long() -> None:
        await asyncio.sleep(0.7)
        seen.append("long")

    async def fail() -> None:
        raise ConnectionError("the store is away")

    service.add_background("work", work)
    service.add_closer(lambda: note("closer"))
    service.add_finisher(fail)
    service.add_finisher(take_long)
    service.add_finisher(lambda: note("finisher"))
    await service.start()
    await asyncio.sleep(0)
    await service.stop()
    assert seen == ["work", "long", "finisher", "closer"]


async def test_stop_does_not_wait_beyond_the_grace() -> None:
    service, handler = make(grace_ms=100)
    await service.start(0)
    async with open_channel(f"127.0.0.1:{service.port}") as channel:
        begun = asyncio.create_task(RemoteClient(ECHO, channel).Once(EchoRequest(text="wait")))
        await handler.began.wait()
        await asyncio.wait_for(service.stop(), 1)
        with pytest.raises(ServiceError):
            await begun


async def test_background_work_is_begun_again_after_a_failure() -> None:
    service, _ = make()
    runs = 0
    again = asyncio.Event()

    async def work() -> None:
        nonlocal runs
        runs += 1
        if runs == 1:
            raise ZeroDivisionError("once")
        again.set()
        await asyncio.Event().wait()

    service.add_background("work", work)
    await service.start()
    await asyncio.wait_for(again.wait(), 2)
    assert not service.failed.is_set()
    await service.stop()


async def test_work_that_must_not_fail_stops_the_process_with_status_1() -> None:
    service, _ = make()

    async def work() -> None:
        raise ZeroDivisionError("state would be wrong")

    service.add_background("work", work, on_failure="stop")
    assert await asyncio.wait_for(run_services([(service, None)]), 3) == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_signals_end_a_run_with_status_0(number: signal.Signals) -> None:
    service, _ = make()
    status = await asyncio.wait_for(
        run_services([(service, 0)], started=lambda: os.kill(os.getpid(), number)),
        3,
    )
    assert status == 0


async def test_a_port_in_use_is_a_clear_failure(capsys: pytest.CaptureFixture[str]) -> None:
    first, _ = make()
    await first.start(0)
    second, _ = make()
    with pytest.raises(StartError, match=f"cannot open 127.0.0.1:{first.port}"):
        await second.start(first.port)
    third, _ = make()
    assert await run_services([(third, first.port)]) == 1
    assert f"cannot open 127.0.0.1:{first.port}" in capsys.readouterr().err
    await first.stop()


async def test_messages_beyond_the_limit_are_refused() -> None:
    service = Service("echo", ServiceSettings(max_message_bytes=2048))
    service.add_handler(ECHO, Handler())
    await service.start(0)
    async with open_channel(f"127.0.0.1:{service.port}") as channel:
        with pytest.raises(ServiceError) as caught:
            await RemoteClient(ECHO, channel).Once(EchoRequest(text="x" * 4096))
        assert caught.value.code is grpc.StatusCode.RESOURCE_EXHAUSTED
    await service.stop()


async def test_connections_beyond_the_limit_are_closed() -> None:
    """Those that are there go on, and a place that gets free is given away again."""
    service = Service("echo", ServiceSettings(max_connections=2, shutdown_notice_ms=0))
    service.add_handler(ECHO, Handler())
    await service.start(0)
    own = [("grpc.use_local_subchannel_pool", 1), ("grpc.max_reconnect_backoff_ms", 100)]
    channels = [grpc.aio.insecure_channel(f"127.0.0.1:{service.port}", options=own) for _ in range(3)]
    for channel in channels[:2]:
        assert await health_of(channel) == SERVING
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await health_of(channels[2])
    assert refused.value.code() is grpc.StatusCode.UNAVAILABLE
    assert await health_of(channels[0]) == SERVING
    await channels[1].close()
    async with asyncio.timeout(20):
        while True:
            with contextlib.suppress(grpc.aio.AioRpcError):
                assert await health_of(channels[2]) == SERVING
                break
            await asyncio.sleep(0.05)
    for channel in channels:
        await channel.close()
    await service.stop()


async def test_openers_run_once_the_port_is_open_and_their_failure_is_clear(
    capsys: pytest.CaptureFixture[str],
) -> None:
    service, _ = make()
    seen: list[int] = []

    async def note() -> None:
        seen.append(service.port)

    async def fail() -> None:
        raise ConnectionRefusedError("the store is away")

    service.add_opener(note)
    service.add_opener(fail)
    assert await run_services([(service, 0)]) == 1
    assert seen[0] > 0
    assert capsys.readouterr().err == "magnate: echo: cannot start: the store is away\n"


async def test_a_service_hears_how_long_calls_wait_at_its_port() -> None:
    """A call that asks for nothing takes next to no time, and as long as the loop does not come to it."""
    service, _ = make()
    delays: list[float] = []
    service.watch_delay(delays.append)
    await service.start(0)
    async with asyncio.timeout(10):
        while len(delays) < 2:
            await asyncio.sleep(0.01)
        quiet = min(delays)
        while max(delays) < 0.2:
            time.sleep(0.25)  # noqa: ASYNC251 - the loop is to stand still
            await asyncio.sleep(0)
    await service.stop()
    assert 0 < quiet < 0.2
