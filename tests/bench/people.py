"""People at tables: a process of clients, each with a session, a connection and a watch of his own, who play at a pace.

`python -m tests.bench.people --address HOST:PORT,...`; orders and answers are lines of JSON on its pipes: `tables` and
`clients` (so many people spread over so many tables), `seconds` and `per_s` (each table does so many actions a second).
Moments are those of the machine's monotonic clock, which all its processes share.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import secrets
import sys
import time
from collections.abc import Sequence
from typing import Any

import grpc
from magnate.game.v1 import decision_pb2
from magnate.gateway.v1 import gateway_service_pb2 as pb
from magnate.table.v1 import table_pb2

from tests.bench.choosing import choose
from tests.bench.load import Connection, rest_s

_AT_A_TIME = 16
_DRAIN_S = 0.5
_REST_S = 0.1
_AGAIN = (grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.UNAVAILABLE)


class Person:
    """One client."""

    def __init__(self, address: str, table: Table) -> None:
        self._connection = Connection(address)
        self._table = table
        self.token = ""

    async def enter(self, name: str) -> None:
        """Opens the session."""
        self.token = await self._connection.session(name)

    async def call(self, request: Any) -> Any:
        """A call in his name."""
        return await self._connection.call(request, self.token)

    async def watch(self, ready: asyncio.Event) -> None:
        """Watches his table and those that follow it, for ever; opens the watch again when the site ends it."""
        while True:
            table_id = self._table.table_id
            try:
                is_over = await self._watch_one(table_id, ready)
            except grpc.aio.AioRpcError as error:
                if error.code() not in _AGAIN:
                    raise
                is_over = False
            if is_over:
                await self._table.next_one(table_id)
            else:
                await asyncio.sleep(_REST_S)

    async def _watch_one(self, table_id: str, ready: asyncio.Event) -> bool:
        """Whether the game is over; else the site has ended the watch."""
        stream = self._connection.watch(self.token, [table_id])
        try:
            async for message in stream:
                kind = message.WhichOneof("message")
                if kind in ("update", "snapshot"):
                    ready.set()
                    self._table.heard(self, message)
                if kind == "update" and message.update.game_over:
                    return True
                if kind == "ended":
                    return False
        finally:
            stream.cancel()
        return False


class Table:
    """Some people who play one game after another."""

    def __init__(self, figures: Figures, addresses: Sequence[str], number: int, people: int) -> None:
        self._figures = figures
        self._number = number
        self._count = 0
        self._decision: decision_pb2.Decision | None = None
        self._called: dict[str, tuple[float, Person]] = {}
        self._starting = asyncio.Lock()
        self.people = [Person(addresses[(number + seat) % len(addresses)], self) for seat in range(people)]
        self.table_id = ""

    async def begin(self) -> None:
        """Everybody enters, and the first game starts."""
        for seat, person in enumerate(self.people):
            await person.enter(f"person {self._number} {seat}")
        await self._start()

    async def next_one(self, over: str) -> None:
        """After a game the first one to ask starts the next."""
        async with self._starting:
            if self.table_id == over:
                await self._start()

    def heard(self, person: Person, message: pb.WatchResponse) -> None:
        """Takes in what came to one of them."""
        now_s = time.monotonic()
        if message.WhichOneof("message") == "update":
            called = self._called.get(message.update.command.command_id)
            if called is not None and called[1] is not person:
                self._figures.deliveries_ms.append((now_s - called[0]) * 1000)
        if person is self.people[0]:
            found = message.update if message.HasField("update") else message.snapshot
            self._decision = found.decision

    async def act(self) -> None:
        """The one who is asked does what he may."""
        if self._decision is None:
            return
        self._count += 1
        command = choose(self._decision, f"{self._number:06x}-{self._count:09x}")
        self._decision = None
        if command is None:
            return
        person = self.people[command.seat % len(self.people)]
        called_s = time.monotonic()
        self._called = {command.command_id: (called_s, person)}
        figures = self._figures
        try:
            answer = await self._submit(person, pb.SubmitRequest(table_id=self.table_id, command=command))
        except grpc.aio.AioRpcError as error:
            figures.failed += 1
            print(f"people: {error.code()} {error.details()}", file=sys.stderr)
            return
        answered_s = time.monotonic()
        figures.submits_ms.append((answered_s - called_s) * 1000)
        figures.journal.append((self.table_id, answer.last_seq, called_s, answered_s))

    async def _submit(self, person: Person, request: pb.SubmitRequest) -> pb.SubmitResponse:
        while True:
            try:
                answer: pb.SubmitResponse = await person.call(request)
            except grpc.aio.AioRpcError as error:
                if error.code() is not grpc.StatusCode.RESOURCE_EXHAUSTED:
                    raise
                self._figures.shed += 1
                await asyncio.sleep(rest_s(error))
            else:
                return answer

    async def _start(self) -> None:
        self._decision = None
        host, *guests = self.people
        settings = table_pb2.TableSettings(edition="industry", seats=len(self.people), spectators=True)
        created = await host.call(pb.CreateTableRequest(settings=settings, command_id=secrets.token_hex(8)))
        table_id = str(created.table.table_id)
        for guest in guests:
            await guest.call(pb.JoinTableRequest(table_id=table_id))
        await host.call(pb.StartGameRequest(table_id=table_id))
        self.table_id = table_id


class Figures:
    """What is counted. `journal`: of each command the table, its last number, and the moments of call and answer."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Begins anew."""
        self.submits_ms: list[float] = []
        self.deliveries_ms: list[float] = []
        self.journal: list[tuple[str, int, float, float]] = []
        self.failed = 0
        self.shed = 0


