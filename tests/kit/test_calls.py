"""Local and remote clients behave alike: each test runs over both."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from collections.abc import AsyncIterator, Mapping
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2

from services.kit.calls import Call, Dispatcher, Gate, Limits, LocalClient, RemoteClient, open_channel, serve
from services.kit.calls.contract import Contract
from services.kit.errors import ServiceError
from tests.support.echo import ECHO, EchoRequest, EchoResponse, text_of


class EchoHandler:
    """Answers with the text of the request; some texts make it misbehave."""

    def __init__(self) -> None:
        self.ended: list[str] = []
        self.ended_event = asyncio.Event()
        self.seen: Call | None = None

    async def Once(self, request: Any, call: Call) -> Any:
        self.seen = call
        match request.text:
            case "refuse":
                raise ServiceError(
                    grpc.StatusCode.FAILED_PRECONDITION,
                    "NOT_NOW",
                    "try later",
                    {"why": "busy"},
                    1500,
                    [error_details_pb2.ResourceInfo(resource_name="door")],
                )
            case "long":
                raise ServiceError(grpc.StatusCode.NOT_FOUND, "LONG", "нема" * 1000, {"a": "ї" * 1000, "b": "x" * 1000})
            case "break":
                raise ZeroDivisionError("secret inner matter")
            case "bytes":
                return EchoResponse(text="as bytes").SerializeToString()
            case "hang":
                await self._hang("Once")
        return EchoResponse(text=request.text)

    async def Many(self, request: Any, call: Call) -> AsyncIterator[Any]:
        try:
            for count in range(3):
                yield EchoResponse(text=f"{request.text}{count}")
            if request.text == "refuse":
                raise ServiceError(grpc.StatusCode.OUT_OF_RANGE, "NO_MORE", "that was all")
            if request.text == "break":
                raise ZeroDivisionError("secret inner matter")
            if request.text == "hang":
                await asyncio.Event().wait()
            if request.text == "until draining":
                await call.draining.wait()
                yield EchoResponse(text="goodbye")
        finally:
            self.ended.append("Many")
            self.ended_event.set()

    async def Join(self, request: AsyncIterator[Any], call: Call) -> Any:
        return EchoResponse(text="+".join([item.text async for item in request]))

    async def Talk(self, request: AsyncIterator[Any], call: Call) -> AsyncIterator[Any]:
        if "stranger" in call.metadata:
            raise ServiceError(grpc.StatusCode.PERMISSION_DENIED, "NOT_YOU", "go away")
        try:
            async for item in request:
                yield EchoResponse(text=item.text.upper())
            yield EchoResponse(text="end")
        finally:
            self.ended.append("Talk")
            self.ended_event.set()

    async def _hang(self, name: str) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            self.ended.append(name)
            self.ended_event.set()


class Site:
    """One handler, its gate and a client."""

    def __init__(self, handler: EchoHandler, gate: Gate, client: Any) -> None:
        self.handler = handler
        self.gate = gate
        self.client = client


LIMITS = Limits(max_calls=3, max_streams=2, retry_after_ms=70)


@pytest.fixture(params=["local", "remote"])
async def site(request: pytest.FixtureRequest) -> AsyncIterator[Site]:
    handler, gate = EchoHandler(), Gate(LIMITS)
    dispatcher = Dispatcher(Contract.of(ECHO), handler, gate=gate)
    if request.param == "local":
        yield Site(handler, gate, LocalClient(ECHO, dispatcher))
        return
    server = grpc.aio.server()
    serve(server, dispatcher)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    channel = open_channel(f"127.0.0.1:{port}")
    yield Site(handler, gate, RemoteClient(ECHO, channel))
    await channel.close()
    await server.stop(None)


async def texts(*values: str) -> AsyncIterator[Any]:
    for value in values:
        yield EchoRequest(text=value)


async def test_unary_answers(site: Site) -> None:
    assert text_of(await site.client.Once(EchoRequest(text="hello"))) == "hello"


async def test_unary_bytes_pass_as_message_and_raw(site: Site) -> None:
    assert text_of(await site.client.Once(EchoRequest(text="bytes"))) == "as bytes"
    raw = await site.client.Once(EchoRequest(text="bytes"), raw=True)
    assert raw == EchoResponse(text="as bytes").SerializeToString()
    assert await site.client.Once(EchoRequest(text="x"), raw=True) == EchoResponse(text="x").SerializeToString()


async def test_metadata_and_deadline_reach_the_handler(site: Site) -> None:
    await site.client.Once(EchoRequest(text="x"), metadata={"session": "abc"}, timeout_ms=2_000)
    seen = site.handler.seen
    assert seen is not None
    assert seen.metadata["session"] == "abc"
    left = seen.time_left_ms()
    assert left is not None
    # gRPC rounds a time-out up as it travels.
    assert 1_500 < left <= 2_100
    assert seen.method == "/kit.test.v1.EchoService/Once"


async def test_service_error_keeps_everything(site: Site) -> None:
    with pytest.raises(ServiceError) as caught:
        await site.client.Once(EchoRequest(text="refuse"))
    error = caught.value
    assert (error.code, error.reason, error.message) == (
        grpc.StatusCode.FAILED_PRECONDITION,
        "NOT_NOW",
        "try later",
    )
    assert dict(error.metadata) == {"why": "busy"}
    assert error.retry_after_ms == 1500
    detail = error.find_detail(error_details_pb2.ResourceInfo)
    assert detail is not None
    assert detail.resource_name == "door"


async def test_a_long_error_arrives_cut(site: Site) -> None:
    with pytest.raises(ServiceError) as caught:
        await site.client.Once(EchoRequest(text="long"))
    assert (caught.value.code, caught.value.reason) == (grpc.StatusCode.NOT_FOUND, "LONG")
    assert caught.value.message.startswith("нема" * 100)
    assert caught.value.metadata["a"].startswith("ї" * 200)


async def test_unknown_exception_becomes_an_incident(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR), pytest.raises(ServiceError) as caught:
        await site.client.Once(EchoRequest(text="break"))
    assert caught.value.code is grpc.StatusCode.INTERNAL
    assert "secret" not in str(caught.value)
    fields: Mapping[str, object] = caplog.records[0].fields  # type: ignore[attr-defined]
    assert fields["incident"] == caught.value.metadata["incident"]
    assert len(caplog.records) == 1


async def test_unary_deadline_ends_the_handler(site: Site) -> None:
    with pytest.raises(ServiceError) as caught:
        await site.client.Once(EchoRequest(text="hang"), timeout_ms=50)
    assert caught.value.code is grpc.StatusCode.DEADLINE_EXCEEDED
    await asyncio.wait_for(site.handler.ended_event.wait(), 2)


async def test_cancelling_a_unary_call_cancels_its_handler(site: Site) -> None:
    task = asyncio.create_task(site.client.Once(EchoRequest(text="hang")))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(site.handler.ended_event.wait(), 2)


async def test_server_stream(site: Site) -> None:
    async with site.client.Many(EchoRequest(text="n")) as answers:
        assert [text_of(answer) async for answer in answers] == ["n0", "n1", "n2"]


@pytest.mark.parametrize(("text", "code"), [("refuse", "OUT_OF_RANGE"), ("break", "INTERNAL")])
async def test_server_stream_fails_after_its_answers(site: Site, text: str, code: str) -> None:
    got: list[str] = []
    with pytest.raises(ServiceError) as caught:
        async for answer in site.client.Many(EchoRequest(text=text)):
            got.append(text_of(answer))
    assert got == [f"{text}0", f"{text}1", f"{text}2"]
    assert caught.value.code.name == code


async def test_leaving_a_stream_ends_its_handler(site: Site) -> None:
    async with site.client.Many(EchoRequest(text="hang")) as answers:
        assert text_of(await anext(answers)) == "hang0"
    await asyncio.wait_for(site.handler.ended_event.wait(), 2)
    assert site.handler.ended == ["Many"]


async def test_cancel_wakes_a_reader_with_cancelled(site: Site) -> None:
    answers = site.client.Many(EchoRequest(text="hang"))
    asyncio.get_running_loop().call_later(0.05, answers.cancel)
    with pytest.raises(ServiceError) as caught:
        async for _ in answers:
            pass
    assert caught.value.code is grpc.StatusCode.CANCELLED


async def test_stream_deadline(site: Site) -> None:
    with pytest.raises(ServiceError) as caught:
        async for _ in site.client.Many(EchoRequest(text="hang"), timeout_ms=100):
            pass
    assert caught.value.code is grpc.StatusCode.DEADLINE_EXCEEDED


async def test_client_stream(site: Site) -> None:
    assert text_of(await site.client.Join(texts("a", "b", "c"))) == "a+b+c"


async def test_talk_both_ways(site: Site) -> None:
    async with site.client.Talk(texts("a", "b")) as answers:
        assert [text_of(answer) async for answer in answers] == ["A", "B", "end"]


async def test_talk_answers_before_the_client_is_done(site: Site) -> None:
    go = asyncio.Event()

    async def requests() -> AsyncIterator[Any]:
        yield EchoRequest(text="a")
        await go.wait()
        yield EchoRequest(text="b")

    async with site.client.Talk(requests()) as answers:
        assert text_of(await anext(answers)) == "A"
        go.set()
        assert text_of(await anext(answers)) == "B"


async def test_a_stream_that_ends_while_one_writes(site: Site) -> None:
    """The refusal arrives, or the stream was lost; a client's own write is no fault of the server."""
    draw = random.Random(3)
    seen = set()

    async def requests() -> AsyncIterator[Any]:
        await asyncio.sleep(draw.random() / 1_000)
        yield EchoRequest(text="a" * 500)

    for _ in range(300):
        with pytest.raises(ServiceError) as caught:
            async for _ in site.client.Talk(requests(), metadata={"stranger": "yes"}):
                pass
        seen.add((caught.value.code, caught.value.reason))
    lost = (grpc.StatusCode.UNAVAILABLE, "stream_lost")
    assert seen - {lost} == {(grpc.StatusCode.PERMISSION_DENIED, "NOT_YOU")}


