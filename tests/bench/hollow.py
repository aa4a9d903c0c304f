"""The floor: a chain of the same hops with nothing in them.

The same kinds of call carry the same messages over the same number of hops, the same bytes are committed to the same
store in the same batches, and go through the same event stream to the same kind of watch. What is missing is all that
makes a game of it: who may do what, the state, the rules, ids that repeat, gaps in the stream, limits, presence.
`python -m tests.bench.hollow --part all|rules|table|gateway --recording FILE ...` prints `{"address": ...}`.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import hashlib
import json
import os
import secrets
import signal
from collections import deque
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from magnate.game.v1 import decision_pb2, update_pb2
from magnate.gateway.v1 import gateway_service_pb2 as pb
from magnate.rules.v1 import rules_service_pb2 as rules_pb
from magnate.table.v1 import table_pb2
from magnate.table.v1 import table_service_pb2 as table_pb

from gateway.adapters.submitting import StreamedSubmit
from gateway.main import DESCRIPTOR as GATEWAY
from services.kit.batches import BatchCaller, serve_batches
from services.kit.calls import Call, LocalClient, Pool, PoolClient, RemoteClient, RemoteReplicas, open_channel
from services.kit.server import Service, ServiceSettings, run
from services.kit.streams import EventStream, Lagged
from services.kit.streams_memory import MemoryStream
from services.kit.streams_redis import RedisStream
from services.rules.main import DESCRIPTOR as RULES
from services.table.adapters.applying import APPLY_ENVELOPES
from services.table.adapters.databases import Database
from services.table.adapters.handler import SUBMITS
from services.table.adapters.schema import games
from services.table.adapters.store import open_database
from services.table.application.ports import LogRow
from services.table.main import DESCRIPTOR as TABLE
from tests.bench.recording import SNAPSHOT_EVERY, Recording

SHARDS = 64
_MAX_PUBLISHED = 256
_MAX_IN_FLIGHT = 1024
_DIGEST = hashlib.sha256(b"hollow").digest()


class Hollow:
    """Has all methods of any contract; those that are not called are nothing."""

    def __getattr__(self, name: str) -> Any:
        if not name[0].isupper():
            raise AttributeError(name)
        return lambda request, call: None


class HollowRules(Hollow):
    """Answers with what the rules answered in the recorded game. The number of the command stands for the state's."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    async def Apply(self, request: rules_pb.ApplyRequest, call: Call) -> rules_pb.ApplyResponse:
        return self._apply(request)

    async def ApplyStream(
        self, requests: AsyncIterator[rules_pb.ApplyStreamRequest], call: Call
    ) -> AsyncIterator[rules_pb.ApplyStreamResponse]:
        async for request in requests:
            response = rules_pb.ApplyStreamResponse()
            for item in request.items:
                response.items.add(call_id=item.call_id, response=self._apply(item.request))
            yield response

    def _apply(self, request: rules_pb.ApplyRequest) -> rules_pb.ApplyResponse:
        state, number = request.state, request.state.seq
        update = self._recording.step(number).update(state.table_id.encode(), request.command.command_id.encode())
        return rules_pb.ApplyResponse(
            applied=rules_pb.Applied(
                update=update,
                seq=number + 1,
                state_hash=state.state_hash,
                snapshot=self._recording.snapshot if request.want_snapshot else b"",
                asked=(0,),
                decision_id=number + 1,
            )
        )


