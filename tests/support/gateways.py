"""A gateway on real ports, before a table service in memory."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import grpc
from magnate.bots.v1 import bots_service_pb2 as bots_pb
from magnate.clock.v1 import clock_service_pb2 as clock_pb
from magnate.game.v1 import command_pb2, edition_pb2
from magnate.gateway.v1 import gateway_service_pb2 as pb
from magnate.gateway.v1.gateway_service_connect import GatewayServiceClient
from magnate.rules.v1 import rules_service_pb2 as rules_pb
from magnate.table.v1 import table_pb2
from magnate.table.v1 import table_service_pb2 as table_pb

from gateway.main import DESCRIPTOR, Gateway, build
from gateway.settings import GatewaySettings
from services.kit.calls import Call, LocalClient, OneReplica, RemoteClient, Stream, open_channel
from services.kit.errors import ServiceError
from services.kit.streams_memory import MemoryStream
from services.kit.telemetry import Telemetry
from tests.support.fake_table import FakeTable

TABLE = table_pb.DESCRIPTOR.services_by_name["TableService"]
CLOCK = clock_pb.DESCRIPTOR.services_by_name["ClockService"]
CLOCK_TOKEN = "clock-token"

SETTINGS = GatewaySettings(
    port=0,
    web_port=0,
    heartbeat_ms=200,
    presence_ms=300,
    reconcile_ms=400,
    slow_ms=1_000,
    submit_target_ms=0,
    session_rate=0,
    address_rate=0,
    clock_token=CLOCK_TOKEN,
    shutdown_grace_ms=1_000,
    web_origins="https://game.example",
)


class FakeClock:
    """Publishes the play time that a test sets, several times a second."""

    def __init__(self) -> None:
        self.play_time = clock_pb.PlayTime(
            play_time_ms=5_000, running=True, valid_for_ms=250, epoch=1, given_back_ms=77
        )

    async def WatchPlayTime(
        self, request: clock_pb.WatchPlayTimeRequest, call: Call
    ) -> AsyncIterator[clock_pb.WatchPlayTimeResponse]:
        while not call.draining.is_set():
            yield clock_pb.WatchPlayTimeResponse(play_times=[self.play_time], same_for_all=True)
            await asyncio.sleep(0.05)

    def __getattr__(self, name: str) -> object:
        if not name[0].isupper():
            raise AttributeError(name)
        return lambda request, call: None


class FakeRules:
    """Describes one edition."""

    async def Describe(self, request: rules_pb.DescribeRequest) -> rules_pb.DescribeResponse:
        if request.edition not in ("", "industry"):
            raise ServiceError(grpc.StatusCode.NOT_FOUND, "no_edition", "no such edition")
        return rules_pb.DescribeResponse(editions=[edition_pb2.Edition(edition="industry", version=1)])


class FakeBots:
    """Knows one level."""

    async def ListLevels(self, request: bots_pb.ListLevelsRequest) -> bots_pb.ListLevelsResponse:
        return bots_pb.ListLevelsResponse(levels=[bots_pb.Level(level="steady", standard=True)])


class Client:
    """A native client with a session."""

    def __init__(self, channel: grpc.aio.Channel, token: str = "") -> None:
        self.raw: Any = RemoteClient(DESCRIPTOR, channel)
        self.token = token
        self.session = table_pb2.Session()

    @property
    def metadata(self) -> dict[str, str]:
        """What every call carries."""
        return {"authorization": f"Bearer {self.token}"} if self.token else {}

    async def call(self, name: str, request: Any, **metadata: str) -> Any:
        """A unary call by name."""
        return await getattr(self.raw, name)(request, metadata={**self.metadata, **metadata})

    def watch(self, *targets: pb.WatchTarget) -> Stream:
        """Opens a watch."""
        stream: Stream = self.raw.Watch(pb.WatchRequest(targets=targets), metadata=self.metadata)
        return stream


@dataclass
class Site:
    """The running gateway and what stands behind it."""

    gateway: Gateway
    table: FakeTable
    clock: FakeClock
    stream: MemoryStream
    channels: list[grpc.aio.Channel]
    web_clients: list[GatewayServiceClient]
    counter: itertools.count[int]

    @property
    def address(self) -> str:
        """Of the native port."""
        return f"127.0.0.1:{self.gateway.service.port}"

    @property
    def web(self) -> str:
        """Of the browser port."""
        return f"http://127.0.0.1:{self.gateway.web.port}"

    def stranger(self) -> Client:
        """A client without a session, with a connection of its own."""
        channel = open_channel(self.address)
        self.channels.append(channel)
        return Client(channel)

    async def client(self, name: str = "Ada") -> Client:
        """A client with a new session."""
        client = self.stranger()
        answer = await client.call("CreateSession", pb.CreateSessionRequest(name=name))
        client.token, client.session = answer.session_token, answer.session
        return client

    def web_client(self, **options: Any) -> GatewayServiceClient:
        """A client of the browser port."""
        client = GatewayServiceClient(self.web, **options)
        self.web_clients.append(client)
        return client

    async def started_table(self, host: Client, *, spectators: bool = True, seats: int = 2) -> str:
        """The id of a table whose game has begun, with the host in seat 0."""
        wanted = table_pb2.TableSettings(edition="industry", seats=seats, spectators=spectators)
        created = await host.call("CreateTable", pb.CreateTableRequest(settings=wanted, command_id="create"))
        table_id: str = created.table.table_id
        await host.call("StartGame", pb.StartGameRequest(table_id=table_id))
        return table_id

    async def submit(self, client: Client, table_id: str, *, seat: int = 0) -> table_pb.SubmitResponse:
        """One command by a client."""
        command = command_pb2.Command(command_id=f"c{next(self.counter)}", seat=seat, roll=command_pb2.Roll())
        answer: table_pb.SubmitResponse = await client.call(
            "Submit", pb.SubmitRequest(table_id=table_id, command=command)
        )
        return answer

    async def play(self, table_id: str, commands: int) -> None:
        """Commits commands without a client."""
        for _ in range(commands):
            number = next(self.counter)
            await self.table.commit(self.table.held(table_id), command_pb2.Command(command_id=f"p{number}"))


@asynccontextmanager
async def running_site(
    *,
    kept_entries: int = 1_024,
    telemetry: Telemetry | None = None,
    now_s: Callable[[], float] = time.monotonic,
    **changes: Any,
) -> AsyncIterator[Site]:
    """A gateway with these settings changed; the event stream keeps so many entries of a topic."""
    stream = MemoryStream(capacity=kept_entries)
    table, clock = FakeTable(stream), FakeClock()
    table_client: Any = LocalClient(TABLE, table)
    clock_client: Any = LocalClient(CLOCK, clock)
    gateway = build(
        replace(SETTINGS, **changes),
        table_client=table_client,
        submit=table_client.Submit,
        rules_client=FakeRules(),
        bots_client=FakeBots(),
        clocks=OneReplica(lambda: clock_client),
        stream=stream,
        now_s=now_s,
        telemetry=telemetry,
    )
    site = Site(gateway, table, clock, stream, [], [], itertools.count(1))
    await gateway.service.start(0)
    try:
        yield site
    finally:
        for client in site.web_clients:
            await client.close()
        for channel in site.channels:
            await channel.close()
        await gateway.service.stop()
        await stream.close()


def target(table_id: str, after_seq: int | None = None) -> pb.WatchTarget:
    """A table to watch."""
    return pb.WatchTarget(table_id=table_id, after_seq=after_seq)


async def read_updates(stream: Any, last_seq: int) -> list[pb.WatchResponse]:
    """What a watch brings, without heartbeats, up to the update or snapshot that reaches this number."""
    got: list[pb.WatchResponse] = []
    async with asyncio.timeout(20):
        async for message in stream:
            if message.WhichOneof("message") == "heartbeat":
                continue
            got.append(message)
            reached = message.update.last_seq or message.snapshot.seq
            if reached >= last_seq or message.WhichOneof("message") == "ended":
                return got
    raise AssertionError("the watch ended")


def kinds(messages: list[pb.WatchResponse]) -> list[str]:
    """What the messages are."""
    return [str(message.WhichOneof("message")) for message in messages]


def updates_of(messages: list[pb.WatchResponse]) -> list[bytes]:
    """The updates among messages, as bytes."""
    return [message.update.SerializeToString() for message in messages if message.WhichOneof("message") == "update"]