async def test_too_many_calls_are_refused_with_a_delay(site: Site) -> None:
    hanging = [asyncio.create_task(site.client.Once(EchoRequest(text="hang"))) for _ in range(LIMITS.max_calls)]
    await asyncio.sleep(0.1)
    with pytest.raises(ServiceError) as caught:
        await site.client.Once(EchoRequest(text="x"))
    assert caught.value.code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert caught.value.retry_after_ms == 70
    for task in hanging:
        task.cancel()
    await asyncio.gather(*hanging, return_exceptions=True)
    await asyncio.sleep(0.1)
    assert text_of(await site.client.Once(EchoRequest(text="x"))) == "x"


async def test_too_many_streams_are_refused(site: Site) -> None:
    streams = [site.client.Many(EchoRequest(text="hang")) for _ in range(LIMITS.max_streams)]
    for stream in streams:
        await anext(stream)
    with pytest.raises(ServiceError) as caught:
        await anext(site.client.Many(EchoRequest(text="n")))
    assert caught.value.code is grpc.StatusCode.RESOURCE_EXHAUSTED
    for stream in streams:
        stream.cancel()


async def test_draining_lets_streams_say_goodbye(site: Site) -> None:
    watching = site.client.Many(EchoRequest(text="until draining"))
    talking = site.client.Talk(_endless())
    assert text_of(await anext(talking)) == "A"
    got = [text_of(await anext(watching)) for _ in range(3)]
    await site.gate.close_streams(1.0)
    got += [text_of(answer) async for answer in watching]
    assert got[-1] == "goodbye"
    assert [text_of(answer) async for answer in talking] == ["end"]
    assert site.gate.open_streams == 0