class HollowTable(Hollow):
    """Asks the rules, commits, publishes."""

    def __init__(self, recording: Recording, apply: Any, database: Database, stream: EventStream) -> None:
        self._recording = recording
        self._apply = apply
        self._database = database
        self._stream = stream
        self._places: dict[str, tuple[int, int]] = {}
        self._queue: deque[tuple[str, tuple[str, int, bytes]]] = deque()
        self._wake = asyncio.Event()

    async def CreateTable(self, request: table_pb.CreateTableRequest, call: Call) -> table_pb.CreateTableResponse:
        table_id = base64.b32encode(secrets.token_bytes(10)).decode().lower()
        await self._database.write(lambda connection: _new_game(connection, table_id))
        self._places[table_id] = (0, 0)
        return table_pb.CreateTableResponse(table=table_pb2.Table(table_id=table_id))

    async def Submit(self, request: table_pb.SubmitRequest, call: Call) -> table_pb.SubmitResponse:
        return await self._submit(request)

    def SubmitStream(self, requests: Any, call: Call) -> AsyncIterator[table_pb.SubmitStreamResponse]:
        return serve_batches(
            requests, items=SUBMITS.asked, handle=self._submit, wrap=SUBMITS.answer, max_in_flight=_MAX_IN_FLIGHT
        )

    async def publish(self) -> None:
        """Publishes for ever what has been committed."""
        while True:
            if not self._queue:
                self._wake.clear()
                await self._wake.wait()
            topics: dict[str, list[tuple[str, int, bytes]]] = {}
            for topic, item in [self._queue.popleft() for _ in range(min(len(self._queue), _MAX_PUBLISHED))]:
                topics.setdefault(topic, []).append(item)
            await self._stream.publish_all(topics)

    async def _submit(self, request: table_pb.SubmitRequest) -> table_pb.SubmitResponse:
        table_id = request.table_id
        number, last_seq = self._places[table_id]
        step = self._recording.step(number)
        answer = await self._apply(
            rules_pb.ApplyRequest(
                state=rules_pb.StateSource(table_id=table_id, seq=number, state_hash=b"12345678"),
                command=request.command,
                play_time_ms=1_000_000 + number,
                want_snapshot=number % SNAPSHOT_EVERY == SNAPSHOT_EVERY - 1,
            )
        )
        applied = answer.applied
        row = LogRow(
            shard=_shard(table_id),
            table_id=table_id,
            first_seq=last_seq + 1,
            last_seq=last_seq + step.events,
            holders_version=0,
            command_id=request.command.command_id,
            digest=_DIGEST,
            play_time_ms=1_000_000 + number,
            update=applied.update,
            secrets=step.secrets,
            at_unix_ms=1_000_000,
            snapshot=applied.snapshot or None,
        )
        if not await self._database.append(row):
            raise RuntimeError("the hollow store refused a row")
        self._places[table_id] = (number + 1, row.last_seq)
        payload = table_pb2.StreamMessage(update=row.update).SerializeToString()
        self._queue.append((f"shard:{row.shard}", (table_id, row.last_seq, payload)))
        self._wake.set()
        return table_pb.SubmitResponse(first_seq=row.first_seq, last_seq=row.last_seq)


class HollowGateway(Hollow):
    """Passes commands on, and what the stream brings to whoever watches."""

    def __init__(self, table: Any, submit: Any, stream: EventStream) -> None:
        self._table = table
        self._submit = submit
        self._stream = stream
        self._watchers: dict[str, asyncio.Queue[bytes]] = {}
        self.subscribed = asyncio.Event()

    async def GetServerInfo(self, request: pb.GetServerInfoRequest, call: Call) -> pb.GetServerInfoResponse:
        return pb.GetServerInfoResponse()

    async def CreateSession(self, request: pb.CreateSessionRequest, call: Call) -> pb.CreateSessionResponse:
        return pb.CreateSessionResponse(session_token=f"{secrets.token_hex(10)}.{secrets.token_urlsafe(24)}")

    async def CreateTable(self, request: pb.CreateTableRequest, call: Call) -> pb.CreateTableResponse:
        wanted = table_pb.CreateTableRequest(
            session_token=call.metadata["authorization"], settings=request.settings, command_id=request.command_id
        )
        answer = await self._table.CreateTable(wanted)
        return pb.CreateTableResponse(table=answer.table)

    async def JoinTable(self, request: pb.JoinTableRequest, call: Call) -> pb.JoinTableResponse:
        return pb.JoinTableResponse()

    async def StartGame(self, request: pb.StartGameRequest, call: Call) -> pb.StartGameResponse:
        return pb.StartGameResponse()

    async def Submit(self, request: pb.SubmitRequest, call: Call) -> pb.SubmitResponse:
        token = call.metadata["authorization"]
        done = await self._submit(
            table_pb.SubmitRequest(session_token=token, table_id=request.table_id, command=request.command)
        )
        return pb.SubmitResponse(first_seq=done.first_seq, last_seq=done.last_seq)

    async def Watch(self, request: pb.WatchRequest, call: Call) -> AsyncIterator[bytes]:
        table_id = request.targets[0].table_id
        queue = self._watchers[table_id] = asyncio.Queue()
        action = decision_pb2.LegalAction(seat=0, roll=True)
        first = update_pb2.Snapshot(decision=decision_pb2.Decision(decision_id=1, legal_actions=[action]))
        yield pb.WatchResponse(snapshot=first).SerializeToString()
        while True:
            yield await queue.get()

    async def live(self) -> None:
        """Follows the stream for ever."""
        subscription = await self._stream.subscribe([f"shard:{shard}" for shard in range(SHARDS)])
        self.subscribed.set()
        async for batch in subscription:
            if isinstance(batch, Lagged):
                raise RuntimeError(f"the hollow stream has lost something: {batch.reason}")
            for entry in batch.entries:
                # The same field of another message: only its tag differs.
                self._watchers[entry.key].put_nowait(b"\x1a" + entry.payload[1:])


