"""Calls are passed to the table service in the caller's name; failures come back in words of the closed list."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import grpc
import pytest
from google.protobuf.descriptor import Descriptor
from magnate.clock.v1 import clock_service_pb2 as clock_pb
from magnate.game.v1 import command_pb2
from magnate.gateway.v1 import gateway_service_pb2 as pb
from magnate.table.v1 import table_pb2
from magnate.table.v1 import table_service_pb2 as table_pb

from gateway.main import DESCRIPTOR
from services.kit.errors import ServiceError
from tests.support.gateways import CLOCK_TOKEN, Client, Site, running_site

_OWN = frozenset({"Watch", "ChangeWatch", "SyncTime", "GetServerInfo", "DescribeEdition", "Probe"})


async def refusal(client: Client, name: str, request: Any, **metadata: str) -> ServiceError:
    """The failure of a call."""
    with pytest.raises(ServiceError) as caught:
        await client.call(name, request, **metadata)
    return caught.value


def _fields(descriptor: Descriptor) -> dict[str, tuple[int, str, bool]]:
    return {
        field.name: (field.type, field.message_type.full_name if field.message_type else "", field.is_repeated)
        for field in descriptor.fields
    }


@pytest.mark.parametrize("name", sorted(method.name for method in DESCRIPTOR.methods if method.name not in _OWN))
def test_passed_calls_have_the_same_fields_on_both_sides(name: str) -> None:
    """Fields are carried over by name: none of a client's may lack in the table service's contract, nor an answer's."""
    table = table_pb.DESCRIPTOR.services_by_name["TableService"].methods_by_name[name]
    own = DESCRIPTOR.methods_by_name[name]
    assert _fields(own.input_type).items() <= _fields(table.input_type).items()
    assert _fields(table.output_type) == _fields(own.output_type)
    assert set(_fields(table.input_type)) - set(_fields(own.input_type)) <= {"session_token", "address"}


async def test_a_game_from_session_to_export(site: Site) -> None:
    """Session, lobby, bots, start, command, export: each answer is the table service's."""
    ada, bob = await site.client("Ada"), await site.client("Bob")
    assert site.table.addresses == ["127.0.0.1", "127.0.0.1"]
    wanted = table_pb2.TableSettings(edition="industry", seats=4, spectators=True)
    created = await ada.call("CreateTable", pb.CreateTableRequest(settings=wanted, command_id="c"))
    assert created.seat_secret == "secret-of-seat-0"
    table_id = created.table.table_id
    assert created.table.settings == wanted
    joined = await bob.call("JoinTable", pb.JoinTableRequest(table_id=table_id))
    assert (joined.seat, joined.seat_secret) == (1, "secret-of-seat-1")
    described = await bob.call("DescribeTable", pb.DescribeTableRequest(table_id=table_id))
    assert described.own_seat == 1
    left = await bob.call("LeaveTable", pb.LeaveTableRequest(table_id=table_id))
    assert [seat.seat for seat in left.table.seats] == [0]
    stranger = await bob.call("DescribeTable", pb.DescribeTableRequest(table_id=table_id))
    assert not stranger.HasField("own_seat")
    bots = await ada.call("AddBots", pb.AddBotsRequest(table_id=table_id, count=3))
    assert [seat.bot_level for seat in bots.table.seats] == ["", "steady", "steady", "steady"]
    started = await ada.call("StartGame", pb.StartGameRequest(table_id=table_id))
    assert (started.seq, started.table.status) == (1, table_pb2.TABLE_STATUS_RUNNING)
    done = await site.submit(ada, table_id)
    assert (done.first_seq, done.last_seq, done.repeated) == (2, 3, False)
    listed = await ada.call("ListTables", pb.ListTablesRequest())
    assert [table.table_id for table in listed.tables] == [table_id]
    assert listed.next_page_token == "n"
    assert (await ada.call("ListMyTables", pb.ListMyTablesRequest())).next_page_token == ""
    pieces = [
        piece.piece
        async for piece in ada.raw.ExportTable(pb.ExportTableRequest(table_id=table_id), metadata=ada.metadata)
    ]
    assert pieces == site.table.held(table_id).updates


async def test_a_command_resent_with_its_id_is_done_once(site: Site) -> None:
    """The second answer is the first one again."""
    ada = await site.client()
    table_id = await site.started_table(ada)
    request = pb.SubmitRequest(
        table_id=table_id, command=command_pb2.Command(command_id="once", seat=0, roll=command_pb2.Roll())
    )
    first, second = await ada.call("Submit", request), await ada.call("Submit", request)
    assert (second.first_seq, second.last_seq) == (first.first_seq, first.last_seq)
    assert (first.repeated, second.repeated) == (False, True)