async def test_draining_ends_streams_that_stay(site: Site) -> None:
    watching = site.client.Many(EchoRequest(text="hang"))
    assert text_of(await anext(watching)) == "hang0"
    await site.gate.close_streams(0.05)
    with pytest.raises(ServiceError) as caught:
        async for _ in watching:
            pass
    assert (caught.value.code, caught.value.reason) == (grpc.StatusCode.UNAVAILABLE, "draining")
    with pytest.raises(ServiceError):
        await anext(site.client.Many(EchoRequest(text="n")))


async def _endless() -> AsyncIterator[Any]:
    yield EchoRequest(text="a")
    await asyncio.Event().wait()


async def test_malformed_bytes_are_an_invalid_argument(caplog: pytest.LogCaptureFixture) -> None:
    server = grpc.aio.server()
    serve(server, Dispatcher(Contract.of(ECHO), EchoHandler()))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    async with open_channel(f"127.0.0.1:{port}") as channel:
        forms: tuple[tuple[str, Any], ...] = (("Once", channel.unary_unary), ("Many", channel.unary_stream))
        for path, form in forms:
            call: Any = form(f"/kit.test.v1.EchoService/{path}")(b"\xff\xff\xff")
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await (call if path == "Once" else anext(call.__aiter__()))
            assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    await server.stop(None)
    assert caplog.records == []


async def test_noise_on_the_port_is_no_matter(capfd: pytest.CaptureFixture[str]) -> None:
    server = grpc.aio.server()
    serve(server, Dispatcher(Contract.of(ECHO), EchoHandler()))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    noise = random.Random(7)
    for size in (1, 100, 5_000):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(noise.randbytes(size))
        with contextlib.suppress(ConnectionError, TimeoutError):
            await writer.drain()
            await asyncio.wait_for(reader.read(), 0.3)
        writer.close()
    async with open_channel(f"127.0.0.1:{port}") as channel:
        assert text_of(await RemoteClient(ECHO, channel).Once(EchoRequest(text="still here"))) == "still here"
    await server.stop(None)
    assert capfd.readouterr().err == ""


async def test_unreachable_server_is_unavailable() -> None:
    async with open_channel("127.0.0.1:1") as channel:
        with pytest.raises(ServiceError) as caught:
            await RemoteClient(ECHO, channel).Once(EchoRequest(text="x"))
    assert caught.value.code is grpc.StatusCode.UNAVAILABLE


def test_a_handler_must_have_every_method() -> None:
    with pytest.raises(TypeError, match="lacks methods of kit.test.v1.EchoService: Once, Many, Join, Talk"):
        Dispatcher(Contract.of(ECHO), object())


async def test_a_server_may_take_its_time_to_greet() -> None:
    """Given a server that is too busy to answer a new connection at once, a call waits for it."""
    server = grpc.aio.server()
    serve(server, Dispatcher(Contract.of(ECHO), EchoHandler(), gate=Gate(LIMITS)))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()

    async def pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65_536):
            writer.write(data)
        writer.close()

    async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.4)
        there_reader, there_writer = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(pipe(reader, there_writer), pipe(there_reader, writer))

    busy = await asyncio.start_server(connect, "127.0.0.1", 0)
    channel = open_channel(f"127.0.0.1:{busy.sockets[0].getsockname()[1]}")
    answer = await RemoteClient(ECHO, channel).Once(EchoRequest(text="hello"))
    assert text_of(answer) == "hello"
    await channel.close()
    await server.stop(None)
    busy.close()
