"""The two modes of the site and their floors, as processes to be measured."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc
from magnate.gateway.v1 import gateway_service_pb2 as pb

from services.site.cluster.site import REPLICAS, LocalSite
from tests.bench.load import Connection
from tests.bench.processes import Process
from tests.support.servers import PostgresServer, RedisServer, free_port

_READY_S = 30.0


# Clients of the bench come from one address and do more than any person; and what the floor does not shed is not to be
# shed beside it.
_UNLIMITED = {
    "MAGNATE_LOG_LEVEL": "error",
    **dict.fromkeys(("MAGNATE_GATEWAY_SUBMIT_TARGET_MS", "MAGNATE_TABLE_SUBMIT_TARGET_MS"), "0"),
    **dict.fromkeys(("MAGNATE_SESSION_RATE", "MAGNATE_ADDRESS_RATE"), "0"),
    **{f"MAGNATE_LIMIT_{what}_BURST": "0" for what in ("SESSIONS", "TABLES", "SUBMITS")},
}


@dataclass(frozen=True, slots=True)
class Running:
    """Where clients connect, and the processes that do the work, those of the services by name."""

    addresses: tuple[str, ...]
    processes: Mapping[str, tuple[int, ...]]
    stores: tuple[int, ...] = ()
    database_url: str = ""

    @property
    def services(self) -> tuple[int, ...]:
        """All processes but those of the stores."""
        return tuple(pid for pids in self.processes.values() for pid in pids)


@dataclass(frozen=True, slots=True)
class Stores:
    """A private Postgres and a private Redis."""

    postgres: PostgresServer
    redis: RedisServer

    @property
    def pids(self) -> tuple[int, ...]:
        return self.postgres.pid, self.redis.pid


@contextmanager
def stores() -> Iterator[Stores]:
    """Starts them, and removes them at the end."""
    with ExitStack() as stack:
        redis = RedisServer()
        stack.callback(redis.remove)
        redis.start()
        postgres = PostgresServer()
        stack.callback(postgres.remove)
        yield Stores(postgres, redis)


@contextmanager
def embedded(folder: Path) -> Iterator[Running]:
    """All services in one process, on SQLite."""
    with Process("site", ["tests.bench.site", str(folder)]) as site:
        yield Running((site.answer()["address"],), {"site": (site.pid,)})


@contextmanager
def embedded_floor(folder: Path, recording: Path) -> Iterator[Running]:
    """The hollow chain in one process, on SQLite."""
    database = f"sqlite:///{folder / 'hollow.db'}"
    with _hollow("all", recording, "--database", database) as (address, pid):
        yield Running((address,), {"hollow": (pid,)})


@contextmanager
def distributed(replicas: int = 1, used: Stores | None = None) -> Iterator[Running]:
    """So many replicas of each service, on a Postgres and a Redis of their own, or on the Postgres of these stores."""
    counts = {service: min(replicas, most) for service, most in REPLICAS.items()}
    site = LocalSite(
        port_of=lambda purpose, number: free_port(),
        replicas=counts,
        settings=_UNLIMITED,
        postgres=used.postgres if used else None,
    )
    try:
        asyncio.run(site.start())
        asyncio.run(_until_ready(site.gateways))
        yield Running(
            tuple(site.gateways),
            {service: tuple(replica.process.pid for replica in site.of(service)) for service in counts},
            (site.postgres.pid, site.redis.pid),
            site.settings["MAGNATE_DATABASE_URL"],
        )
    finally:
        asyncio.run(site.close())


@contextmanager
def distributed_floor(used: Stores, recording: Path) -> Iterator[Running]:
    """The hollow chain with a process for each hop, on Postgres and Redis."""
    redis = ("--redis", used.redis.url.removesuffix("/0") + "/1")
    with ExitStack() as stack:
        rules, rules_pid = stack.enter_context(_hollow("rules", recording))
        database = ("--database", used.postgres.new_database(), "--behind", rules)
        table, table_pid = stack.enter_context(_hollow("table", recording, *database, *redis))
        address, pid = stack.enter_context(_hollow("gateway", recording, "--behind", table, *redis))
        yield Running((address,), {"rules": (rules_pid,), "table": (table_pid,), "gateway": (pid,)}, used.pids)


@contextmanager
def _hollow(part: str, recording: Path, *arguments: str) -> Iterator[tuple[str, int]]:
    command = ["tests.bench.hollow", "--part", part, "--recording", str(recording), *arguments]
    with Process(f"hollow {part}", command) as process:
        yield process.answer()["address"], process.pid


async def _until_ready(addresses: Sequence[str]) -> None:
    """Waits until a guest gets in everywhere and the clock is heard."""
    for address in addresses:
        connection = Connection(address)
        limit_s = time.monotonic() + _READY_S
        while not await _is_ready(connection):
            if time.monotonic() > limit_s:
                raise RuntimeError(f"the site at {address} does not get ready")
            await asyncio.sleep(0.1)
        await connection.channel.close()


async def _is_ready(connection: Connection) -> bool:
    try:
        token = await connection.session("first")
        return bool((await connection.call(pb.SyncTimeRequest(), token)).running)
    except grpc.aio.AioRpcError:
        return False
