"""The service as others reach it: in one process, and over gRPC with Postgres and Redis; and what happens without."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import grpc
import pytest
from magnate.clock.v1 import clock_service_pb2 as clock_pb
from magnate.game.v1 import update_pb2
from magnate.table.v1 import table_pb2
from magnate.table.v1 import table_service_pb2 as pb

import services.rules.main
from services.kit.batches import BatchCaller
from services.kit.calls import OneReplica, RemoteClient, open_channel
from services.kit.errors import ServiceError
from services.kit.server import Service
from services.kit.streams import Batch, Entry, EventStream
from services.kit.streams_memory import MemoryStream
from services.kit.streams_redis import RedisStream
from services.rules.settings import RulesSettings
from services.table.adapters.applying import APPLY_ENVELOPES
from services.table.adapters.play_time import ClockPlayTime
from services.table.adapters.rules_calls import RulesCalls
from services.table.adapters.store import SqlStore, open_database
from services.table.adapters.system import SystemWall
from services.table.domain.fallback import least_spending
from services.table.main import DESCRIPTOR, build
from services.table.settings import TableSettings
from tests.support.servers import free_port
from tests.support.site_of_tables import refusal

_STEPS = 30


class StandingClock:
    """Its readings say one second, for ever; each stream ends when the test says so."""

    def __init__(self) -> None:
        self.reading = clock_pb.PlayTime(play_time_ms=1_000, epoch=1, running=True, valid_for_ms=0)
        self.end = asyncio.Event()
        self.watches = 0

    def WatchPlayTime(self, request: clock_pb.WatchPlayTimeRequest) -> Any:
        self.watches += 1
        return _Readings(self)


class _Readings:
    def __init__(self, clock: StandingClock) -> None:
        self._clock = clock
        self._given = False

    def __aiter__(self) -> _Readings:
        return self

    async def __anext__(self) -> clock_pb.WatchPlayTimeResponse:
        if self._given:
            await self._clock.end.wait()
            self._clock.end.clear()
            raise ServiceError(grpc.StatusCode.UNAVAILABLE, "UNAVAILABLE", "gone")
        self._given = True
        return clock_pb.WatchPlayTimeResponse(play_times=[self._clock.reading], same_for_all=True)

    async def __aenter__(self) -> _Readings:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, stack: TracebackType | None
    ) -> None:
        return None


class Running:
    """A table service with a client, and the stream that it publishes on."""

    def __init__(self, client: Any, stream: EventStream) -> None:
        self.client = client
        self.stream = stream


async def _embedded(folder: Path) -> AsyncIterator[Running]:
    stream = MemoryStream()
    rules = services.rules.main.build(RulesSettings())
    table = await build(
        TableSettings(database_url=f"sqlite:///{folder}/t.db"),
        rules_client=rules.local(services.rules.main.DESCRIPTOR),
        clocks=OneReplica(StandingClock),
        stream=stream,
    )
    await table.start()
    yield Running(table.local(DESCRIPTOR), stream)
    await table.stop()


async def _distributed(postgres_url: str, redis_url: str) -> AsyncIterator[Running]:
    stream = RedisStream(redis_url)
    rules = services.rules.main.build(RulesSettings())
    await rules.start(0)
    rules_channel = open_channel(f"127.0.0.1:{rules.port}")
    rules_client = RemoteClient(services.rules.main.DESCRIPTOR, rules_channel)
    applier: BatchCaller[Any, Any] = BatchCaller(
        open_stream=rules_client.ApplyStream, wrap=APPLY_ENVELOPES.ask, unwrap=APPLY_ENVELOPES.answered
    )
    await applier.start()
    table: Service = await build(
        TableSettings(database_url=postgres_url),
        rules_client=rules_client,
        clocks=OneReplica(StandingClock),
        stream=stream,
        applier=applier,
    )
    await table.start(0)
    channel = open_channel(f"127.0.0.1:{table.port}")
    yield Running(RemoteClient(DESCRIPTOR, channel), stream)
    await channel.close()
    await table.stop()
    await applier.close()
    await rules_channel.close()
    await rules.stop()
    await stream.close()


@pytest.fixture(params=["embedded", "distributed"])
async def running(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Running]:
    """The service in both modes."""
    if request.param == "embedded":
        opened = _embedded(tmp_path)
    else:
        opened = _distributed(request.getfixturevalue("postgres_url"), request.getfixturevalue("redis_url"))
    async for one in opened:
        yield one


async def test_a_game_goes_from_the_lobby_to_the_stream_in_both_modes(running: Running) -> None:
    client = running.client
    subscription = await running.stream.subscribe([f"shard:{shard}" for shard in range(64)])
    token = (await client.CreateSession(pb.CreateSessionRequest(name="Olena"))).session_token
    settings = table_pb2.TableSettings(edition="industry", seats=3)
    created = await client.CreateTable(pb.CreateTableRequest(session_token=token, settings=settings, command_id="c"))
    table_id = created.table.table_id
    await client.AddBots(pb.AddBotsRequest(session_token=token, table_id=table_id, count=2))
    started = await client.StartGame(pb.StartGameRequest(session_token=token, table_id=table_id))
    last_seq = started.seq
    for number in range(_STEPS):
        page = await client.ReadUpdates(pb.ReadUpdatesRequest(table_id=table_id, after_seq=last_seq - 1))
        decision = update_pb2.Update.FromString(page.updates[-1]).decision
        command = least_spending(decision, decision.seats[0], "x")[0]
        command.command_id = f"c{number}"
        holder = token if command.seat == 0 else ""
        request = pb.SubmitRequest(session_token=holder, table_id=table_id, command=command)
        last_seq = (await client.Submit(request)).last_seq
        assert (await client.Submit(request)).repeated
    log = (await client.ReadUpdates(pb.ReadUpdatesRequest(table_id=table_id))).updates
    assert len(log) == _STEPS + 1
    heard: list[bytes] = []
    async with asyncio.timeout(10):
        async for item in subscription:
            assert isinstance(item, Batch)
            messages = [table_pb2.StreamMessage.FromString(entry.payload) for entry in item.entries]
            heard += [message.update for message in messages if message.HasField("update")]
            if len(heard) >= len(log):
                break
    await subscription.close()
    assert heard == list(log)
    await client.Probe(pb.ProbeRequest(probe_id="p"))


class SlowStream(MemoryStream):
    """Takes what is published after a while."""

    async def publish_all(self, batches: Mapping[str, Sequence[tuple[str, int, bytes]]]) -> None:
        await asyncio.sleep(0.8)
        await super().publish_all(batches)


async def test_the_end_of_the_service_publishes_and_notes_what_takes_long(store_url: str) -> None:
    """Given an event stream that takes most of a second for what waits, when the service ends, then all of it is there
    and marked: the next one finds nothing to publish again."""
    stream = SlowStream()
    subscription = await stream.subscribe([f"shard:{shard}" for shard in range(64)])
    rules = services.rules.main.build(RulesSettings())
    service = await build(
        TableSettings(database_url=store_url),
        rules_client=rules.local(services.rules.main.DESCRIPTOR),
        clocks=OneReplica(StandingClock),
        stream=stream,
    )
    await service.start()
    client: Any = service.local(DESCRIPTOR)
    token = (await client.CreateSession(pb.CreateSessionRequest(name="Olena"))).session_token
    settings = table_pb2.TableSettings(edition="industry", seats=2)
    created = await client.CreateTable(pb.CreateTableRequest(session_token=token, settings=settings, command_id="c"))
    table_id = created.table.table_id
    await client.AddBots(pb.AddBotsRequest(session_token=token, table_id=table_id, count=1))
    begun = await client.StartGame(pb.StartGameRequest(session_token=token, table_id=table_id))
    log = (await client.ReadUpdates(pb.ReadUpdatesRequest(table_id=table_id))).updates
    assert len(log) == 1
    await service.stop()
    published: list[Entry] = []
    with suppress(TimeoutError):
        async with asyncio.timeout(0.2):
            async for item in subscription:
                assert isinstance(item, Batch)
                published += item.entries
    heard = [table_pb2.StreamMessage.FromString(entry.payload) for entry in published]
    assert [message.update for message in heard if message.HasField("update")] == list(log)
    assert max(message.table.lobby_version for message in heard) == begun.table.lobby_version
    store = SqlStore(open_database(store_url), SystemWall())
    await store.start()
    assert await store.unpublished(10**15, 10) == []
    assert await store.unpublished_lobbies(10**15, 10) == []
    await store.close()


async def test_refusals_look_alike_in_both_modes(running: Running) -> None:
    with pytest.raises(ServiceError) as raised:
        await running.client.GetSession(pb.GetSessionRequest(session_token="a.b"))
    assert (raised.value.code, raised.value.reason) == (grpc.StatusCode.UNAUTHENTICATED, "no_session")
    huge = pb.GetSessionRequest(session_token="x" * 129)
    assert await refusal(running.client.GetSession(huge)) == "malformed"


async def test_play_time_follows_the_clock_again_after_a_loss() -> None:
    clock = StandingClock()
    play_time = ClockPlayTime(OneReplica(lambda: clock), SystemWall())
    assert play_time.now_ms(7) is None
    task = asyncio.create_task(play_time.run())
    async with asyncio.timeout(5):
        while play_time.now_ms(7) is None:
            await asyncio.sleep(0.01)
        assert play_time.now_ms(7) == 1_000
        clock.reading.play_time_ms = 2_000
        clock.end.set()
        while clock.watches < 2 or play_time.now_ms(63) != 2_000:
            await asyncio.sleep(0.01)
    task.cancel()
    await asyncio.wait([task])


async def test_readings_of_single_shards_keep_apart() -> None:
    play_time = ClockPlayTime(OneReplica(StandingClock), SystemWall())
    readings = [clock_pb.PlayTime(shard=shard, play_time_ms=shard * 100, epoch=1, running=False) for shard in (3, 5)]
    play_time.follow(clock_pb.WatchPlayTimeResponse(play_times=readings))
    assert [play_time.now_ms(shard) for shard in (3, 4, 5)] == [300, None, 500]


async def test_the_first_reading_is_waited_for() -> None:
    """Who comes before it gets it once it is there; without one, soon an end."""
    play_time = ClockPlayTime(OneReplica(StandingClock), SystemWall())
    waiting = asyncio.create_task(play_time.first_ms(3))
    await asyncio.sleep(0.02)
    assert not waiting.done()
    reading = clock_pb.PlayTime(play_time_ms=700, epoch=1, running=False)
    play_time.follow(clock_pb.WatchPlayTimeResponse(play_times=[reading], same_for_all=True))
    assert await waiting == 700
    assert await ClockPlayTime(OneReplica(StandingClock), SystemWall()).first_ms(3) is None


class HandWall:
    """Monotonic time that only the test moves."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def unix_ms(self) -> int:
        return 0

    def monotonic_s(self) -> float:
        return self.now_s


