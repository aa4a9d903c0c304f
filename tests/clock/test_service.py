"""The clock as others reach it: in the same process and over gRPC, in real time; and as a process that is killed."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import grpc
import pytest
from magnate.clock.v1 import clock_service_pb2 as pb
from magnate.game.v1 import decision_pb2, update_pb2
from magnate.gateway.v1 import gateway_service_pb2 as gateway_pb
from magnate.table.v1 import table_pb2
from magnate.table.v1 import table_service_pb2 as table_pb

from gateway.settings import GatewaySettings
from services.clock.__main__ import GATEWAY, TABLE
from services.clock.adapters.databases import open_database
from services.clock.adapters.store import SqlStore
from services.clock.application.ports import Kept, Outage, SystemTime, Terms
from services.clock.domain.play_time import Cause, Checkpoint
from services.clock.domain.shards import ALL
from services.clock.main import DESCRIPTOR, build
from services.clock.settings import ClockSettings
from services.kit.batches import serve_batches
from services.kit.calls import Call, LocalClient, RemoteClient, open_channel
from services.kit.errors import ServiceError
from services.kit.server import Service
from services.kit.settings import SettingsError
from services.kit.streams_memory import MemoryStream
from services.kit.streams_redis import RedisStream
from services.table.adapters.handler import EXPIRIES
from tests.support.servers import free_port

TOKEN = "only the clock knows"


class Surroundings:
    """Gateway and table service in one handler: probes come back at once, one table has deadlines."""

    def __init__(self) -> None:
        self.deadline: decision_pb2.Deadline | None = None
        self.ended_s: list[float] = []
        self.tokens: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)

        async def refuse(request: object, call: Call) -> object:
            raise ServiceError(grpc.StatusCode.UNIMPLEMENTED, "not_allowed", "not here")

        return refuse

    async def Probe(self, request: Any, call: Call) -> Any:
        self.tokens.add(call.metadata.get("authorization", ""))
        return gateway_pb.ProbeResponse()

    async def ListDeadlines(self, request: table_pb.ListDeadlinesRequest, call: Call) -> table_pb.ListDeadlinesResponse:
        tables = []
        if self.deadline is not None:
            tables.append(table_pb.TableDeadlines(table_id="t1", shard=3, seq=1, deadlines=[self.deadline]))
        return table_pb.ListDeadlinesResponse(tables=tables)

    async def ExpireDeadline(
        self, request: table_pb.ExpireDeadlineRequest, call: Call
    ) -> table_pb.ExpireDeadlineResponse:
        if self.deadline is None or request.deadline_id != self.deadline.deadline_id:
            raise ServiceError(grpc.StatusCode.FAILED_PRECONDITION, "stale_deadline", "it is closed")
        self.deadline = None
        self.ended_s.append(time.monotonic())
        return table_pb.ExpireDeadlineResponse(last_seq=2)

    def ExpireStream(self, requests: AsyncIterator[table_pb.ExpireStreamRequest], call: Call) -> AsyncIterator[Any]:
        return serve_batches(
            requests,
            items=EXPIRIES.asked,
            handle=lambda request: self.ExpireDeadline(request, call),
            wrap=EXPIRIES.answer,
        )


@pytest.fixture(params=["local", "remote"])
async def client(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Any]:
    """A client of a running clock that has three outages on record."""
    url = f"sqlite:///{tmp_path / 'magnate.db'}"
    store = SqlStore(
        open_database(url), replica="before", terms=Terms(lease_ms=3_000, join_ms=0), timepiece=SystemTime()
    )
    await store.look((), None)
    past = [
        Outage(
            outage_id=number,
            from_unix_ms=number * 10,
            to_unix_ms=number * 10 + 5,
            cause=Cause.HELD,
            given_back_ms=5,
            shards=(3, 4),
        )
        for number in (1, 2)
    ]
    checkpoint = Checkpoint(play_time_ms=3_600_000, given_back_ms=10, uncounted_ms=60_000, cause=None)
    await store.save([], past)
    await store.give_back([Kept(shards=ALL, epoch=1, checkpoint=checkpoint)])
    await store.leave()
    await store.close()
    surroundings = Surroundings()
    service = build(
        ClockSettings(database_url=url, shutdown_grace_ms=1_000, forget_after_ms=0),
        table_client=LocalClient(TABLE, surroundings),
        gateway_client=LocalClient(GATEWAY, surroundings),
        stream=MemoryStream(),
    )
    await service.start(0 if request.param == "remote" else None)
    if request.param == "local":
        yield service.local(DESCRIPTOR)
    else:
        async with open_channel(f"127.0.0.1:{service.port}") as channel:
            yield RemoteClient(DESCRIPTOR, channel)
    await service.stop()


async def test_readings_come_several_times_a_second(client: Any) -> None:
    async with asyncio.timeout(10):
        readings: list[pb.PlayTime] = []
        async with client.WatchPlayTime(pb.WatchPlayTimeRequest()) as answers:
            async for answer in answers:
                readings += [item for item in answer.play_times if item.running]
                if len(readings) == 5:
                    break
    assert [item.shard for item in readings] == [0] * 5
    assert {item.epoch for item in readings} == {2}
    play_times = [item.play_time_ms for item in readings]
    assert play_times == sorted(play_times)
    assert 3_600_000 <= play_times[0] < play_times[4] <= 3_602_500
    assert all(0 < item.valid_for_ms <= 250 for item in readings)
    assert readings[0].given_back_ms == pytest.approx(60_010, abs=5_000)


async def test_outages_by_pages(client: Any) -> None:
    async with asyncio.timeout(10):
        while len((await client.ListOutages(pb.ListOutagesRequest())).outages) < 3:
            await asyncio.sleep(0.05)
    while not (await client.ListOutages(pb.ListOutagesRequest(page_size=1))).outages[0].to_unix_ms:
        await asyncio.sleep(0.05)
    first = await client.ListOutages(pb.ListOutagesRequest(page_size=2))
    assert [(item.cause, list(item.shards)) for item in first.outages] == [
        (pb.OUTAGE_CAUSE_CLOCK_AWAY, list(ALL)),
        (pb.OUTAGE_CAUSE_HELD, [3, 4]),
    ]
    second = await client.ListOutages(pb.ListOutagesRequest(page_size=2, page_token=first.next_page_token))
    assert list(second.outages) == [
        pb.Outage(
            outage_id=1,
            shard=3,
            from_unix_ms=10,
            to_unix_ms=15,
            cause=pb.OUTAGE_CAUSE_HELD,
            given_back_ms=5,
            shards=[3, 4],
        )
    ]
    assert second.next_page_token == ""


async def test_watch_ends_when_the_clock_stops(tmp_path: Path) -> None:
    """At once and without a failure, so that a stop is quick."""
    surroundings = Surroundings()
    service = build(
        ClockSettings(database_url=f"sqlite:///{tmp_path / 'magnate.db'}", shutdown_grace_ms=10_000),
        table_client=LocalClient(TABLE, surroundings),
        gateway_client=LocalClient(GATEWAY, surroundings),
        stream=MemoryStream(),
    )
    await service.start()
    async with service.local(DESCRIPTOR).WatchPlayTime(pb.WatchPlayTimeRequest()) as answers:
        await anext(answers)
        began_s = time.monotonic()
        await service.stop()
        assert time.monotonic() - began_s < 2
        async for answer in answers:
            assert answer.same_for_all


@pytest.mark.parametrize("token", ["x", "-1", "1 OR 1=1", "9" * 40, "²"])
async def test_foreign_page_token_is_refused(client: Any, token: str) -> None:
    with pytest.raises(ServiceError) as caught:
        await client.ListOutages(pb.ListOutagesRequest(page_token=token))
    assert caught.value.code is grpc.StatusCode.INVALID_ARGUMENT
    assert caught.value.reason == "malformed"


async def test_unknown_table_has_nothing_left(client: Any) -> None:
    async with asyncio.timeout(10):
        while not (await _play_time(client)).running:
            await asyncio.sleep(0.05)
    answer = await client.GetRemaining(pb.GetRemainingRequest(table_id="nowhere"))
    assert list(answer.remaining) == []
    assert not answer.HasField("play_time")


def test_settings_that_could_never_count_are_refused() -> None:
    settings = ClockSettings.load({"MAGNATE_PROBE_PERIOD_MS": "400"})
    with pytest.raises(SettingsError, match="MAGNATE_PROBE_LONGEST_GAP_MS must be above MAGNATE_PROBE_PERIOD_MS"):
        settings.pace()


async def _play_time(client: Any) -> pb.PlayTime:
    """The reading now; one that stands still while there is none."""
    try:
        answer: pb.GetPlayTimeResponse = await client.GetPlayTime(pb.GetPlayTimeRequest(), timeout_ms=1_000)
    except ServiceError as error:
        if error.code not in {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED}:
            raise
        return pb.PlayTime()
    return answer.play_time


class ClockProcess:
    """`python -m services.clock`, to be killed."""

    def __init__(self, environ: dict[str, str]) -> None:
        self._environ = environ
        self.client: Any = None
        self._process: subprocess.Popen[bytes] | None = None
        self._channel = open_channel(f"127.0.0.1:{environ['MAGNATE_CLOCK_PORT']}")

    def launch(self) -> None:
        """Starts it."""
        command = [sys.executable, "-m", "services.clock"]
        self._process = subprocess.Popen(command, env=self._environ, stderr=subprocess.DEVNULL)
        self.client = RemoteClient(DESCRIPTOR, self._channel)

    async def start(self) -> pb.PlayTime:
        """Returns once play time advances."""
        self.launch()
        async with asyncio.timeout(30):
            while not (reading := await _play_time(self.client)).running:
                await asyncio.sleep(0.05)
        return reading

    def tell(self, number: signal.Signals) -> None:
        """Sends the signal."""
        assert self._process is not None
        self._process.send_signal(number)

    def end(self, number: signal.Signals) -> int:
        """Sends the signal; the exit status."""
        self.tell(number)
        assert self._process is not None
        return self._process.wait(timeout=20)

    async def close(self) -> None:
        await self._channel.close()
        if self._process is not None and self._process.poll() is None:
            self.end(signal.SIGKILL)


async def test_killed_process_keeps_what_was_left(postgres_url: str, redis_url: str) -> None:
    """IND-TIME-20: with the real Postgres and Redis; the time in which there was no clock is given back."""
    surroundings = Surroundings()
    around = Service("around", GatewaySettings(clock_token=TOKEN))
    around.add_handler(GATEWAY, surroundings)
    around.add_handler(TABLE, surroundings)
    await around.start(0)
    stream = RedisStream(redis_url)
    address = f"127.0.0.1:{around.port}"
    clock = ClockProcess(
        {
            **os.environ,
            "MAGNATE_CLOCK_PORT": str(free_port()),
            "MAGNATE_DATABASE_URL": postgres_url,
            "MAGNATE_REDIS_URL": redis_url,
            "MAGNATE_TABLE_ADDRESS": address,
            "MAGNATE_GATEWAY_ADDRESS": address,
            "MAGNATE_CLOCK_TOKEN": TOKEN,
            "MAGNATE_GRACE_MS": "0",
            "MAGNATE_CLOCK_CHECKPOINT_MS": "100",
        }
    )
    try:
        reading = await clock.start()
        opened_s = time.monotonic()
        deadline = decision_pb2.Deadline(deadline_id=4, budget_ms=3_000, opened_at_ms=reading.play_time_ms)
        surroundings.deadline = deadline
        update = update_pb2.Update(table_id="t1", last_seq=1, deadlines=[deadline])
        message = table_pb2.StreamMessage(update=update.SerializeToString())
        await stream.publish("shard:3", [("t1", 1, message.SerializeToString())])
        await asyncio.sleep(0.7)
        left = (await clock.client.GetRemaining(pb.GetRemainingRequest(table_id="t1"))).remaining
        assert [item.deadline_id for item in left] == [4]
        assert clock.end(signal.SIGKILL) == -signal.SIGKILL
        await asyncio.sleep(1)
        resumed = await clock.start()
        passed_ms = (time.monotonic() - opened_s) * 1_000
        assert resumed.epoch > reading.epoch
        assert resumed.given_back_ms >= 1_000
        # What passed is either play time or given back; a reading is extrapolated by at most a period.
        assert resumed.play_time_ms - reading.play_time_ms <= passed_ms - resumed.given_back_ms + 300
        async with asyncio.timeout(20):
            while not surroundings.ended_s:
                await asyncio.sleep(0.02)
        assert surroundings.ended_s[0] - opened_s >= 3.0 + resumed.given_back_ms / 1_000 - 0.3
        assert clock.end(signal.SIGTERM) == 0
        assert len(surroundings.ended_s) == 1
        assert surroundings.tokens == {f"Bearer {TOKEN}"}
    finally:
        await clock.close()
        await stream.close()
        await around.stop()


async def test_stopped_process_is_replaced_and_fenced(postgres_url: str, redis_url: str) -> None:
    """Given two processes that share the shards, when one is stopped the other serves all of them soon; what the first
    one still says when it goes on is void, and then they share again."""
    surroundings = Surroundings()
    around = Service("around", GatewaySettings(clock_token=TOKEN))
    around.add_handler(GATEWAY, surroundings)
    around.add_handler(TABLE, surroundings)
    await around.start(0)
    address = f"127.0.0.1:{around.port}"
    environ = {
        **os.environ,
        "MAGNATE_DATABASE_URL": postgres_url,
        "MAGNATE_REDIS_URL": redis_url,
        "MAGNATE_TABLE_ADDRESS": address,
        "MAGNATE_GATEWAY_ADDRESS": address,
        "MAGNATE_CLOCK_TOKEN": TOKEN,
        "MAGNATE_CLOCK_JOIN_MS": "0",
    }
    clocks = [ClockProcess({**environ, "MAGNATE_CLOCK_PORT": str(free_port())}) for _ in range(2)]
    told: list[dict[int, pb.PlayTime]] = [{}, {}]
    tasks: list[asyncio.Task[None]] = []
    try:
        for clock, readings in zip(clocks, told, strict=True):
            clock.launch()
            tasks.append(asyncio.create_task(_follow(clock.client, readings)))
        await _until(lambda: all(_fresh(readings) == 32 for readings in told))
        clocks[0].tell(signal.SIGSTOP)
        await _until(lambda: _fresh(told[1]) == 64)
        lost = {shard for shard, reading in told[0].items() if told[1][shard].epoch > reading.epoch}
        assert len(lost) >= 32
        before = {shard: told[1][shard].play_time_ms for shard in lost}
        clocks[0].tell(signal.SIGCONT)
        await _until(lambda: all(_fresh(readings) == 32 for readings in told))
        highest = {
            shard: max((readings[shard] for readings in told if shard in readings), key=lambda one: one.epoch)
            for shard in lost
        }
        assert all(highest[shard].play_time_ms >= before_ms for shard, before_ms in before.items())
        assert [clock.end(signal.SIGTERM) for clock in clocks] == [0, 0]
    finally:
        for task in tasks:
            task.cancel()
        for clock in clocks:
            clock.tell(signal.SIGCONT)
            await clock.close()
        await around.stop()


async def _follow(client: Any, readings: dict[int, pb.PlayTime]) -> None:
    """Keeps the newest readings of a replica."""
    while True:
        with contextlib.suppress(ServiceError):
            async with client.WatchPlayTime(pb.WatchPlayTimeRequest()) as answers:
                async for answer in answers:
                    for item in answer.play_times:
                        for shard in ALL if answer.same_for_all else (item.shard,):
                            readings[shard] = item
        await asyncio.sleep(0.05)


def _fresh(readings: dict[int, pb.PlayTime]) -> int:
    """Shards whose play time advances by a reading of the last second."""
    now_ms = time.time() * 1_000
    return sum(reading.running and now_ms - reading.read_at_unix_ms < 1_000 for reading in readings.values())


async def _until(done: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not done():
            await asyncio.sleep(0.05)
