"""The browser port: Connect and gRPC-Web say the same as native gRPC, over HTTP/1.1."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import struct
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from connectrpc.code import Code
from connectrpc.compat import google_protobuf_json_codec
from connectrpc.errors import ConnectError
from connectrpc.protocol import ProtocolType
from google.rpc import error_details_pb2
from magnate.game.v1 import command_pb2
from magnate.gateway.v1 import gateway_service_pb2 as pb
from magnate.table.v1 import table_pb2

from tests.support.gateways import Site, kinds, read_updates, running_site, target, updates_of
from tests.support.http import request, streamed

SERVICE = "/magnate.gateway.v1.GatewayService/"
VARIANTS: dict[str, dict[str, Any]] = {
    "connect": {},
    "connect-plain": {"send_compression": None},
    "connect-json": {"codec": google_protobuf_json_codec()},
    "grpc-web": {"protocol": ProtocolType.GRPC_WEB},
}


@contextlib.asynccontextmanager
async def connected(site: Site, variant: str) -> AsyncIterator[tuple[Any, dict[str, str]]]:
    """A Connect client in this variant and the headers of a new session."""
    client: Any = site.web_client(**VARIANTS[variant])
    answer = await client.create_session(pb.CreateSessionRequest(name="Web"))
    yield client, {"authorization": f"Bearer {answer.session_token}"}


@pytest.mark.parametrize("variant", VARIANTS)
async def test_a_browser_sees_what_a_native_client_sees(site: Site, variant: str) -> None:
    """The same messages in the same order, snapshot, resumed updates and live ones."""
    ada = await site.client("Ada")
    table_id = await site.started_table(ada)
    await site.play(table_id, 10)
    held = site.table.held(table_id)
    wanted = pb.WatchRequest(targets=[target(table_id, 3)])
    async with connected(site, variant) as (client, headers), ada.watch(target(table_id, 3)) as native:
        web = client.watch(wanted, headers=headers)
        before = held.last_seq
        parts = [(await read_updates(web, before), await read_updates(native, before))]
        await site.play(table_id, 5)
        parts.append((await read_updates(web, held.last_seq), await read_updates(native, held.last_seq)))
        await web.aclose()
    assert kinds(parts[0][0])[:2] == ["opened", "table"]
    for on_web, on_native in parts:
        assert kinds(on_web) == kinds(on_native)
        assert updates_of(on_web) == updates_of(on_native)


@pytest.mark.parametrize("variant", VARIANTS)
async def test_calls_and_refusals_are_the_same(site: Site, variant: str) -> None:
    """Status, message and ErrorInfo of a refusal are those of the native port; RetryInfo too."""
    ada = await site.client("Ada")
    table_id = await site.started_table(ada)
    async with connected(site, variant) as (client, headers):
        assert (await client.get_server_info(pb.GetServerInfoRequest())).contract_version == "1.0"
        joined = await client.join_table(pb.JoinTableRequest(table_id=table_id), headers=headers)
        assert joined.seat == 1
        good = command_pb2.Command(command_id="w1", seat=1, roll=command_pb2.Roll())
        done = await client.submit(pb.SubmitRequest(table_id=table_id, command=good), headers=headers)
        assert (done.first_seq, done.last_seq) == (2, 3)
        foreign = command_pb2.Command(command_id="w2", seat=0, roll=command_pb2.Roll())
        with pytest.raises(ConnectError) as refused:
            await client.submit(pb.SubmitRequest(table_id=table_id, command=foreign), headers=headers)
        info = _detail(refused.value, error_details_pb2.ErrorInfo)
        assert refused.value.code is Code.PERMISSION_DENIED
        assert (info.reason, info.domain, dict(info.metadata)) == ("not_your_seat", "magnate", {"seat": "0"})
        bad = command_pb2.Command(command_id="w3", seat=1, bid=command_pb2.Bid(amount=-5))
        with pytest.raises(ConnectError) as malformed:
            await client.submit(pb.SubmitRequest(table_id=table_id, command=bad), headers=headers)
        assert malformed.value.code is Code.INVALID_ARGUMENT
        assert _detail(malformed.value, error_details_pb2.ErrorInfo).reason == "bad_amount"
        site.table.unreachable = True
        with pytest.raises(ConnectError) as away:
            await client.submit(pb.SubmitRequest(table_id=table_id, command=good), headers=headers)
        assert away.value.code is Code.UNAVAILABLE
        assert _detail(away.value, error_details_pb2.RetryInfo).retry_delay.ToMilliseconds() == 250
        with pytest.raises(ConnectError) as nobody:
            [message async for message in client.watch(pb.WatchRequest())]
        assert nobody.value.code is Code.UNAUTHENTICATED
        assert _detail(nobody.value, error_details_pb2.ErrorInfo).reason == "no_session"


async def test_raw_http_unary_json(site: Site) -> None:
    """`curl` can do it: one POST with JSON, one JSON answer, the contract version among the headers."""
    url = site.web + SERVICE
    created = await request("POST", url + "CreateSession", json.dumps({"name": "Raw"}).encode(), JSON)
    token = json.loads(created.body)["sessionToken"]
    assert (created.status, created.headers["magnate-contract"]) == (200, "1.0")
    assert created.headers["content-type"] == "application/json"
    listed = await request("POST", url + "ListTables", b"{}", JSON | {"authorization": f"Bearer {token}"})
    assert json.loads(listed.body) == {"nextPageToken": "n"}
    refused = await request("POST", url + "ListTables", b"{}", JSON)
    error = json.loads(refused.body)
    assert (refused.status, error["code"]) == (401, "unauthenticated")
    assert refused.headers["magnate-contract"] == "1.0"
    assert error["details"][0]["type"] == "google.rpc.ErrorInfo"
    info = error_details_pb2.ErrorInfo.FromString(base64.b64decode(error["details"][0]["value"] + "=="))
    assert info.reason == "no_session"


async def test_raw_http_streaming(site: Site) -> None:
    """Frames come one by one, unbuffered, each with five bytes of head; the last one says how it ended."""
    ada = await site.client()
    table_id = await site.started_table(ada)
    body = pb.WatchRequest(targets=[target(table_id, 0)]).SerializeToString()
    headers = {
        "content-type": "application/connect+proto",
        "connect-protocol-version": "1",
        "authorization": f"Bearer {ada.token}",
    }
    enveloped = struct.pack(">BI", 0, len(body)) + body
    async with streamed("POST", site.web + SERVICE + "Watch", enveloped, headers) as answer:
        assert (answer.status, answer.headers["content-type"]) == (200, "application/connect+proto")
        seen = [pb.WatchResponse.FromString(await _frame(answer)) for _ in range(3)]
        assert kinds(seen) == ["opened", "table", "update"]
        for _ in range(5):
            await site.play(table_id, 1)
            assert pb.WatchResponse.FromString(await _frame(answer)).update.last_seq == (
                site.table.held(table_id).last_seq
            )
    async with asyncio.timeout(3):
        while site.gateway.hub.watches:
            await asyncio.sleep(0.02)


async def test_pages_of_other_origins(site: Site) -> None:
    """Only origins of the setting are allowed, with the headers that clients send."""
    url = site.web + SERVICE + "GetServerInfo"
    asked = {"access-control-request-method": "POST", "access-control-request-headers": "authorization"}
    allowed = await request("OPTIONS", url, b"", {"origin": "https://game.example", **asked})
    assert allowed.status == 204
    assert allowed.headers["access-control-allow-origin"] == "https://game.example"
    assert "authorization" in allowed.headers["access-control-allow-headers"]
    foreign = await request("OPTIONS", url, b"", {"origin": "https://evil.example", **asked})
    assert "access-control-allow-origin" not in foreign.headers
    called = await request("POST", url, b"{}", JSON | {"origin": "https://game.example"})
    assert called.headers["access-control-allow-origin"] == "https://game.example"
    assert "grpc-status" in called.headers["access-control-expose-headers"]


async def test_health_and_files(tmp_path: Path) -> None:
    """The health page, the built client, and nothing outside its folder."""
    (tmp_path / "web" / "assets").mkdir(parents=True)
    (tmp_path / "web" / "index.html").write_text("<title>Magnate</title>")
    (tmp_path / "web" / "assets" / "a.js").write_text("1")
    (tmp_path / "secret.txt").write_text("secret")
    async with running_site(web_folder=str(tmp_path / "web")) as site:
        async with asyncio.timeout(3):
            while (await request("GET", site.web + "/healthz")).status != 200:
                await asyncio.sleep(0.02)
        page = await request("GET", site.web + "/")
        assert (page.status, page.body) == (200, b"<title>Magnate</title>")
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        script = await request("GET", site.web + "/assets/a.js")
        assert "immutable" in script.headers["cache-control"]
        for path in ("/../secret.txt", "/%2e%2e/secret.txt", "/assets/../../secret.txt", "/nothing"):
            missing = await request("GET", site.web + path)
            assert (missing.status, missing.body) == (404, b"there is nothing here\n")
        assert (await request("POST", site.web + "/", b"x")).status == 405


async def test_draining_reaches_browsers() -> None:
    """At a stop a browser's watch gets its place and a proper end, and the port closes in time."""
    async with running_site() as site:
        ada = await site.client()
        table_id = await site.started_table(ada)
        async with connected(site, "connect") as (client, headers):
            stream = client.watch(pb.WatchRequest(targets=[target(table_id, 0)]), headers=headers)
            await read_updates(stream, 1)
            stopping = asyncio.create_task(site.gateway.service.stop())
            async with asyncio.timeout(5):
                messages = [message async for message in stream if message.WhichOneof("message") == "ended"]
                await stopping
        assert [message.ended for message in messages] == [
            pb.WatchEnded(table_id=table_id, reason="draining", resume_after_seq=1),
            pb.WatchEnded(reason="draining"),
        ]