def told(play_time_ms: int, *, running: bool = True) -> clock_pb.WatchPlayTimeResponse:
    """A reading of all shards."""
    reading = clock_pb.PlayTime(play_time_ms=play_time_ms, epoch=1, running=running, valid_for_ms=250)
    return clock_pb.WatchPlayTimeResponse(play_times=[reading], same_for_all=True)


async def test_an_old_reading_is_not_the_present() -> None:
    """Given a process that was stopped while play time ran, when a command comes, then it waits for a new reading: with
    the old one its deadline would begin too early."""
    wall = HandWall()
    play_time = ClockPlayTime(OneReplica(StandingClock), wall)
    # A process that has just begun has heard nothing yet: its commands wait, so no probe may pass.
    assert (play_time.now_ms(3), play_time.is_heard(3)) == (None, False)
    play_time.follow(told(1_000))
    wall.now_s += 0.3
    assert (play_time.now_ms(3), play_time.is_heard(3)) == (1_250, True)
    wall.now_s += 2.0
    assert (play_time.now_ms(3), play_time.is_heard(3)) == (None, False)
    waiting = asyncio.create_task(play_time.first_ms(3))
    await asyncio.sleep(0)
    # What had piled up comes first.
    for heard_ms in (1_250, 2_000, 3_300):
        play_time.follow(told(heard_ms))
    assert await waiting == 3_300
    assert play_time.is_heard(3)


