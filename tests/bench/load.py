"""The load generator: a process of clients who sit at tables of four, play every seat at once, and watch.

`python -m tests.bench.load --address HOST:PORT,...`; orders and answers are lines of JSON on its pipes:
`{"tables": N}` makes it play at so many tables, `{"seconds": S}` lets them be played for so long and answers with the
number of commands, their times from the call of Submit to the update at the watcher, and the sizes of updates.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import secrets
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import grpc
from magnate.game.v1 import decision_pb2, update_pb2
from magnate.gateway.v1 import gateway_service_pb2 as pb
from magnate.table.v1 import table_pb2

from services.kit.errors import from_rpc_error
from tests.bench.choosing import choose

SEATS = 4
_PATH = "/magnate.gateway.v1.GatewayService/"
_DRAIN_S = 5.0
_REST_S = 0.1


class Connection:
    """One client's connection; calls take the token of the one who calls."""

    def __init__(self, address: str) -> None:
        # A subchannel of its own: otherwise all channels of a process share one connection.
        self.channel = grpc.aio.insecure_channel(address, options=[("grpc.use_local_subchannel_pool", 1)])
        self._calls: dict[str, Any] = {}

    async def call(self, request: Any, token: str = "") -> Any:
        """A unary call named after its request."""
        name = type(request).__name__.removesuffix("Request")
        start = self._calls.get(name)
        if start is None:
            answer = getattr(pb, name + "Response")
            start = self._calls[name] = self.channel.unary_unary(
                _PATH + name,
                request_serializer=type(request).SerializeToString,
                response_deserializer=answer.FromString,
            )
        return await start(request, metadata=_headers(token), timeout=10)

    def watch(self, token: str, table_ids: list[str], after_seq: int | None = None) -> Any:
        """Opens a watch of tables, from after this number on or else with a snapshot."""
        start: Any = self.channel.unary_stream(
            _PATH + "Watch",
            request_serializer=pb.WatchRequest.SerializeToString,
            response_deserializer=pb.WatchResponse.FromString,
        )
        targets = [pb.WatchTarget(table_id=table_id, after_seq=after_seq) for table_id in table_ids]
        return start(pb.WatchRequest(targets=targets), metadata=_headers(token))

    async def session(self, name: str) -> str:
        """The token of a new guest."""
        answer = await self.call(pb.CreateSessionRequest(name=name))
        return str(answer.session_token)

    async def start_table(self, tokens: list[str]) -> str:
        """The id of a table whose game these four have begun."""
        settings = table_pb2.TableSettings(edition="industry", seats=SEATS, spectators=True)
        created = await self.call(pb.CreateTableRequest(settings=settings, command_id=secrets.token_hex(8)), tokens[0])
        table_id = str(created.table.table_id)
        for token in tokens[1:]:
            await self.call(pb.JoinTableRequest(table_id=table_id), token)
        await self.call(pb.StartGameRequest(table_id=table_id), tokens[0])
        return table_id


def rest_s(error: grpc.aio.AioRpcError) -> float:
    """How long a refusal asks to wait."""
    wait_ms = from_rpc_error(error).retry_after_ms
    return _REST_S if wait_ms is None else wait_ms / 1000


def _headers(token: str) -> Any:
    return (("authorization", f"Bearer {token}"),) if token else None


@dataclass(slots=True)
class Figures:
    """What is counted while tables are played. Times in milliseconds."""

    times_ms: list[float] = field(default_factory=list)
    answers_ms: list[float] = field(default_factory=list)
    shed: int = 0
    failed: int = 0
    update_bytes: int = 0
    command_bytes: int = 0
    games_over: int = 0
    last_s: float = 0.0


class Play:
    """Whether tables are being played, and the figures of this run."""

    def __init__(self) -> None:
        self.is_on = False
        self.figures = Figures()
        self.open_commands = 0