async def test_a_slow_browser_is_cut() -> None:
    """Bounded queues hold on this port too: who does not read is cut and loses its connection."""
    async with running_site(queue_frames=16, slow_ms=200) as site:
        ada = await site.client()
        table_id = await site.started_table(ada)
        site.table.padding = 20_000
        body = pb.WatchRequest(targets=[target(table_id, 0)]).SerializeToString()
        headers = {"content-type": "application/connect+proto", "authorization": f"Bearer {ada.token}"}
        enveloped = struct.pack(">BI", 0, len(body)) + body
        async with streamed("POST", site.web + SERVICE + "Watch", enveloped, headers) as answer:
            await _frame(answer)
            while not site.gateway.hub.slow_cuts:
                await site.play(table_id, 5)
                await asyncio.sleep(0)
            async with asyncio.timeout(5):
                while site.gateway.hub.watches:
                    await asyncio.sleep(0.05)


async def test_tables_settings_survive_json(site: Site) -> None:
    """Nested messages arrive as they were sent."""
    async with connected(site, "connect-json") as (client, headers):
        wanted = table_pb2.TableSettings(edition="industry", seats=3, spectators=True)
        created = await client.create_table(pb.CreateTableRequest(settings=wanted, command_id="c"), headers=headers)
    assert created.table.settings == wanted


JSON = {"content-type": "application/json"}


async def _frame(answer: Any) -> bytes:
    """The bytes of the next message that is no heartbeat."""
    while True:
        flags, size = struct.unpack(">BI", await answer.read(5))
        data: bytes = await answer.read(size)
        assert flags == 0
        if pb.WatchResponse.FromString(data).WhichOneof("message") != "heartbeat":
            return data


def _detail(error: ConnectError, kind: type[Any]) -> Any:
    found = [detail for detail in error.details if detail.type_name == kind.DESCRIPTOR.full_name]
    assert len(found) == 1
    return kind.FromString(found[0].message_bytes)