async def test_what_had_piled_up_is_not_the_present() -> None:
    """Given a process that was stopped while play time stood still, when the first of what had piled up is read, then a
    command still waits for the rest: play time has gone on since."""
    wall = HandWall()
    play_time = ClockPlayTime(OneReplica(StandingClock), wall)
    play_time.follow(told(1_000, running=False))
    wall.now_s += 3.0
    assert play_time.now_ms(3) is None
    play_time.follow(told(1_000, running=False))
    assert play_time.now_ms(3) is None
    play_time.follow(told(3_200))
    wall.now_s += 0.03
    assert play_time.now_ms(3) == 3_230


async def test_play_time_that_stays_away_stands_still() -> None:
    """Given no clock, when a command comes, then it waits a moment, and games go on while time stands."""
    wall = HandWall()
    play_time = ClockPlayTime(OneReplica(StandingClock), wall)
    play_time.follow(told(1_000))
    wall.now_s += 5.0
    assert await play_time.first_ms(3) == 1_250
    play_time.follow(told(1_250, running=False))
    assert play_time.is_heard(3)
    wall.now_s += 5.0
    assert (play_time.now_ms(3), play_time.is_heard(3)) == (None, False)
    assert await play_time.first_ms(3) == 1_250


async def test_rules_that_are_away_are_reported() -> None:
    class Away:
        async def Apply(self, request: object) -> object:
            raise ServiceError(grpc.StatusCode.UNAVAILABLE, "STREAM_LOST", "gone")

    rules = RulesCalls(Away())  # type: ignore[arg-type]
    with pytest.raises(ServiceError) as raised:
        await rules.apply(None)  # type: ignore[arg-type]
    assert (raised.value.code, raised.value.reason) == (grpc.StatusCode.UNAVAILABLE, "unreachable")