async def test_refusals_keep_reason_fields_and_status(site: Site) -> None:
    """What the table service says reaches the client whole."""
    ada = await site.client()
    table_id = await site.started_table(ada)
    command = command_pb2.Command(command_id="x", seat=1, roll=command_pb2.Roll())
    error = await refusal(ada, "Submit", pb.SubmitRequest(table_id=table_id, command=command))
    assert (error.code, error.reason) == (grpc.StatusCode.PERMISSION_DENIED, "not_your_seat")
    assert error.metadata == {"seat": "1"}
    missing = await refusal(ada, "DescribeTable", pb.DescribeTableRequest(table_id="nowhere"))
    assert (missing.code, missing.reason) == (grpc.StatusCode.NOT_FOUND, "no_table")


async def test_system_commands_are_not_for_clients(site: Site) -> None:
    """`expire` and `withdraw` are refused before they reach the table service."""
    ada = await site.client()
    table_id = await site.started_table(ada)
    for action in ({"expire": command_pb2.Expire(deadline_id=1)}, {"withdraw": command_pb2.Withdraw(seat=0)}):
        command = command_pb2.Command(command_id="x", **action)
        error = await refusal(ada, "Submit", pb.SubmitRequest(table_id=table_id, command=command))
        assert (error.code, error.reason) == (grpc.StatusCode.PERMISSION_DENIED, "not_allowed")
    assert len(site.table.held(table_id).updates) == 1


async def test_calls_need_a_session(site: Site) -> None:
    """No token, a wrong one, another scheme, or a used-up one: no_session."""
    ada, nobody = await site.client(), site.stranger()
    for header in ("", "Bearer ", "Bearer wrong", "Basic token-1", "Bearer " + "x" * 500, "token-1"):
        metadata = {"authorization": header} if header else {}
        for name, request in (
            ("ListTables", pb.ListTablesRequest()),
            ("Submit", pb.SubmitRequest(table_id="t", command=command_pb2.Command(command_id="c"))),
        ):
            error = await refusal(nobody, name, request, **metadata)
            assert (error.code, error.reason) == (grpc.StatusCode.UNAUTHENTICATED, "no_session")
        with pytest.raises(ServiceError) as caught:
            await nobody.raw.Watch(pb.WatchRequest(), metadata=metadata).__anext__()
        assert caught.value.reason == "no_session"
    renewed = await ada.call("RenewSession", pb.RenewSessionRequest())
    assert (await refusal(ada, "ListTables", pb.ListTablesRequest())).reason == "no_session"
    ada.token = renewed.session_token
    await ada.call("ListTables", pb.ListTablesRequest())
    await ada.call("EndSession", pb.EndSessionRequest())
    assert (await refusal(ada, "ListTables", pb.ListTablesRequest())).reason == "no_session"


async def test_an_absent_table_service_is_unreachable(site: Site) -> None:
    """The client learns neither where it is nor what broke, but that it may try again."""
    ada = await site.client()
    table_id = await site.started_table(ada)
    site.table.unreachable = True
    command = command_pb2.Command(command_id="x", roll=command_pb2.Roll())
    error = await refusal(ada, "Submit", pb.SubmitRequest(table_id=table_id, command=command))
    assert (error.code, error.reason) == (grpc.StatusCode.UNAVAILABLE, "unreachable")
    assert "10.1.2.3" not in error.message
    assert error.retry_after_ms is not None


async def test_contract_versions_are_told_both_ways(site: Site) -> None:
    """Every answer carries the server's version; a client of another major is refused, one of a newer minor served."""
    ada = await site.client()
    channel: Any = site.channels[-1]
    call = channel.unary_unary("/magnate.gateway.v1.GatewayService/ListTables")
    running = call(b"", metadata=(("authorization", f"Bearer {ada.token}"),))
    await running
    assert ("magnate-contract", "1.0") in tuple(await running.trailing_metadata())
    failing = call(b"")
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await failing
    assert ("magnate-contract", "1.0") in tuple(refused.value.trailing_metadata() or ())
    for version in ("1.0", "1.7"):
        await ada.call("ListTables", pb.ListTablesRequest(), **{"magnate-contract": version})
    for version in ("0.9", "2.0"):
        error = await refusal(ada, "ListTables", pb.ListTablesRequest(), **{"magnate-contract": version})
        assert (error.code, error.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "contract_version")
        assert error.metadata == {"contract_version": "1.0", "oldest_contract_version": "1.0"}
    error = await refusal(ada, "ListTables", pb.ListTablesRequest(), **{"magnate-contract": "latest"})
    assert (error.code, error.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "malformed")


