"""A distributed site whose services, and operators, are known by their certificates."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from magnate.admin.v1 import admin_service_pb2 as admin_pb
from magnate.game.v1 import command_pb2
from magnate.gateway.v1 import gateway_service_pb2 as gateway_pb
from magnate.rules.v1 import rules_service_pb2 as rules_pb
from magnate.table.v1 import table_pb2
from magnate.table.v1 import table_service_pb2 as table_pb

from services.kit.calls import RemoteClient, TlsFiles, open_channel
from services.kit.errors import ServiceError
from tests.support.certificates import Authority
from tests.support.distributed import MODULES, DistributedSite
from tests.support.gateways import Client, target
from tests.support.servers import PostgresServer, RedisServer

ADMIN = admin_pb.DESCRIPTOR.services_by_name["AdminService"]
RULES = rules_pb.DESCRIPTOR.services_by_name["RulesService"]
TABLE = table_pb.DESCRIPTOR.services_by_name["TableService"]
RUNS_S = 20.0
AWAY = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """The authority of the whole site."""
    return Authority(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def site(postgres_server: PostgresServer, redis_server: RedisServer, authority: Authority) -> Iterator[DistributedSite]:
    """Five processes, each with a certificate of its own; the gateway's native port is encrypted too."""
    public = authority.issue("magnate.example")
    site = DistributedSite(
        postgres_url=postgres_server.new_database(),
        redis_url=redis_server.url,
        environ={
            "MAGNATE_GATEWAY_TLS_CERT": public.certificate,
            "MAGNATE_GATEWAY_TLS_KEY": public.key,
            "MAGNATE_GATEWAY_TLS_CA": public.authorities,
            "MAGNATE_GATEWAY_TLS_NAME": "magnate.example",
        },
        environ_of={name: authority.settings(name) for name in MODULES},
    )
    site.start()
    yield site
    statuses = site.stop()
    logs = site.logs()
    site.remove()
    assert set(statuses.values()) == {0}, statuses
    assert "Traceback" not in logs


@asynccontextmanager
async def client_of(site: DistributedSite, service: str, tls: TlsFiles | None) -> AsyncIterator[Any]:
    descriptor = {"rules": RULES, "table": TABLE}[service]
    async with open_channel(site.addresses[service], tls=tls, service=service) as channel:
        yield RemoteClient(descriptor, channel, timeout_ms=20_000)


async def refused(call: Any) -> ServiceError:
    with pytest.raises(ServiceError) as caught:
        await call
    return caught.value


@asynccontextmanager
async def watched_game(site: DistributedSite, authority: Authority) -> AsyncIterator[tuple[Client, str, Any]]:
    """A client, the id of a running game of bots, and the messages of a watch of it."""
    tls = TlsFiles(authorities=str(authority.file))
    async with open_channel(site.address, tls=tls, service="magnate.example") as channel:
        client = Client(channel)
        answer = await client.call("CreateSession", gateway_pb.CreateSessionRequest(name="Ada"))
        client.token, client.session = answer.session_token, answer.session
        settings = table_pb2.TableSettings(edition="industry", seats=4, spectators=True)
        wish = gateway_pb.CreateTableRequest(settings=settings, spectate=True, command_id="create")
        table_id = (await client.call("CreateTable", wish)).table.table_id
        await client.call("AddBots", gateway_pb.AddBotsRequest(table_id=table_id, count=4, level="normal"))
        await _started(client, table_id)
        request = gateway_pb.WatchRequest(targets=[target(table_id, 0)])
        async with asyncio.timeout(60):
            async with client.raw.Watch(request, metadata=client.metadata) as messages:
                yield client, table_id, messages


async def test_a_game_is_played_over_certificates(site: DistributedSite, authority: Authority) -> None:
    """Given certificates everywhere, then a game of bots goes on before a watcher's eyes, and play time runs: every
    arrow of the site is one that its callers may take."""
    async with watched_game(site, authority) as (client, table_id, messages):
        async for message in messages:
            if message.update.last_seq > 20:
                break
        async with asyncio.timeout(RUNS_S):
            question = gateway_pb.SyncTimeRequest(table_id=table_id)
            while not (await client.call("SyncTime", question)).play_time_ms:
                await asyncio.sleep(0.05)


