"""The gateway in a process of its own, behind the network: Redis carries the event stream, commands share a stream."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc
import pytest
from magnate.game.v1 import command_pb2
from magnate.gateway.v1 import gateway_service_pb2 as pb
from magnate.table.v1 import table_pb2
from magnate.table.v1 import table_service_pb2 as table_pb

from gateway.adapters.submitting import StreamedSubmit
from gateway.application.probes import Probes
from services.kit.calls import Contract, Dispatcher, Pool, PoolClient, RemoteReplicas, open_channel, serve
from services.kit.errors import ServiceError
from services.kit.streams import Lagged
from services.kit.streams_memory import MemoryStream
from services.kit.streams_redis import RedisStream
from tests.support.fake_table import FakeTable
from tests.support.gateways import TABLE, Client, read_updates, target, updates_of
from tests.support.http import request
from tests.support.servers import free_port


@asynccontextmanager
async def served(table: FakeTable) -> AsyncIterator[str]:
    """The table service in memory on a port."""
    server = grpc.aio.server()
    serve(server, Dispatcher(Contract.of(TABLE), table))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        await server.stop(0)


@asynccontextmanager
async def submitting(address: str) -> AsyncIterator[StreamedSubmit]:
    """The gateway's way to the table service."""
    pool = Pool(RemoteReplicas(TABLE, address, connect=lambda found: open_channel(str(found))), what="table")
    await pool.start()
    submit = StreamedSubmit(PoolClient(TABLE, pool), pool, timeout_ms=5_000)
    try:
        yield submit
    finally:
        await submit.close()
        await pool.close()


def command(number: int, *, seat: int = 0) -> table_pb.SubmitRequest:
    """A command of the first session at the first table."""
    return table_pb.SubmitRequest(
        session_token="token-1",
        table_id="table1",
        command=command_pb2.Command(command_id=f"c{number}", seat=seat, roll=command_pb2.Roll()),
    )


async def new_table(table: FakeTable) -> str:
    """A started table of the first session."""
    call: Any = None
    await table.CreateSession(table_pb.CreateSessionRequest(name="Ada"), call)
    wanted = table_pb2.TableSettings(edition="industry", seats=2)
    await table.CreateTable(table_pb.CreateTableRequest(session_token="token-1", settings=wanted), call)
    started = await table.StartGame(table_pb.StartGameRequest(session_token="token-1", table_id="table1"), call)
    return started.table.table_id


async def test_commands_share_long_lived_streams() -> None:
    """Many at once travel on one stream for each replica; each gets its own answer or refusal."""
    table = FakeTable(MemoryStream())
    table_id = await new_table(table)
    async with served(table) as address, submitting(address) as submit:
        done = await asyncio.gather(*(submit(command(number)) for number in range(100)))
        with pytest.raises(ServiceError) as refused:
            await submit(command(1_000, seat=1))
    assert {answer.last_seq for answer in done} == {last for _, last in table.held(table_id).seqs[1:]}
    assert (refused.value.code, refused.value.reason) == (grpc.StatusCode.PERMISSION_DENIED, "not_your_seat")
    assert refused.value.metadata == {"seat": "1"}
    assert table.calls == ["SubmitStream"]


async def test_a_command_whose_stream_broke_is_done_once() -> None:
    """It is sent once more under its id, which the table service has seen."""
    table = FakeTable(MemoryStream())
    table_id = await new_table(table)
    async with served(table) as address, submitting(address) as submit:
        await submit(command(1))
        table.break_next_answer = True
        again = await submit(command(2))
    assert again.repeated
    assert len(table.held(table_id).updates) == 3


async def test_a_probe_travels_with_the_commands() -> None:
    """Given commands on the stream to a replica, when a probe leaves, then it takes that stream: it says of the way of
    the commands that it works, not of another one."""
    stream = MemoryStream()
    table = FakeTable(stream)
    table_id = await new_table(table)
    async with served(table) as address, submitting(address) as submit:
        done = await submit(command(1))
        [way] = submit.probe_ways()
        await way(table_pb.ProbeRequest(probe_id="p-1"), 1_000)
        assert done.last_seq == table.held(table_id).last_seq
        assert table.calls == ["SubmitStream"]


async def test_a_probe_through_a_replica_of_the_release_before_goes_alone() -> None:
    """It finds an item without a command and refuses it; the call that it knows is made at the same replica."""
    table = FakeTable(MemoryStream())
    table.knows_streamed_probes = False
    async with served(table) as address, submitting(address) as submit:
        while not (ways := submit.probe_ways()):
            await asyncio.sleep(0.01)
        await ways[0](table_pb.ProbeRequest(probe_id="p-1"), 1_000)
        assert table.calls == ["SubmitStream", "Probe"]