class People:
    """All people of this process."""

    def __init__(self, addresses: Sequence[str]) -> None:
        self._addresses = addresses
        self._figures = Figures()
        self._tables: list[Table] = []
        self._tasks: list[asyncio.Task[None]] = []

    async def sit_down(self, tables: int, clients: int) -> dict[str, Any]:
        """So many people at so many tables, as evenly as it goes."""
        counts = [clients // tables + (number < clients % tables) for number in range(tables)]
        self._tables = [Table(self._figures, self._addresses, *pair) for pair in enumerate(counts)]
        for start in range(0, tables, _AT_A_TIME):
            await asyncio.gather(*(table.begin() for table in self._tables[start : start + _AT_A_TIME]))
        ready = []
        for person in (person for table in self._tables for person in table.people):
            ready.append(asyncio.Event())
            self._tasks.append(asyncio.create_task(person.watch(ready[-1])))
        async with asyncio.timeout(60):
            await asyncio.gather(*(event.wait() for event in ready))
        return {"tables": [table.table_id for table in self._tables]}

    async def play(self, seconds: float, per_s: float) -> dict[str, Any]:
        """Each table at its own moments, all at one pace."""
        self._figures.clear()
        cpu_s = time.process_time()
        until_s = time.monotonic() + seconds
        await asyncio.gather(
            *(
                self._play_table(table, number / len(self._tables), until_s, per_s)
                for number, table in enumerate(self._tables)
            )
        )
        # What is under way still reaches the others.
        await asyncio.sleep(_DRAIN_S)
        figures = self._figures
        return {
            "submits_ms": [round(value, 2) for value in figures.submits_ms],
            "deliveries_ms": [round(value, 2) for value in figures.deliveries_ms],
            "journal": figures.journal,
            "failed": figures.failed,
            "shed": figures.shed,
            "cpu_seconds": time.process_time() - cpu_s,
        }

    async def _play_table(self, table: Table, phase: float, until_s: float, per_s: float) -> None:
        next_s = time.monotonic() + phase / per_s
        while next_s < until_s:
            await asyncio.sleep(max(0.0, next_s - time.monotonic()))
            await table.act()
            next_s = max(next_s + 1 / per_s, time.monotonic())

    async def obey(self, order: dict[str, Any]) -> dict[str, Any]:
        """Does one order."""
        if "tables" in order:
            return await self.sit_down(order["tables"], order["clients"])
        return await self.play(order["seconds"], order["per_s"])


async def main(addresses: Sequence[str]) -> None:
    """Obeys until its input ends."""
    people = People(addresses)
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        print(json.dumps(await people.obey(json.loads(line))), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--address", required=True, help="of each gateway, with commas between")
    asyncio.run(main(parser.parse_args().address.split(",")))