class Seats:
    """One table, played at all seats by four guests, and watched by the first of them."""

    def __init__(
        self,
        play: Play,
        connection: Connection,
        number: int,
        *,
        tokens: Sequence[str] = (),
        most_commands: float = float("inf"),
    ) -> None:
        self._play = play
        self._connection = connection
        self._number = number
        self._tokens = list(tokens)
        self._most_commands = most_commands
        self._next = 0
        self._sent: dict[str, float] = {}
        self._decision: decision_pb2.Decision | None = None
        self._submits: set[asyncio.Task[None]] = set()
        self.table_id = ""
        self.played = 0

    async def begin(self) -> None:
        """Opens the sessions, if there are none, and the first table."""
        if not self._tokens:
            self._tokens = [await self._connection.session(f"guest {self._number} {seat}") for seat in range(SEATS)]
        self.table_id = await self._connection.start_table(self._tokens)

    async def watch(self, watched: asyncio.Event) -> None:
        """Watches this table and the ones that follow it; for a task of its own."""
        while True:
            stream = self._connection.watch(self._tokens[0], [self.table_id])
            async for message in stream:
                if self.take(message):
                    watched.set()
                    if message.update.game_over:
                        break
            stream.cancel()
            self._play.figures.games_over += 1
            self.table_id = await self._connection.start_table(self._tokens)

    def take(self, message: pb.WatchResponse) -> bool:
        """Takes in what a watch brings; true if it was an update or a snapshot."""
        kind = message.WhichOneof("message")
        if kind == "update":
            self._updated(message.update, message.ByteSize())
            self._decision = message.update.decision
        elif kind == "snapshot":
            self._decision = message.snapshot.decision
        else:
            return False
        if self._play.is_on:
            self.answer()
        return True

    def _updated(self, update: update_pb2.Update, size: int) -> None:
        sent_s = self._sent.pop(update.command.command_id, None)
        if sent_s is None:
            return
        figures, now_s = self._play.figures, time.perf_counter()
        self._play.open_commands -= 1
        self.played += 1
        figures.times_ms.append((now_s - sent_s) * 1000)
        figures.update_bytes += size
        figures.last_s = now_s

    def answer(self) -> None:
        """The seat that is asked answers at once."""
        if self._decision is None or self._sent or self.played >= self._most_commands:
            return
        self._next += 1
        command_id = f"{self._number:06x}-{self._next:09x}"
        command = choose(self._decision, command_id)
        self._decision = None
        if command is None:
            return
        self._sent[command_id] = time.perf_counter()
        self._play.open_commands += 1
        request = pb.SubmitRequest(table_id=self.table_id, command=command)
        self._play.figures.command_bytes += request.ByteSize()
        task = asyncio.create_task(self._submit(request, self._tokens[command.seat % SEATS]))
        self._submits.add(task)
        task.add_done_callback(self._submits.discard)

    async def _submit(self, request: pb.SubmitRequest, token: str) -> None:
        begun_s = time.perf_counter()
        try:
            while (wait_s := await self._refused_for_s(request, token)) is not None:
                self._play.figures.shed += 1
                await asyncio.sleep(wait_s)
            self._play.figures.answers_ms.append((time.perf_counter() - begun_s) * 1000)
        except grpc.aio.AioRpcError as error:
            if self._sent.pop(request.command.command_id, None) is not None:
                self._play.open_commands -= 1
            self._play.figures.failed += 1
            print(f"load: {request.command}: {error.code()} {error.details()}", file=sys.stderr)

    async def _refused_for_s(self, request: pb.SubmitRequest, token: str) -> float | None:
        """How long to wait when the site has too much to do and asks to try again; None when it was done."""
        try:
            await self._connection.call(request, token)
        except grpc.aio.AioRpcError as error:
            if error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED:
                return rest_s(error)
            raise
        return None


class Load:
    """All tables of this process."""

    def __init__(self, addresses: Sequence[str]) -> None:
        self._addresses = addresses
        self._play = Play()
        self._tables: list[Seats] = []
        self._tasks: list[asyncio.Task[None]] = []

    async def grow(self, tables: int) -> dict[str, Any]:
        """Sits down at more tables, up to this number."""
        begun_s = time.perf_counter()
        new = [self._seats(number) for number in range(len(self._tables), tables)]
        for start in range(0, len(new), 16):
            await asyncio.gather(*(seats.begin() for seats in new[start : start + 16]))
        watched = [asyncio.Event() for _ in new]
        self._tasks += [asyncio.create_task(seats.watch(event)) for seats, event in zip(new, watched, strict=True)]
        self._tables += new
        async with asyncio.timeout(60):
            await asyncio.gather(*(event.wait() for event in watched))
        return {
            "seconds": time.perf_counter() - begun_s,
            "tables": [seats.table_id for seats in self._tables],
        }

    def _seats(self, number: int) -> Seats:
        return Seats(self._play, Connection(self._addresses[number % len(self._addresses)]), number)

    async def run(self, seconds: float) -> dict[str, Any]:
        """Plays for so long; what is under way at the end is waited for and counts."""
        play = self._play
        play.figures = figures = Figures()
        begun_s = time.perf_counter()
        cpu_s = time.process_time()
        play.is_on = True
        for seats in self._tables:
            seats.answer()
        await asyncio.sleep(seconds)
        play.is_on = False
        limit_s = time.perf_counter() + _DRAIN_S
        while play.open_commands and time.perf_counter() < limit_s:
            await asyncio.sleep(0.002)
        return {
            "commands": len(figures.times_ms),
            "seconds": max(figures.last_s - begun_s, 1e-9),
            "cpu_seconds": time.process_time() - cpu_s,
            "times_ms": [round(time_ms, 3) for time_ms in figures.times_ms],
            "answers_ms": [round(time_ms, 3) for time_ms in figures.answers_ms],
            "failed": figures.failed + play.open_commands,
            "shed": figures.shed,
            "update_bytes": figures.update_bytes,
            "command_bytes": figures.command_bytes,
            "games_over": figures.games_over,
        }

    async def obey(self, order: Mapping[str, Any]) -> dict[str, Any]:
        """Does one order."""
        if "tables" in order:
            return await self.grow(int(order["tables"]))
        return await self.run(float(order["seconds"]))


async def main(addresses: Sequence[str]) -> None:
    """Obeys until its input ends."""
    load = Load(addresses)
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        print(json.dumps(await load.obey(json.loads(line))), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--address", required=True, help="of each gateway, with commas between")
    asyncio.run(main(parser.parse_args().address.split(",")))
