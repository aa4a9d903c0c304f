"""More commands than a distributed site can do: what those hear that are taken, and those that are refused.

`python -m tests.tools.overload [--tables 400] [--seconds 20]` starts a site of two replicas, seats bots at no table
but two clients at each, who answer every decision at once and come again when they are told to. `--embedded` starts
one of a single process. Its last line is one JSON object; times are those from a call to its answer, of both kinds, in
milliseconds. The clients share the machine with the site but come first on it; `gateway`, `table` and `commit` say what
share of the commands had their answer, or was on disk, within 100 and 250 ms by the histograms of the site itself.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import random
import re
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from typing import Any

import grpc
from magnate.game.v1 import decision_pb2
from magnate.gateway.v1 import gateway_service_pb2 as pb
from magnate.table.v1 import table_pb2

from services.kit.errors import from_rpc_error
from services.site.cluster.servers import free_port
from services.site.cluster.site import LocalSite
from services.site.embedded import Settings, running
from tests.bench.choosing import choose
from tests.bench.load import Connection

_SETTINGS = {
    "MAGNATE_LOG_LEVEL": "error",
    "MAGNATE_SESSION_RATE": "0",
    "MAGNATE_ADDRESS_RATE": "0",
    **{f"MAGNATE_LIMIT_{what}_BURST": "0" for what in ("SESSIONS", "TABLES", "SUBMITS")},
}
_SEATS = 2
_PASSING = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.ABORTED)
# Until then each table has had some commands, and is in memory.
_WARM_S = 15.0
# So much lower is the priority of the site than that of the clients who measure it.
_NICER = 3
_BUCKET = r'{.*le="(?P<le>[^"]+)".*} (?P<count>\S+)$'
_HISTOGRAMS = {
    "gateway": re.compile(
        r"^magnate_call_seconds_bucket(?=.*GatewayService/Submit)(?=.*\"OK\")" + _BUCKET, re.MULTILINE
    ),
    "table": re.compile(r"^magnate_table_answer_seconds_bucket" + _BUCKET, re.MULTILINE),
    "commit": re.compile(r"^magnate_table_commit_seconds_bucket" + _BUCKET, re.MULTILINE),
}


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
            if error.reason == "overloaded":
                self._note(self._figures.refused, took_ms)
            else:
                self._figures.others[error.reason] = self._figures.others.get(error.reason, 0) + 1
                if error.code not in _PASSING:
                    return
            await asyncio.sleep((error.retry_after_ms or 250) / 1000)

    def _note(self, times: list[float], took_ms: float) -> None:
        if self._figures.counts:
            times.append(took_ms)


async def _distributed(settings: Mapping[str, str], pipe: Pipe) -> None:
    site = LocalSite(port_of=lambda _purpose, _number: free_port(), settings=settings)
    try:
        await site.start(lambda _: None)
        metrics = [replica.metrics_port for replica in site.replicas.values() if replica.service in _HISTOGRAMS]
        pipe.send((list(site.gateways), metrics))
        await asyncio.to_thread(pipe.recv)
    finally:
        await site.close()


async def _embedded(settings: Mapping[str, str], pipe: Pipe) -> None:
    port = free_port()
    ports = {f"MAGNATE_{service}_PORT": "0" for service in ("GATEWAY", "WEB")}
    loaded = Settings.load({**settings, **ports, "MAGNATE_METRICS_PORT": str(port)})
    with tempfile.TemporaryDirectory() as folder:
        async with running(loaded, Path(folder)) as site:
            pipe.send(([site.address], [port]))
            await asyncio.to_thread(pipe.recv)


def _serve(pipe: Pipe, settings: Mapping[str, str], *, is_embedded: bool) -> None:
    os.nice(_NICER)
    asyncio.run((_embedded if is_embedded else _distributed)(settings, pipe))


def _within(ports: Sequence[int]) -> dict[str, Counter[str]]:
    """How many commands had their answer within how many seconds, as written in the histograms."""
    pages = []
    for port in ports:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
            pages.append(answer.read().decode())
    return {
        service: sum(
            (Counter({found["le"]: int(float(found["count"]))}) for page in pages for found in pattern.finditer(page)),
            Counter(),
        )
        for service, pattern in _HISTOGRAMS.items()
    }


async def _play(addresses: Sequence[str], ports: Sequence[int], tables: int, seconds: float) -> dict[str, Any]:
    figures = Figures()
    connections = [Connection(addresses[number % len(addresses)]) for number in range(tables)]
    played = [Table(connection, number, figures) for number, connection in enumerate(connections)]
    for start in range(0, tables, 8):
        await asyncio.gather(*(table.begin() for table in played[start : start + 8]))
    print(f"{tables} tables have begun", flush=True)
    tasks = [asyncio.create_task(table.play()) for table in played]
    await asyncio.sleep(_WARM_S)
    before, cpu_s = await asyncio.to_thread(_within, ports), time.process_time()
    figures.counts = True
    await asyncio.sleep(seconds)
    figures.counts = False
    cpu_s = time.process_time() - cpu_s
    after = await asyncio.to_thread(_within, ports)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    for connection in connections:
        await connection.channel.close()
    return {
        **_summary(figures, tables, seconds),
        "clients_cpu": round(cpu_s / seconds, 2),
        **{service: _shares(after[service] - before[service]) for service in _HISTOGRAMS},
    }


def _shares(counts: Counter[str]) -> dict[str, float]:
    return {f"{float(le) * 1000:.0f} ms": round(counts[le] / max(1, counts["+Inf"]), 4) for le in ("0.1", "0.25")}


def main(tables: int, seconds: float, target_ms: int, *, is_embedded: bool) -> None:
    """Runs it and prints the figures."""
    targets = {f"MAGNATE_{service}_SUBMIT_TARGET_MS": str(target_ms) for service in ("GATEWAY", "TABLE")}
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=_serve, args=(there, {**_SETTINGS, **targets}), kwargs={"is_embedded": is_embedded}
    )
    process.start()
    try:
        addresses, ports = here.recv()
        print(json.dumps(asyncio.run(_play(addresses, ports, tables, seconds))))
    finally:
        here.send("end")
        process.join()


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
    parser.add_argument("--target-ms", type=int, default=100)
    parser.add_argument("--embedded", action="store_true")
    chosen = parser.parse_args()
    main(chosen.tables, chosen.seconds, chosen.target_ms, is_embedded=chosen.embedded)