async def _magnate(*arguments: str, **environ: str) -> tuple[int, str]:
    """The program, with nothing to read: its exit status and what it said."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "services.site", *arguments),
        env={**os.environ, **environ},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await process.communicate()
    assert process.returncode is not None
    return process.returncode, said.decode()


async def test_a_person_plays_at_an_encrypted_gateway(
    site: DistributedSite, authority: Authority, tmp_path: Path
) -> None:
    """Given whom to believe and the name in the certificate, then the game begins, and goes on without being told
    again; a certificate of another name is refused, and the cause is said."""
    folder = str(tmp_path)
    connect = ("play", "--plain", "--connect", site.address, "--tls-ca", str(authority.file))
    status, said = await _magnate(*connect, MAGNATE_DATA_FOLDER=folder)
    assert (status, "Hostname Verification" in said) == (1, True), said
    status, said = await _magnate(*connect, "--tls-name", "magnate.example", MAGNATE_DATA_FOLDER=folder)
    assert (status, "The game is kept." in said) == (0, True), said
    status, said = await _magnate("play", "--plain", "--continue", MAGNATE_DATA_FOLDER=folder)
    assert (status, "The game is kept." in said) == (0, True), said


async def _admin(site: DistributedSite, files: TlsFiles, *arguments: str) -> tuple[int, str]:
    """`magnate admin` with a certificate: its exit status and what it said."""
    return await _magnate(
        "admin",
        *arguments,
        MAGNATE_TABLE_ADDRESS=site.addresses["table"],
        MAGNATE_TLS_CERT=files.certificate,
        MAGNATE_TLS_KEY=files.key,
        MAGNATE_TLS_CA=files.authorities,
    )


async def test_an_operator_stops_and_releases_a_table_that_is_watched(
    site: DistributedSite, authority: Authority
) -> None:
    """Given a live watcher, then he is told of the stop, sees no event while it lasts, and sees the game go on after
    the release; all is in the audit log under the operator's name, also what a service tried."""
    operator = authority.issue("operator", person="grace")
    async with watched_game(site, authority) as (_, table_id, messages):
        refused = await _admin(site, authority.issue("gateway"), "stop", table_id, "--reason", "mischief")
        assert (refused[0], "not_allowed" in refused[1]) == (1, True)
        stopped = await _admin(site, operator, "stop", table_id, "--reason", "a look")
        assert stopped == (0, f"admin: table {table_id} is stopped\n")
        seen, last_seq = False, 0
        async for message in messages:
            last_seq = max(last_seq, message.update.last_seq)
            if message.HasField("table") and message.table.stopped:
                break
        status, shown = await _admin(site, operator, "inspect", table_id, "--check")
        found = json.loads(shown)
        assert (status, found["table"]["stopped"], found["stop_reason"], found["check"]["same"]) == (
            *(0, True, "a look"),
            True,
        )
        assert int(found["table"]["last_seq"]) == last_seq
        status, said = await _admin(site, operator, "release", table_id, "--reason", "all is well")
        assert (status, "goes on" in said) == (0, True)
        async for message in messages:
            if message.HasField("table"):
                seen = seen or not message.table.stopped
            if message.update.first_seq > last_seq:
                break
        assert seen, "the release is told before the first event after it"
        status, told = await _admin(site, operator, "audit", "--table", table_id)
        lines = [line.split(" ")[1:4] for line in told.splitlines()]
        assert lines == [
            ["grace", "release_table", "done"],
            ["grace", "inspect_table", "done"],
            ["grace", "stop_table", "done"],
            ["(nobody)", "stop_table", "not_allowed"],
        ]


async def _started(client: Client, table_id: str) -> None:
    """Play time is known once the clock has sent its first probes."""
    async with asyncio.timeout(30):
        while True:
            try:
                await client.call("StartGame", gateway_pb.StartGameRequest(table_id=table_id))
                return
            except ServiceError as error:
                if error.reason != "unreachable":
                    raise
            await asyncio.sleep(0.1)


async def test_no_gateway_passes_admin_calls_on(site: DistributedSite, authority: Authority) -> None:
    tls = TlsFiles(authorities=str(authority.file))
    async with open_channel(site.address, tls=tls, service="magnate.example") as channel:
        admin: Any = RemoteClient(ADMIN, channel)
        error = await refused(admin.StopTable(admin_pb.StopTableRequest(table_id="t", reason="mischief")))
        assert error.code is grpc.StatusCode.UNIMPLEMENTED


@pytest.mark.parametrize("name", ["bots", "gateway", "clock", "rules", "nobody.example"])
async def test_the_rules_decide_for_tables_only(site: DistributedSite, authority: Authority, name: str) -> None:
    """Given a certificate of the right authority and another name, then a command is not decided."""
    request = rules_pb.ApplyRequest(
        state=rules_pb.StateSource(table_id="t"),
        command=command_pb2.Command(command_id="c", withdraw=command_pb2.Withdraw(seat=0)),
    )
    async with client_of(site, "rules", authority.issue(name)) as rules:
        error = await refused(rules.Apply(request))
        assert (error.code, error.reason) == (grpc.StatusCode.PERMISSION_DENIED, "not_allowed")
        assert error.metadata["allowed"] == "table"
        with pytest.raises(ServiceError) as caught:
            async with rules.ApplyStream(_never()) as answers:
                await anext(answers)
        assert caught.value.reason == "not_allowed"
    async with client_of(site, "rules", authority.issue("table")) as rules:
        assert (await rules.Apply(request)).HasField("state_needed")


async def test_only_the_clock_ends_deadlines(site: DistributedSite, authority: Authority) -> None:
    """A gateway does not become the clock by its token, which it knows."""
    request = table_pb.ExpireDeadlineRequest(table_id="t", deadline_id=1)
    token = {"authorization": "Bearer the clock's token"}
    for name in ("gateway", "bots", "operator"):
        async with client_of(site, "table", authority.issue(name)) as tables:
            assert (await refused(tables.ExpireDeadline(request, metadata=token))).reason == "not_allowed"
    async with client_of(site, "table", authority.issue("clock")) as tables:
        assert (await refused(tables.ExpireDeadline(request))).reason == "no_table"


async def test_without_a_certificate_of_the_site_there_is_no_connection(
    site: DistributedSite, authority: Authority, tmp_path: Path
) -> None:
    foreign = Authority(tmp_path).issue("gateway")
    for tls in (
        None,
        TlsFiles(authorities=str(authority.file)),
        TlsFiles(foreign.certificate, foreign.key, str(authority.file)),
    ):
        for service in ("rules", "table"):
            async with client_of(site, service, tls) as client:
                call = client.Describe if service == "rules" else client.DescribeTable
                request: Any = rules_pb.DescribeRequest() if service == "rules" else _describe()
                assert (await refused(call(request))).code in AWAY


def _describe() -> table_pb.DescribeTableRequest:
    return table_pb.DescribeTableRequest(table_id="t")


async def _never() -> AsyncIterator[Any]:
    await asyncio.Event().wait()
    yield