async def test_server_info_and_editions_need_no_session(site: Site) -> None:
    """Facts for a client that has just started."""
    nobody = site.stranger()
    info = await nobody.call("GetServerInfo", pb.GetServerInfoRequest())
    assert (info.contract_version, info.oldest_contract_version, info.heartbeat_ms) == ("1.0", "1.0", 200)
    assert [edition.edition for edition in info.editions] == ["industry"]
    assert list(info.bot_levels) == ["steady"]
    described = await nobody.call("DescribeEdition", pb.DescribeEditionRequest(edition="industry"))
    assert described.edition.version == 1
    error = await refusal(nobody, "DescribeEdition", pb.DescribeEditionRequest(edition="chess"))
    assert (error.code, error.reason) == (grpc.StatusCode.NOT_FOUND, "no_edition")


async def test_time_is_the_clocks(site: Site) -> None:
    """Play time is extrapolated from the clock's last reading while that is not too old, then stands still."""
    ada = await site.client()
    table_id = await site.started_table(ada)
    await asyncio.sleep(0.1)
    before_ms = int(time.time() * 1000)
    answer = await ada.call("SyncTime", pb.SyncTimeRequest(table_id=table_id))
    assert 5_000 <= answer.play_time_ms <= 5_250
    assert (answer.running, answer.given_back_ms) == (True, 77)
    assert before_ms <= answer.unix_ms <= int(time.time() * 1000)
    site.clock.play_time = clock_pb.PlayTime(play_time_ms=4_000, running=True, valid_for_ms=250, epoch=0)
    while (standing := await ada.call("SyncTime", pb.SyncTimeRequest())).running:
        await asyncio.sleep(0.05)
    assert 5_250 <= standing.play_time_ms <= 5_600
    await asyncio.sleep(0.1)
    assert (await ada.call("SyncTime", pb.SyncTimeRequest())).play_time_ms == standing.play_time_ms
    assert (await refusal(ada, "SyncTime", pb.SyncTimeRequest(table_id="nowhere"))).reason == "no_table"


async def test_a_probe_goes_the_whole_way(site: Site) -> None:
    """It comes back over the gateway's own subscription; lost on the event stream it is unreachable."""
    clock, ada = site.stranger(), await site.client()
    clock.token = CLOCK_TOKEN
    await clock.call("Probe", pb.ProbeRequest(probe_id="p1"))
    site.table.losing = True
    with pytest.raises(ServiceError) as lost:
        await clock.raw.Probe(pb.ProbeRequest(probe_id="p2"), metadata=clock.metadata, timeout_ms=300)
    assert lost.value.code in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)
    for other in (ada, site.stranger()):
        error = await refusal(other, "Probe", pb.ProbeRequest(probe_id="p3"))
        assert (error.code, error.reason) == (grpc.StatusCode.PERMISSION_DENIED, "not_allowed")


async def test_nobody_probes_where_the_clock_has_no_token() -> None:
    """An empty setting is no token that anybody could show."""
    async with running_site(clock_token="") as site:
        error = await refusal(site.stranger(), "Probe", pb.ProbeRequest(probe_id="p"))
        assert error.reason == "not_allowed"


async def test_a_session_that_calls_too_often_waits() -> None:
    """It is told how long; others are served, and after that time it is too."""
    async with running_site(session_rate=0.5) as site:
        ada, bob = await site.client("Ada"), await site.client("Bob")
        await ada.call("ListTables", pb.ListTablesRequest())
        error = await refusal(ada, "ListTables", pb.ListTablesRequest())
        assert (error.code, error.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "overloaded")
        assert error.retry_after_ms is not None
        assert 0 < error.retry_after_ms <= 2_000
        await bob.call("ListTables", pb.ListTablesRequest())
        await asyncio.sleep(error.retry_after_ms / 1000 + 0.05)
        await ada.call("ListTables", pb.ListTablesRequest())


async def test_an_address_that_calls_too_often_waits() -> None:
    """Also without a session: guessing tokens is slow."""
    async with running_site(address_rate=3.0) as site:
        nobody = site.stranger()
        reasons = [(await refusal(nobody, "ListTables", pb.ListTablesRequest())).reason for _ in range(40)]
        assert reasons[:6] == ["no_session"] * 6
        assert "overloaded" in reasons
