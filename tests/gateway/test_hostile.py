"""Whatever comes in: a documented error, no stack in the logs, and a gateway that goes on."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import random
import struct
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from magnate.game.v1 import command_pb2
from magnate.gateway.v1 import gateway_service_pb2 as pb

from services.kit import logs
from services.kit.errors import ServiceError, from_rpc_error
from tests.support.gateways import Site, running_site, target
from tests.support.http import request, streamed

SERVICE = "/magnate.gateway.v1.GatewayService/"
JSON = {"content-type": "application/json"}
PROTO = {"content-type": "application/proto"}


@pytest.fixture(autouse=True)
def quiet_logs() -> Iterator[io.StringIO]:
    """The logs as the gateway writes them; none may hold a stack, whatever a client has sent."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    written = io.StringIO()
    logs.configure(service="gateway", log_format="json", stream=written)
    yield written
    root.handlers[:] = handlers
    root.setLevel(level)
    text = written.getvalue()
    assert "Traceback" not in text
    assert "stack" not in text
    assert "call_failed" not in text


async def still_serves(site: Site) -> None:
    """Both ports answer a new client."""
    ada = await site.client()
    table_id = await site.started_table(ada)
    assert (await site.submit(ada, table_id)).last_seq == 3
    answer = await request("POST", site.web + SERVICE + "GetServerInfo", b"{}", JSON)
    assert json.loads(answer.body)["contractVersion"] == "1.0"


async def test_random_bytes_on_each_port(site: Site) -> None:
    """Noise closes its own connection and nothing else; on the native port also after a valid preface."""
    draw = random.Random(11)
    preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    for port in (site.gateway.service.port, site.gateway.web.port):
        for number in range(60):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            start = (b"", preface, b"POST / HTTP/1.1\r\nhost: x\r\n", b"GET " + SERVICE.encode())[number % 4]
            writer.write(start + draw.randbytes(draw.randint(1, 4_000)))
            if number % 2:
                writer.write_eof()
                try:
                    async with asyncio.timeout(0.5):
                        await reader.read()
                except (TimeoutError, ConnectionError):
                    pass
            writer.close()
    await still_serves(site)


async def test_random_bytes_as_messages(site: Site) -> None:
    """What does not parse is malformed, on each port and in each encoding; what parses is checked."""
    draw = random.Random(13)
    ada = await site.client()
    authorization = ("authorization", f"Bearer {ada.token}")
    channel: Any = site.channels[-1]
    names = ["Submit", "CreateTable", "JoinTable", "ListTables", "ChangeWatch", "SyncTime", "DescribeEdition"]
    for number in range(140):
        name, noise = names[number % len(names)], draw.randbytes(draw.randint(1, 300))
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await channel.unary_unary(SERVICE + name)(noise + b"\xff", metadata=(authorization,))
        assert from_rpc_error(refused.value).code is grpc.StatusCode.INVALID_ARGUMENT
        for kind in (JSON, PROTO):
            answer = await request("POST", site.web + SERVICE + name, noise + b"\xff", kind | dict([authorization]))
            assert (answer.status, json.loads(answer.body)["code"]) == (400, "invalid_argument")
    await still_serves(site)


@pytest.mark.parametrize(
    "body", [b"[" * 60_000, b'{"command":' * 5_000, b"null", b'"x"', b"{} {}", b'{"tableId": 1e999}', b"\x00"]
)
async def test_wicked_json(site: Site, body: bytes) -> None:
    """Deep, wrong or half JSON is malformed."""
    answer = await request("POST", site.web + SERVICE + "Submit", body, JSON | {"authorization": "Bearer x"})
    assert (answer.status, json.loads(answer.body)["code"]) == (400, "invalid_argument")
    await still_serves(site)


async def test_oversized_messages(site: Site) -> None:
    """Above the limit a message is refused with RESOURCE_EXHAUSTED before it is parsed."""
    ada = await site.client()
    huge = pb.SubmitRequest(table_id="t" * 100_000, command=command_pb2.Command(command_id="c"))
    with pytest.raises(ServiceError) as refused:
        await ada.call("Submit", huge)
    assert refused.value.code is grpc.StatusCode.RESOURCE_EXHAUSTED
    for kind, body in ((PROTO, huge.SerializeToString()), (JSON, b'{"tableId":"' + b"t" * 100_000 + b'"}')):
        answer = await request("POST", site.web + SERVICE + "Submit", body, kind)
        assert (answer.status, json.loads(answer.body)["code"]) == (429, "resource_exhausted")
    await still_serves(site)