def _shard(table_id: str) -> int:
    return sum(table_id.encode()) % SHARDS


def _new_game(connection: sa.Connection, table_id: str) -> None:
    connection.execute(
        sa.insert(games).values(
            shard=_shard(table_id),
            table_id=table_id,
            last_seq=0,
            holders_version=0,
            published_seq=0,
            is_live=True,
            is_over=False,
            has_bots=False,
            changed_at_ms=0,
        )
    )


class Chain:
    """The services of one process, and how they reach each other."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._arguments = arguments
        self._settings = ServiceSettings()
        self._recording = Recording.read(arguments.recording)
        self._stream: EventStream = RedisStream(arguments.redis) if arguments.redis else MemoryStream()
        self.services: list[Service] = []

    def rules(self) -> Service:
        """The rules."""
        return self._service("rules", RULES, HollowRules(self._recording))

    async def table(self, apply: Any) -> Service:
        """The table service, with its store open."""
        database = open_database(self._arguments.database)
        await database.start()
        handler = HollowTable(self._recording, apply, database, self._stream)
        service = self._service("table", TABLE, handler)
        service.add_background("publish", handler.publish)
        return service

    def gateway(self, table: Any, submit: Any) -> Service:
        """The gateway."""
        handler = HollowGateway(table, submit, self._stream)
        service = self._service("gateway", GATEWAY, handler)
        service.add_background("live", handler.live, on_failure="stop")
        return service

    async def build(self) -> None:
        """Puts together what this process has."""
        part, behind = self._arguments.part, self._arguments.behind
        if part == "all":
            rules: LocalClient = self.rules().local(RULES)
            table: LocalClient = (await self.table(rules.Apply)).local(TABLE)
            self.gateway(table, table.Submit)
        elif part == "rules":
            self.rules()
        elif part == "table":
            applier: Any = BatchCaller(
                open_stream=RemoteClient(RULES, open_channel(behind)).ApplyStream,
                wrap=APPLY_ENVELOPES.ask,
                unwrap=APPLY_ENVELOPES.answered,
            )
            await applier.start()
            await self.table(applier.call)
        else:
            replicas = RemoteReplicas(TABLE, behind, connect=lambda address: open_channel(str(address)))
            pool = Pool(replicas, what="table")
            await pool.start()
            remote: Any = PoolClient(TABLE, pool)
            self.gateway(remote, StreamedSubmit(remote, pool, timeout_ms=5_000))

    def _service(self, name: str, descriptor: Any, handler: object) -> Service:
        service = Service(name, self._settings)
        service.add_handler(descriptor, handler)
        self.services.append(service)
        return service


async def serve(arguments: argparse.Namespace) -> None:
    """Runs until SIGTERM."""
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    chain = Chain(arguments)
    await chain.build()
    for service in chain.services:
        await service.start(0)
    print(json.dumps({"address": f"127.0.0.1:{chain.services[-1].port}"}), flush=True)
    await ended.wait()
    os._exit(0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=("all", "rules", "table", "gateway"), required=True)
    parser.add_argument("--recording", type=Path, required=True)
    parser.add_argument("--database", default="")
    parser.add_argument("--redis", default="")
    parser.add_argument("--behind", default="", help="address of the next service")
    run(serve(parser.parse_args()))
