"""Watching real games through the gateway's real ports, of the embedded and of the distributed site."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from magnate.game.v1 import command_pb2, update_pb2
from magnate.gateway.v1 import gateway_service_pb2 as pb
from magnate.gateway.v1.gateway_service_connect import GatewayServiceClient
from magnate.table.v1 import table_pb2

from services.kit.calls import open_channel
from services.kit.errors import ServiceError
from services.site.embedded import Settings, running
from tests.support.distributed import DistributedSite
from tests.support.gateways import Client, target
from tests.support.servers import PostgresServer, RedisServer

SEED = "5a" * 32


@dataclass
class Play:
    """A running site and the connections to it."""

    address: str
    web_address: str
    connections: list[Any]
    #: of every table, where the site lets it be named: embedded
    seed: str = ""

    async def client(self, name: str) -> Client:
        """A client with a session and a connection of its own."""
        channel = open_channel(self.address)
        self.connections.append(channel)
        client = Client(channel)
        answer = await client.call("CreateSession", pb.CreateSessionRequest(name=name))
        client.token, client.session = answer.session_token, answer.session
        return client

    async def table_of_bots(self, host: Client) -> str:
        """The id of a table of four bots that the host may start and watch."""
        wanted = table_pb2.TableSettings(edition="industry", seats=4, spectators=True)
        wish = pb.CreateTableRequest(settings=wanted, spectate=True, fixed_seed=self.seed, command_id="create")
        created = await host.call("CreateTable", wish)
        table_id: str = created.table.table_id
        await host.call("AddBots", pb.AddBotsRequest(table_id=table_id, count=4))
        return table_id


@pytest.fixture(scope="module")
def distributed(postgres_server: PostgresServer, redis_server: RedisServer) -> Iterator[DistributedSite]:
    """Five processes, which the tests of this file share."""
    site = DistributedSite(postgres_url=postgres_server.new_database(), redis_url=redis_server.url)
    site.start()
    yield site
    statuses = site.stop()
    logs = site.logs()
    site.remove()
    assert set(statuses.values()) == {0}, statuses
    assert "Traceback" not in logs


@pytest.fixture(params=["embedded", "distributed"])
async def play(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Play]:
    """A site that runs in this way."""
    async with AsyncExitStack() as stack:
        if request.param == "embedded":
            site: Any = await stack.enter_async_context(running(Settings.load({}).private(), tmp_path))
            playing = Play(site.address, site.web_address, [], SEED)
        else:
            site = request.getfixturevalue("distributed")
            playing = Play(site.address, site.web_address, [])
        try:
            yield playing
        finally:
            for connection in playing.connections:
                await connection.close()


def updates_in(message: pb.WatchResponse) -> Iterator[update_pb2.Update]:
    """The update of a message, if it is one."""
    if message.WhichOneof("message") == "update":
        yield message.update


async def follow(stream: Any, count: int) -> list[update_pb2.Update]:
    """So many updates, or fewer when the game is over."""
    got: list[update_pb2.Update] = []
    async with asyncio.timeout(60):
        async for message in stream:
            got += updates_in(message)
            if len(got) >= count or (got and got[-1].game_over):
                return got
    raise AssertionError("the watch ended")


async def test_three_watchers_see_one_sequence(play: Play) -> None:
    """Two native clients and a browser's client get the same updates of one game, without gap or secret."""
    ada, bob = await play.client("Ada"), await play.client("Bob")
    table_id = await play.table_of_bots(ada)
    web = GatewayServiceClient(play.web_address)
    play.connections.append(web)
    request = pb.WatchRequest(targets=[target(table_id)])
    on_web: Any = web.watch(request, headers=ada.metadata)
    watching = [asyncio.create_task(follow(stream, 300)) for stream in (on_web, ada.watch(target(table_id)))]
    await asyncio.sleep(0.2)
    await ada.call("StartGame", pb.StartGameRequest(table_id=table_id))
    late = await follow(bob.watch(target(table_id, 0)), 300)
    seen = [await task for task in watching]
    await on_web.aclose()
    assert len(late) == 300
    assert seen == [late, late]
    next_seq = 1
    for update in late:
        assert update.first_seq == next_seq
        assert [event.seq for event in update.events] == list(range(update.first_seq, update.last_seq + 1))
        next_seq = update.last_seq + 1
        assert SEED.encode() not in update.SerializeToString()
        assert bytes.fromhex(SEED) not in update.SerializeToString()