async def test_huge_strings_within_a_message(site: Site) -> None:
    """Below the size limit the limits of the contract hold, naming the field and not repeating the value."""
    ada = await site.client()
    command = command_pb2.Command(command_id="ab" * 20_000, roll=command_pb2.Roll())
    with pytest.raises(ServiceError) as refused:
        await ada.call("Submit", pb.SubmitRequest(table_id="t", command=command))
    assert (refused.value.reason, dict(refused.value.metadata)) == ("malformed", {"field": "command.command_id"})
    assert "abab" not in refused.value.message


async def test_unknown_methods_and_services(site: Site) -> None:
    """UNIMPLEMENTED on the native port, 404 or 405 on the other; what other services offer is not here."""
    site.stranger()
    channel: Any = site.channels[-1]
    for path in (SERVICE + "Cheat", "/magnate.table.v1.TableService/Submit", "/x/y"):
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await channel.unary_unary(path)(b"")
        assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED
    assert (await request("POST", site.web + SERVICE + "Cheat", b"{}", JSON)).status == 404
    assert (await request("POST", site.web + "/magnate.table.v1.TableService/Submit", b"{}", JSON)).status == 405
    assert (await request("GET", site.web + SERVICE + "ListTables")).status == 405
    for kind in ("text/x", "application/grpc", "application/grpc+proto", "application/grpc-web-text"):
        answer = await request("POST", site.web + SERVICE + "ListTables", b"x", {"content-type": kind})
        assert answer.status == 415
    await still_serves(site)


async def test_wicked_envelopes(site: Site) -> None:
    """Lengths that lie, unknown flags, a second message, a stream cut in the middle."""
    ada = await site.client()
    headers = {"content-type": "application/connect+proto", "authorization": f"Bearer {ada.token}"}
    for body in (
        struct.pack(">BI", 0, 0xFFFFFFFF) + b"x",
        struct.pack(">BI", 0, 50) + b"short",
        struct.pack(">BI", 0x7C, 0),
        struct.pack(">BI", 1, 4) + b"nogz",
        struct.pack(">BI", 0, 3) + b"\xff\xff\xff",
        b"\x00",
        b"",
    ):
        answer = await request("POST", site.web + SERVICE + "Watch", body, headers)
        flags, size = struct.unpack(">BI", answer.body[:5])
        assert (answer.status, flags, size) == (200, 2, len(answer.body) - 5)
        assert "error" in json.loads(answer.body[5:])
    await still_serves(site)


async def test_wicked_headers(site: Site) -> None:
    """Headers that are no text, wrong time limits, wrong protocols: an error each, and nothing in the logs."""
    url = site.web + SERVICE + "ListTables"
    for headers in (
        {"authorization": "Bearer \xff\xfe"},
        {"connect-timeout-ms": "-5"},
        {"connect-timeout-ms": "9" * 40},
        {"connect-protocol-version": "7"},
        {"content-encoding": "zip-of-death"},
        {"magnate-contract": "x" * 4_000},
        {"authorization": "Bearer " + "y" * 10_000},
    ):
        answer = await request("POST", url, b"{}", JSON | headers)
        assert answer.status in (400, 401, 501), headers
    late = await request("POST", url, b"{}", {"content-type": "application/grpc-web+proto", "grpc-timeout": "1Z"})
    assert late.headers["grpc-status"] == "3"
    await still_serves(site)


