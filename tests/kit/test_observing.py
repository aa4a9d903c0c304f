"""Logs and traces say what happened, and where."""

from __future__ import annotations

import asyncio
import io
import json
import logging
from collections.abc import AsyncIterator, Iterator
from typing import Any
from urllib.request import urlopen

import grpc
import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from services.kit.calls import Call, Dispatcher, RemoteClient, open_channel, serve
from services.kit.calls.contract import Contract
from services.kit.logs import bind_call, configure, get_log
from services.kit.server import Service, ServiceSettings
from services.kit.telemetry import Telemetry, current_traceparent, parse_traceparent
from tests.support.echo import ECHO, EchoRequest, EchoResponse
from tests.support.servers import free_port


@pytest.fixture
def restored_logging() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.mark.usefixtures("restored_logging")
def test_a_json_line_has_its_fields() -> None:
    target = io.StringIO()
    configure(service="door", level="info", log_format="json", stream=target)
    get_log("a.b").bind(shard=3).info("opened", by="me", long="x" * 900)
    get_log("a.b").debug("not written")
    [line] = [json.loads(text) for text in target.getvalue().splitlines()]
    assert {key: line[key] for key in ("level", "event", "service", "logger", "shard", "by")} == {
        "level": "info",
        "event": "opened",
        "service": "door",
        "logger": "a.b",
        "shard": 3,
        "by": "me",
    }
    assert len(line["long"]) == 503


@pytest.mark.usefixtures("restored_logging")
def test_a_text_line_is_for_people() -> None:
    target = io.StringIO()
    configure(service="door", log_format="text", stream=target)
    get_log("a.b").warning("stuck", why="two\nlines")
    assert target.getvalue()[9:] == 'WARNING door stuck why="two\\nlines"\n'


@pytest.mark.usefixtures("restored_logging")
async def test_fields_of_a_call_stay_in_its_task() -> None:
    target = io.StringIO()
    configure(service="door", log_format="json", stream=target)

    async def work(number: int) -> None:
        bind_call(call=number)
        await asyncio.sleep(0)
        get_log("x").info("done")

    await asyncio.gather(work(1), work(2))
    get_log("x").info("after")
    assert [json.loads(text).get("call") for text in target.getvalue().splitlines()] == [1, 2, None]


class Handler:
    """Notes the trace it runs in."""

    def __init__(self) -> None:
        self.traces: list[str] = []

    async def Once(self, request: Any, call: Call) -> Any:
        self.traces.append(current_traceparent())
        return EchoResponse(text=request.text)

    async def Many(self, request: Any, call: Call) -> AsyncIterator[Any]:
        self.traces.append(current_traceparent())
        yield EchoResponse(text=request.text)

    Join = Once
    Talk = Many


async def test_a_trace_goes_through_the_network_when_it_is_sampled() -> None:
    exporter, handler = InMemorySpanExporter(), Handler()
    telemetry = Telemetry("door", trace_ratio=1.0, exporter=exporter)
    server = grpc.aio.server()
    serve(server, Dispatcher(Contract.of(ECHO), handler, telemetry=telemetry))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    async with open_channel(f"127.0.0.1:{port}") as channel:
        client = RemoteClient(ECHO, channel, telemetry=telemetry)
        await client.Once(EchoRequest(text="untraced"))
        with telemetry.root_span("outer") as span:
            assert span is not None
            await client.Once(EchoRequest(text="traced"))
            async for _ in client.Many(EchoRequest(text="traced")):
                pass
            trace_id = span.get_span_context().trace_id
    await server.stop(None)
    telemetry.close()
    assert handler.traces[0] == ""
    parsed = [parse_traceparent(header) for header in handler.traces[1:]]
    assert [context.trace_id for context in parsed if context] == [trace_id, trace_id]
    names = sorted(span.name for span in exporter.get_finished_spans())
    assert names == [
        "/kit.test.v1.EchoService/Many",
        "/kit.test.v1.EchoService/Once",
        "/kit.test.v1.EchoService/Once",
        "outer",
    ]


def test_ratio_of_zero_traces_nothing() -> None:
    telemetry = Telemetry("door", trace_ratio=0.0, exporter=InMemorySpanExporter())
    with telemetry.root_span("outer") as span:
        assert span is None
        assert current_traceparent() == ""
    telemetry.close()


@pytest.mark.parametrize(
    "header", ["", "x", "00-" + "0" * 32 + "-" + "1" * 16 + "-01", "00-" + "g" * 32 + "-" + "1" * 16 + "-01"]
)
def test_a_malformed_trace_is_ignored(header: str) -> None:
    assert parse_traceparent(header) is None


async def test_prometheus_sees_calls_and_what_is_open() -> None:
    port = free_port()
    settings = ServiceSettings(metrics_port=port)
    telemetry = settings.telemetry("door")
    services = [Service(name, settings, telemetry=telemetry) for name in ("one", "two")]
    for service in services:
        service.add_handler(ECHO, Handler())
        await service.start()
    client: Any = services[0].local(ECHO)
    await client.Once(EchoRequest(text="x"))
    page = await asyncio.to_thread(lambda: urlopen(f"http://127.0.0.1:{port}/metrics").read().decode())
    for service in services:
        await service.stop()
    counted = [line for line in page.splitlines() if line.startswith("magnate_call_seconds_count")]
    assert len(counted) == 1
    assert 'code="OK"' in counted[0]
    assert 'method="/kit.test.v1.EchoService/Once"' in counted[0]
    assert counted[0].endswith(" 1.0")
    assert 'le="0.0005"' in page, "the boundaries of times are in seconds"
    assert len([line for line in page.splitlines() if line.startswith("magnate_open_calls{")]) == 2