async def test_play_time_stands_while_any_replica_that_commands_go_to_is_silent() -> None:
    """Commands of one table go to one replica, those of another to the other. Given that one of them hangs, when a
    probe leaves, then it is lost, for some people cannot play; the next one comes back, as commands go round it."""
    stream = MemoryStream()
    tables = FakeTable(stream), FakeTable(stream)
    async with served(tables[0]) as first, served(tables[1]) as second, submitting(f"{first},{second}") as submit:
        probes = Probes(submit.probe_ways, timeout_ms=500)
        hearing = asyncio.create_task(_tell(stream, probes))
        while len(submit.probe_ways()) < 2:
            await asyncio.sleep(0.01)
        await probes.run(pb.ProbeRequest(probe_id="p-1"), timeout_ms=None)
        assert [table.calls for table in tables] == [["SubmitStream"], ["SubmitStream"]]
        tables[1].pause_s = 30.0
        with pytest.raises(ServiceError):
            await probes.run(pb.ProbeRequest(probe_id="p-2"), timeout_ms=None)
        await probes.run(pb.ProbeRequest(probe_id="p-3"), timeout_ms=None)
        hearing.cancel()


async def _tell(stream: MemoryStream, probes: Probes) -> None:
    """What a gateway's own subscription does for its probes."""
    async for item in await stream.subscribe(["shard:0"]):
        assert not isinstance(item, Lagged)
        for entry in item.entries:
            probes.seen(table_pb2.StreamMessage.FromString(entry.payload).probe.probe_id)


class GatewayProcess:
    """`python -m gateway` with its surroundings."""

    def __init__(self, table_address: str, redis_url: str) -> None:
        self.port, self.web_port = free_port(), free_port()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "gateway"],
            env={
                **os.environ,
                "MAGNATE_GATEWAY_PORT": str(self.port),
                "MAGNATE_WEB_PORT": str(self.web_port),
                "MAGNATE_TABLE_ADDRESS": table_address,
                "MAGNATE_REDIS_URL": redis_url,
                "MAGNATE_HEARTBEAT_MS": "200",
                "MAGNATE_LOG_FORMAT": "json",
            },
            stderr=subprocess.PIPE,
            text=True,
        )

    async def ready(self) -> None:
        """Returns when the health page says so."""
        async with asyncio.timeout(20):
            while True:
                try:
                    if (await request("GET", f"http://127.0.0.1:{self.web_port}/healthz")).status == 200:
                        return
                except OSError:
                    pass
                await asyncio.sleep(0.05)

    def terminate(self) -> None:
        """SIGTERM."""
        self._process.send_signal(signal.SIGTERM)

    def end(self) -> tuple[int, str]:
        """Its exit status and what it has logged."""
        _, written = self._process.communicate(timeout=15)
        return self._process.returncode, written

    def kill(self) -> None:
        """For the end of a test that has failed."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.communicate()


async def test_a_process_serves_and_leaves_in_order(redis_url: str) -> None:
    """Watch and command through it; at SIGTERM the watch gets its place, and the process ends well and soon."""
    stream = RedisStream(redis_url)
    table = FakeTable(stream)
    async with served(table) as address:
        process = GatewayProcess(address, redis_url)
        try:
            await process.ready()
            async with open_channel(f"127.0.0.1:{process.port}") as channel:
                ada = Client(channel)
                answer = await ada.call("CreateSession", pb.CreateSessionRequest(name="Ada"))
                ada.token = answer.session_token
                wanted = table_pb2.TableSettings(edition="industry", seats=2)
                created = await ada.call("CreateTable", pb.CreateTableRequest(settings=wanted, command_id="c"))
                table_id = created.table.table_id
                await ada.call("StartGame", pb.StartGameRequest(table_id=table_id))
                watch = ada.watch(target(table_id, 0))
                for number in range(20):
                    roll = command_pb2.Command(command_id=f"c{number}", roll=command_pb2.Roll())
                    await ada.call("Submit", pb.SubmitRequest(table_id=table_id, command=roll))
                held = table.held(table_id)
                assert updates_of(await read_updates(watch, held.last_seq)) == held.updates
                began = time.monotonic()
                process.terminate()
                ended = [message.ended async for message in watch if message.WhichOneof("message") == "ended"]
            status, written = await asyncio.to_thread(process.end)
        finally:
            process.kill()
            await stream.close()
    assert ended == [
        pb.WatchEnded(table_id=table_id, reason="draining", resume_after_seq=held.last_seq),
        pb.WatchEnded(reason="draining"),
    ]
    assert (status, time.monotonic() - began < 8) == (0, True)
    assert "Traceback" not in written