async def test_a_client_that_leaves_in_the_middle(site: Site) -> None:
    """Half a request, or a watch dropped at once, leaves nothing behind."""
    ada = await site.client()
    for _ in range(30):
        _, writer = await asyncio.open_connection("127.0.0.1", site.gateway.web.port)
        writer.write(f"POST {SERVICE}Submit HTTP/1.1\r\nhost: x\r\ncontent-length: 500\r\n\r\nhalf".encode())
        await writer.drain()
        writer.close()
        ada.watch().cancel()
    table_id = await site.started_table(ada)
    body = pb.WatchRequest(targets=[target(table_id, 0)]).SerializeToString()
    headers = {"content-type": "application/connect+proto", "authorization": f"Bearer {ada.token}"}
    for _ in range(5):
        enveloped = struct.pack(">BI", 0, len(body)) + body
        async with streamed("POST", site.web + SERVICE + "Watch", enveloped, headers) as answer:
            await answer.read(5)
            site.table.padding = 20_000
            await site.play(table_id, 20)
        await site.play(table_id, 20)
    site.table.padding = 0
    await still_serves(site)
    async with asyncio.timeout(5):
        while site.gateway.hub.watches or site.gateway.service.gate.open_calls:
            await asyncio.sleep(0.02)


async def _until_closed(site: Site, start: bytes, *, more: bytes = b"", times: int = 0) -> bytes:
    """What the browser port says to these bytes, and some more of them again and again, until it closes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", site.gateway.web.port)
    writer.write(start)
    for _ in range(times):
        if reader.at_eof():
            break
        writer.write(more)
        await asyncio.sleep(0.02)
    async with asyncio.timeout(5):
        try:
            answer = await reader.read()
        except ConnectionError:
            answer = b""
    writer.close()
    return answer


async def test_a_request_that_does_not_come_to_its_end_is_given_up() -> None:
    """Nothing at all, half a head, half a body, one byte at a time: none holds its connection for long."""
    head = b"POST " + SERVICE.encode() + b"CreateSession HTTP/1.1\r\nhost: x\r\n"
    body = head + b"content-type: application/json\r\ncontent-length: 5000\r\n\r\n{"
    async with running_site(web_request_ms=300) as site:
        began_s = asyncio.get_running_loop().time()
        for start in (b"", head, body):
            assert await _until_closed(site, start) == b""
        assert await _until_closed(site, head, more=b"x", times=200) == b""
        assert asyncio.get_running_loop().time() - began_s < 4
        await still_serves(site)


async def test_the_limit_on_requests_is_none_on_answers_and_pauses() -> None:
    """A watch goes on for longer than that, and a connection may rest between two requests."""
    async with running_site(web_request_ms=200) as site:
        ada = await site.client()
        table_id = await site.started_table(ada)
        wanted = pb.WatchRequest(targets=[target(table_id)]).SerializeToString()
        envelope = struct.pack(">BI", 0, len(wanted)) + wanted
        kind = b"content-type: application/connect+proto\r\n"
        token = f"authorization: Bearer {ada.token}\r\n".encode()
        reader, writer = await asyncio.open_connection("127.0.0.1", site.gateway.web.port)
        writer.write(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n")
        assert (await reader.readuntil(b"ok\n")).startswith(b"HTTP/1.1 200")
        await asyncio.sleep(0.5)
        writer.write(b"POST " + SERVICE.encode() + b"Watch HTTP/1.1\r\nhost: x\r\n" + kind + token)
        writer.write(b"content-length: %d\r\n\r\n" % len(envelope) + envelope)
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
        ends_s = asyncio.get_running_loop().time() + 0.8
        while asyncio.get_running_loop().time() < ends_s:
            assert await reader.read(65_536) != b""
        writer.close()


async def test_a_head_without_end_is_refused(site: Site) -> None:
    """Before it fills the memory: many fields as well as one long one."""
    for start, more in ((b"GET / HTTP/1.1\r\n", b"a: b\r\n" * 2_000), (b"GET / HTTP/1.1\r\na: ", b"b" * 12_000)):
        # Who goes on writing may lose the answer with the connection.
        assert (await _until_closed(site, start, more=more, times=100))[:12] in (b"HTTP/1.1 400", b"")
    await still_serves(site)


async def test_trailers_are_refused(site: Site) -> None:
    """Behind a body in chunks nothing is kept, however much comes."""
    head = b"POST " + SERVICE.encode() + b"CreateSession HTTP/1.1\r\nhost: x\r\n"
    body = head + b"content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n"
    # Long before the time for a whole request is over.
    async with asyncio.timeout(10):
        assert await _until_closed(site, body, more=b"a: b\r\n", times=100) == b""
    await still_serves(site)
