"""The multiplexer over a real bidirectional stream, and its twin in the same process."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any

import grpc
import pytest

from services.kit.batches import BatchCaller, Caller, LocalCaller, serve_batches
from services.kit.calls import Call, Dispatcher, Gate, RemoteClient, open_channel, serve
from services.kit.calls.contract import Contract
from services.kit.errors import ServiceError
from tests.support.echo import ECHO, EchoRequest, EchoResponse


class Worker:
    """Doubles numbers; 0 is refused, 13 breaks, numbers above 1000 wait for `go`."""

    def __init__(self) -> None:
        self.messages = 0
        self.go = asyncio.Event()
        self.began = asyncio.Event()

    async def double(self, number: int) -> int:
        if number == 0:
            raise ServiceError(grpc.StatusCode.INVALID_ARGUMENT, "ZERO", "zero is refused")
        if number == 13:
            raise ZeroDivisionError("a mistake")
        if number > 1000:
            self.began.set()
            await self.go.wait()
        return 2 * number

    async def Talk(self, requests: AsyncIterator[Any], call: Call) -> AsyncIterator[Any]:
        async for response in serve_batches(requests, items=self._items, handle=self.double, wrap=_wrap_results):
            yield response

    async def Once(self, request: Any, call: Call) -> Any:
        return request

    Many = Join = Once

    def _items(self, request: Any) -> Iterable[tuple[int, int]]:
        self.messages += 1
        for part in request.text.split(";"):
            number, item = part.split(",")
            yield int(number), int(item)


def _wrap_results(results: Sequence[tuple[int, int | ServiceError]]) -> Any:
    parts = [
        f"{number},{result.code.name},{result.reason}" if isinstance(result, ServiceError) else f"{number},{result}"
        for number, result in results
    ]
    return EchoResponse(text=";".join(parts))


def _wrap_items(items: Sequence[tuple[int, int]]) -> Any:
    return EchoRequest(text=";".join(f"{number},{item}" for number, item in items))


def _unwrap(response: Any) -> Iterable[tuple[int, int | ServiceError]]:
    for part in response.text.split(";"):
        number, *result = part.split(",")
        if len(result) == 2:
            yield int(number), ServiceError(grpc.StatusCode[result[0]], result[1])
        else:
            yield int(number), int(result[0])


class Server:
    """A worker behind a port that can be stopped and started again."""

    def __init__(self) -> None:
        self.worker = Worker()
        self.gate = Gate()
        self.port = 0
        self._server: grpc.aio.Server | None = None

    async def start(self) -> None:
        self.gate = Gate()
        self._server = grpc.aio.server()
        serve(self._server, Dispatcher(Contract.of(ECHO), self.worker, gate=self.gate))
        self.port = self._server.add_insecure_port(f"127.0.0.1:{self.port}")
        await self._server.start()

    async def stop(self) -> None:
        if self._server is not None:
            await self._server.stop(None)


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    running = Server()
    await running.start()
    yield running
    await running.stop()


@pytest.fixture
async def remote(server: Server) -> AsyncIterator[BatchCaller[int, int]]:
    async with open_channel(f"127.0.0.1:{server.port}") as channel:
        caller = BatchCaller[int, int](
            open_stream=RemoteClient(ECHO, channel).Talk, wrap=_wrap_items, unwrap=_unwrap, timeout_ms=3_000
        )
        await caller.start()
        yield caller
        await caller.close()


@pytest.fixture(params=["local", "remote"])
def caller(request: pytest.FixtureRequest, server: Server, remote: BatchCaller[int, int]) -> Caller[int, int]:
    return remote if request.param == "remote" else LocalCaller(server.worker.double)


async def test_each_call_gets_its_own_answer(caller: Caller[int, int]) -> None:
    assert await asyncio.gather(*(caller.call(number) for number in range(100, 300))) == list(range(200, 600, 2))


async def test_each_call_fails_alone(caller: Caller[int, int]) -> None:
    results = await asyncio.gather(*(caller.call(number) for number in (0, 1, 13)), return_exceptions=True)
    assert results[1] == 2
    assert isinstance(results[0], ServiceError)
    assert isinstance(results[2], ServiceError)
    assert (results[0].code, results[0].reason) == (grpc.StatusCode.INVALID_ARGUMENT, "ZERO")
    assert results[2].code is grpc.StatusCode.INTERNAL


async def test_a_slow_item_holds_no_other_up(caller: Caller[int, int], server: Server) -> None:
    slow = asyncio.create_task(caller.call(2000))
    await server.worker.began.wait()
    assert await caller.call(5) == 10
    server.worker.go.set()
    assert await slow == 4000


async def test_deadline(caller: Caller[int, int]) -> None:
    with pytest.raises(ServiceError) as caught:
        await caller.call(2000, timeout_ms=60)
    assert caught.value.code is grpc.StatusCode.DEADLINE_EXCEEDED


async def test_waiting_items_travel_together(server: Server, remote: BatchCaller[int, int]) -> None:
    await remote.call(1)
    server.worker.messages = 0
    await asyncio.gather(*(remote.call(number) for number in range(14, 114)))
    assert server.worker.messages <= 10


async def test_lost_stream_fails_what_waits_and_comes_back(server: Server, remote: BatchCaller[int, int]) -> None:
    sent = asyncio.create_task(remote.call(2000))
    await server.worker.began.wait()
    await server.stop()
    with pytest.raises(ServiceError) as caught:
        await sent
    assert (caught.value.code, caught.value.reason) == (grpc.StatusCode.UNAVAILABLE, "stream_lost")
    with pytest.raises(ServiceError, match="there is no stream now"):
        await remote.call(7)
    await server.start()
    answer = 0
    async with asyncio.timeout(20):
        while not answer:
            with contextlib.suppress(ServiceError):
                answer = await remote.call(7)
            await asyncio.sleep(0.02)
    assert answer == 14


async def test_draining_finishes_what_has_begun(server: Server, remote: BatchCaller[int, int]) -> None:
    begun = asyncio.create_task(remote.call(2000))
    await server.worker.began.wait()
    draining = asyncio.create_task(server.gate.close_streams(2.0))
    await asyncio.sleep(0.05)
    server.worker.go.set()
    assert await begun == 4000
    await draining


async def test_close_fails_what_waits(remote: BatchCaller[int, int]) -> None:
    waiting = asyncio.create_task(remote.call(2000))
    await asyncio.sleep(0.05)
    await remote.close()
    with pytest.raises(ServiceError) as caught:
        await waiting
    assert caught.value.code is grpc.StatusCode.UNAVAILABLE


async def test_too_many_waiting_are_refused(server: Server) -> None:
    async with open_channel(f"127.0.0.1:{server.port}") as channel:
        caller = BatchCaller[int, int](
            open_stream=RemoteClient(ECHO, channel).Talk, wrap=_wrap_items, unwrap=_unwrap, max_waiting=2
        )
        waiting = [asyncio.create_task(caller.call(2000)) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(ServiceError) as caught:
            await caller.call(1)
        assert caught.value.code is grpc.StatusCode.RESOURCE_EXHAUSTED
        await caller.close()
        assert all(
            isinstance(result, ServiceError) for result in await asyncio.gather(*waiting, return_exceptions=True)
        )
