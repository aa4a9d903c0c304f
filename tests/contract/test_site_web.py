"""A Connect client over HTTP/1.1 at the browser port makes the same calls as native gRPC, in both modes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from connectrpc.compat import google_protobuf_json_codec
from connectrpc.errors import ConnectError
from connectrpc.protocol import ProtocolType
from google.rpc import error_details_pb2
from magnate.game.v1 import command_pb2, update_pb2
from magnate.gateway.v1 import gateway_service_pb2 as pb
from magnate.gateway.v1.gateway_service_connect import GatewayServiceClient
from magnate.table.v1 import table_pb2

from tests.support.gateways import target
from tests.support.http import request
from tests.support.site_clients import People, Visitors
from tests.support.sites import LiveSite

VARIANTS: dict[str, dict[str, Any]] = {
    "connect": {},
    "connect-json": {"codec": google_protobuf_json_codec()},
    "grpc-web": {"protocol": ProtocolType.GRPC_WEB},
}


@asynccontextmanager
async def _client(site: LiveSite, variant: str) -> AsyncIterator[tuple[Any, dict[str, str]]]:
    """A client of the browser port, and the headers of its session."""
    client = GatewayServiceClient(site.web, **VARIANTS[variant])
    try:
        session = await client.create_session(pb.CreateSessionRequest(name="Web"))
        yield client, {"authorization": f"Bearer {session.session_token}"}
    finally:
        await client.close()


def _info_of(error: ConnectError) -> error_details_pb2.ErrorInfo:
    kind = error_details_pb2.ErrorInfo.DESCRIPTOR.full_name
    found = next(detail for detail in error.details if detail.type_name == kind)
    return error_details_pb2.ErrorInfo.FromString(found.message_bytes)


async def _updates(stream: Any, last_seq: int) -> list[update_pb2.Update]:
    found: list[update_pb2.Update] = []
    async with asyncio.timeout(30):
        async for message in stream:
            if message.HasField("update"):
                found.append(message.update)
                if message.update.last_seq >= last_seq:
                    return found
    raise AssertionError("the watch ended")


@pytest.mark.parametrize("variant", VARIANTS)
async def test_a_game_through_the_browser_port(site: LiveSite, visitors: Visitors, variant: str) -> None:
    """Session, table, start, play, watch, export: the log is the one that a native client sees."""
    native = await visitors.guest("Native")
    async with _client(site, variant) as (web, headers):
        settings = table_pb2.TableSettings(edition="industry", seats=2, spectators=True)
        wish = pb.CreateTableRequest(settings=settings, command_id="web")
        created = await web.create_table(wish, headers=headers)
        table_id = created.table.table_id
        await native.ask(pb.JoinTableRequest(table_id=table_id))
        started = await web.start_game(pb.StartGameRequest(table_id=table_id), headers=headers)
        assert started.table.status == table_pb2.TABLE_STATUS_RUNNING
        people = People(table_id, [native, native])
        watch = web.watch(pb.WatchRequest(targets=[target(table_id, 0)]), headers=headers)
        updates = await _updates(watch, 1)
        for _ in range(20):
            command = people.command(updates[-1].decision)
            if command.seat == 0:
                done = await web.submit(pb.SubmitRequest(table_id=table_id, command=command), headers=headers)
            else:
                done = await people.submit(command)
            updates += await _updates(watch, done.last_seq)
        await watch.aclose()
        async with native.watching(table_id, 0) as watcher:
            await watcher.reach(updates[-1].last_seq)
        assert watcher.updates == updates
        pieces = [
            piece.piece async for piece in web.export_table(pb.ExportTableRequest(table_id=table_id), headers=headers)
        ]
        assert b"".join(pieces) == await native.export(table_id)


@pytest.mark.parametrize("variant", VARIANTS)
async def test_refusals_are_the_same(site: LiveSite, visitors: Visitors, variant: str) -> None:
    """Status, reason and fields of a refusal are those of the native port."""
    people = await visitors.people(2)
    command = command_pb2.Command(command_id="x", seat=0, decision_id=1, roll=command_pb2.Roll())
    async with _client(site, variant) as (web, headers):
        for wish, code, reason in (
            (pb.SubmitRequest(table_id=people.table_id, command=command), "permission_denied", "not_your_seat"),
            (pb.SubmitRequest(table_id="no-such", command=command), "not_found", "no_table"),
            (pb.SubmitRequest(table_id=people.table_id), "invalid_argument", "malformed"),
        ):
            with pytest.raises(ConnectError) as refused:
                await web.submit(wish, headers=headers)
            info = _info_of(refused.value)
            assert (refused.value.code.value, info.reason, info.domain) == (code, reason, "magnate")
        with pytest.raises(ConnectError) as nobody:
            await web.list_tables(pb.ListTablesRequest())
        assert nobody.value.code.value == "unauthenticated"
    assert len(await people.guests[0].log(people.table_id)) == 1


async def test_the_health_page(site: LiveSite) -> None:
    """Says that the site can be played."""
    answer = await request("GET", f"{site.web}/healthz")
    assert answer.status == 200