async def test_a_store_that_is_away_is_reported() -> None:
    database = open_database(f"postgresql://nobody@127.0.0.1:{free_port()}/nothing")
    assert await refusal(database.start()) == "unreachable"
    await database.close()


def test_the_program_says_what_is_wrong_with_its_settings() -> None:
    environ = {**os.environ, "MAGNATE_TABLE_SNAPSHOT_EVERY": "0"}
    done = subprocess.run(
        [sys.executable, "-m", "services.table"], env=environ, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 2
    assert "MAGNATE_TABLE_SNAPSHOT_EVERY" in done.stderr


def test_a_service_of_its_own_lets_nobody_name_a_seed() -> None:
    """That is for the embedded site alone: whoever names the seed knows every roll."""
    environ = {**os.environ, "MAGNATE_ALLOW_FIXED_SEED": "true"}
    done = subprocess.run(
        [sys.executable, "-m", "services.table"], env=environ, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 2
    assert "MAGNATE_ALLOW_FIXED_SEED" in done.stderr


def test_the_program_says_when_there_is_no_store() -> None:
    environ = {**os.environ, "MAGNATE_DATABASE_URL": f"postgresql://nobody@127.0.0.1:{free_port()}/nothing"}
    done = subprocess.run(
        [sys.executable, "-m", "services.table"], env=environ, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 1
    assert "store" in done.stderr
