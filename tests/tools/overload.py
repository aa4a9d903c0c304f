"""More commands than a distributed site can do: what those hear that are taken, and those that are refused.

`python -m tests.tools.overload [--tables 400] [--seconds 20]` starts a site of two replicas, seats bots at no table
but two clients at each, who answer every decision at once and come again when they are told to. Its last line is one
JSON object; times are those from a call to its answer, of both kinds, in milliseconds.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import time
from collections.abc import Sequence
from typing import Any

import grpc
from magnate.game.v1 import decision_pb2
from magnate.gateway.v1 import gateway_service_pb2 as pb
from magnate.table.v1 import table_pb2

from services.kit.errors import from_rpc_error
from services.site.cluster.servers import free_port
from services.site.cluster.site import LocalSite
from tests.bench.choosing import choose
from tests.bench.load import Connection

_SETTINGS = {
    "MAGNATE_LOG_LEVEL": "error",
    "MAGNATE_SESSION_RATE": "0",
    "MAGNATE_ADDRESS_RATE": "0",
    **{f"MAGNATE_LIMIT_{what}_BURST": "0" for what in ("SESSIONS", "TABLES", "SUBMITS")},
}
_SEATS = 2


class Figures:
    """Times of answers in milliseconds, by what they said."""

    def __init__(self) -> None:
        self.done: list[float] = []
        self.refused: list[float] = []
        self.others: dict[str, int] = {}
        self.counts = False


class Table:
    """One table, played as fast as the site lets it."""

    def __init__(self, connection: Connection, number: int, figures: Figures) -> None:
        self._connection = connection
        self._number = number
        self._figures = figures
        self._tokens: list[str] = []
        self._table_id = ""
        self._next = 0

    async def begin(self) -> None:
        """Seats the clients and starts the game."""
        call = self._connection.call
        self._tokens = [await self._connection.session(f"{self._number} {seat}") for seat in range(_SEATS)]
        settings = table_pb2.TableSettings(edition="industry", seats=_SEATS, spectators=True)
        wish = pb.CreateTableRequest(settings=settings, command_id="t")
        self._table_id = (await call(wish, self._tokens[0])).table.table_id
        await call(pb.JoinTableRequest(table_id=self._table_id), self._tokens[1])
        await call(pb.StartGameRequest(table_id=self._table_id), self._tokens[0])

    async def play(self) -> None:
        """Plays until it is cancelled, or the game is over."""
        async for message in self._connection.watch(self._tokens[0], [self._table_id]):
            kind = message.WhichOneof("message")
            if kind in ("update", "snapshot"):
                decision = message.update.decision if kind == "update" else message.snapshot.decision
                await self._answer(decision)

    async def _answer(self, decision: decision_pb2.Decision) -> None:
        self._next += 1
        command = choose(decision, f"{self._number}-{self._next}")
        if command is None:
            return
        request = pb.SubmitRequest(table_id=self._table_id, command=command)
        while True:
            began_s = time.perf_counter()
            try:
                await self._connection.call(request, self._tokens[command.seat])
                error = None
            except grpc.aio.AioRpcError as raised:
                error = from_rpc_error(raised)
            took_ms = (time.perf_counter() - began_s) * 1000
            if error is None:
                self._note(self._figures.done, took_ms)
                return
            if error.reason != "overloaded":
                self._figures.others[error.reason] = self._figures.others.get(error.reason, 0) + 1
                return
            self._note(self._figures.refused, took_ms)
            await asyncio.sleep((error.retry_after_ms or 0) / 1000)

    def _note(self, times: list[float], took_ms: float) -> None:
        if self._figures.counts:
            times.append(took_ms)


async def main(tables: int, seconds: float, target_ms: int) -> None:
    """Runs it and prints the figures."""
    settings = {**_SETTINGS, "MAGNATE_GATEWAY_SUBMIT_TARGET_MS": str(target_ms)}
    site = LocalSite(port_of=lambda _purpose, _number: free_port(), settings=settings)
    try:
        await site.start(print)
        figures = Figures()
        connections = [Connection(site.gateways[number % len(site.gateways)]) for number in range(tables)]
        played = [Table(connection, number, figures) for number, connection in enumerate(connections)]
        for start in range(0, tables, 8):
            await asyncio.gather(*(table.begin() for table in played[start : start + 8]))
        print(f"{tables} tables have begun", flush=True)
        tasks = [asyncio.create_task(table.play()) for table in played]
        await asyncio.sleep(5)
        figures.counts = True
        await asyncio.sleep(seconds)
        figures.counts = False
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        print(json.dumps(_summary(figures, tables, seconds)))
        for connection in connections:
            await connection.channel.close()
    finally:
        await site.close()


def _summary(figures: Figures, tables: int, seconds: float) -> dict[str, Any]:
    return {
        "tables": tables,
        "done_per_second": round(len(figures.done) / seconds),
        "refused_per_second": round(len(figures.refused) / seconds),
        **{f"done_p{share}": _share(figures.done, share) for share in (50, 90, 95, 98, 99)},
        **{f"refused_p{share}": _share(figures.refused, share) for share in (50, 99)},
        "all_p99": _share([*figures.done, *figures.refused], 99),
        "others": figures.others,
    }


def _share(times: Sequence[float], percent: int) -> float:
    ordered = sorted(times) or [0.0]
    return round(ordered[min(len(ordered) - 1, len(ordered) * percent // 100)], 1)


if __name__ == "__main__":
    random.seed(1)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=400)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--target-ms", type=int, default=150)
    chosen = parser.parse_args()
    asyncio.run(main(chosen.tables, chosen.seconds, chosen.target_ms))