async def test_a_client_that_drops_100_times_sees_what_one_that_stays_sees(play: Play) -> None:
    """Resuming after any number goes on without gap or repeat, while the game goes on."""
    draw = random.Random(23)
    ada, bob = await play.client("Ada"), await play.client("Bob")
    table_id = await play.table_of_bots(ada)
    staying = asyncio.create_task(follow(ada.watch(target(table_id, 0)), 600))
    await ada.call("StartGame", pb.StartGameRequest(table_id=table_id))
    seen: list[update_pb2.Update] = []
    for _ in range(100):
        after_seq = seen[-1].last_seq if seen else 0
        async with bob.watch(target(table_id, after_seq)) as stream:
            seen += await follow(stream, draw.randint(1, 6))
    stayed = await staying
    assert len(seen) >= 100
    shared = min(len(seen), len(stayed))
    assert seen[:shared] == stayed[:shared]


async def test_a_snapshot_stands_for_the_updates_before_it(play: Play) -> None:
    """Its state hash is that of the update that ends at its number, and live updates follow it."""
    ada = await play.client("Ada")
    table_id = await play.table_of_bots(ada)
    await ada.call("StartGame", pb.StartGameRequest(table_id=table_id))
    history = await follow(ada.watch(target(table_id, 0)), 200)
    hashes: dict[int, bytes] = {update.last_seq: update.state_hash for update in history}
    for _ in range(5):
        async with ada.watch(target(table_id)) as stream:
            async with asyncio.timeout(20):
                async for message in stream:
                    if message.WhichOneof("message") == "snapshot":
                        snapshot = message.snapshot
                        break
            following = (await follow(stream, 1))[0]
        assert following.first_seq == snapshot.seq + 1
        async with ada.watch(target(table_id, 0)) as stream:
            hashes |= {update.last_seq: update.state_hash for update in await follow_to(stream, snapshot.seq)}
        assert snapshot.state_hash == hashes[snapshot.seq]
        assert snapshot.view.seq == snapshot.seq


async def follow_to(stream: Any, last_seq: int) -> list[update_pb2.Update]:
    """All updates up to this number."""
    got: list[update_pb2.Update] = []
    while not got or got[-1].last_seq < last_seq:
        got += await follow(stream, 1)
    return got


async def test_of_twenty_commands_for_one_decision_one_is_done(play: Play) -> None:
    """The others get a typed answer, and the log holds one command more."""
    ada, bob = await play.client("Ada"), await play.client("Bob")
    wanted = table_pb2.TableSettings(edition="industry", seats=2, spectators=True)
    created = await ada.call("CreateTable", pb.CreateTableRequest(settings=wanted, command_id="create"))
    table_id = created.table.table_id
    await bob.call("JoinTable", pb.JoinTableRequest(table_id=table_id))
    await ada.call("StartGame", pb.StartGameRequest(table_id=table_id))
    begun = (await follow(ada.watch(target(table_id, 0)), 1))[0]
    seat = begun.decision.seats[0]
    # Seats keep their joining order at the start.
    player = (ada, bob)[seat]

    async def roll(number: int) -> str:
        command = command_pb2.Command(
            command_id=f"roll-{number}",
            seat=seat,
            decision_id=begun.decision.decision_id,
            roll=command_pb2.Roll(),
        )
        try:
            await player.call("Submit", pb.SubmitRequest(table_id=table_id, command=command))
        except ServiceError as error:
            return error.reason
        return "done"

    outcomes = await asyncio.gather(*(roll(number) for number in range(20)))
    assert outcomes.count("done") == 1
    assert set(outcomes) <= {"done", "stale_decision", "version_race", "not_asked", "wrong_decision"}
    after = await follow(ada.watch(target(table_id, begun.last_seq)), 1)
    assert after[0].command.command_id.startswith("roll-")


@pytest.mark.parametrize("after_seq", [None, 0])
async def test_strangers_see_nothing_of_a_closed_table(play: Play, after_seq: int | None) -> None:
    """Where the creator allows no spectators, neither a snapshot nor an update goes out."""
    ada, bob, eve = [await play.client(name) for name in ("Ada", "Bob", "Eve")]
    wanted = table_pb2.TableSettings(edition="industry", seats=2)
    created = await ada.call("CreateTable", pb.CreateTableRequest(settings=wanted, command_id="create"))
    table_id = created.table.table_id
    await bob.call("JoinTable", pb.JoinTableRequest(table_id=table_id))
    await ada.call("StartGame", pb.StartGameRequest(table_id=table_id))
    kinds: list[str] = []
    async with eve.watch(target(table_id, after_seq)) as stream, asyncio.timeout(20):
        async for message in stream:
            kinds.append(str(message.WhichOneof("message")))
            if kinds[-1] == "ended":
                assert message.ended.reason in ("no_spectators", "no_table")
                break
    assert not {"snapshot", "update"} & set(kinds)
