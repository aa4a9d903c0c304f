"""The two modes of the site and their floors, as processes to be measured."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc
from magnate.gateway.v1 import gateway_service_pb2 as pb

from tests.bench.load import Connection
from tests.bench.processes import Process
from tests.support.servers import PostgresServer, RedisServer, free_port

_READY_S = 30.0


@dataclass(frozen=True, slots=True)
class Running:
    """Where clients connect, and the processes that do the work; those of the stores are shared with the floor."""

    address: str
    services: tuple[int, ...]
    stores: tuple[int, ...] = ()


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
        yield Running(site.answer()["address"], (site.pid,))


@contextmanager
def embedded_floor(folder: Path, recording: Path) -> Iterator[Running]:
    """The hollow chain in one process, on SQLite."""
    database = f"sqlite:///{folder / 'hollow.db'}"
    with _hollow("all", recording, "--database", database) as (address, pid):
        yield Running(address, (pid,))


@contextmanager
def distributed(used: Stores) -> Iterator[Running]:
    """A process for each service, on Postgres and Redis."""
    ports = {name: free_port() for name in ("rules", "table", "clock", "bots", "gateway", "web")}
    environ = {
        **{f"MAGNATE_{name.upper()}_PORT": str(port) for name, port in ports.items()},
        **{f"MAGNATE_{name.upper()}_ADDRESS": f"127.0.0.1:{port}" for name, port in ports.items()},
        "MAGNATE_DATABASE_URL": used.postgres.new_database(),
        "MAGNATE_REDIS_URL": used.redis.url,
        "MAGNATE_CLOCK_TOKEN": "bench",
        **dict.fromkeys(("MAGNATE_SESSION_RATE", "MAGNATE_ADDRESS_RATE"), "0"),
        **{f"MAGNATE_LIMIT_{what}_BURST": "0" for what in ("SESSIONS", "TABLES", "SUBMITS")},
    }
    modules = ("services.rules", "services.table", "services.clock", "services.bots", "gateway")
    with ExitStack() as stack:
        started = [stack.enter_context(Process(module, [module], environ, speaks=False)) for module in modules]
        address = f"127.0.0.1:{ports['gateway']}"
        asyncio.run(_until_ready(address))
        yield Running(address, tuple(process.pid for process in started), used.pids)


@contextmanager
def distributed_floor(used: Stores, recording: Path) -> Iterator[Running]:
    """The hollow chain with a process for each hop, on Postgres and Redis."""
    redis = ("--redis", used.redis.url.removesuffix("/0") + "/1")
    with ExitStack() as stack:
        rules, rules_pid = stack.enter_context(_hollow("rules", recording))
        database = ("--database", used.postgres.new_database(), "--behind", rules)
        table, table_pid = stack.enter_context(_hollow("table", recording, *database, *redis))
        address, pid = stack.enter_context(_hollow("gateway", recording, "--behind", table, *redis))
        yield Running(address, (rules_pid, table_pid, pid), used.pids)


@contextmanager
def _hollow(part: str, recording: Path, *arguments: str) -> Iterator[tuple[str, int]]:
    command = ["tests.bench.hollow", "--part", part, "--recording", str(recording), *arguments]
    with Process(f"hollow {part}", command) as process:
        yield process.answer()["address"], process.pid


async def _until_ready(address: str) -> None:
    """Waits until a guest gets in and the clock is heard."""
    connection = Connection(address)
    limit_s = time.monotonic() + _READY_S
    while time.monotonic() < limit_s:
        with contextlib.suppress(grpc.aio.AioRpcError):
            token = await connection.session("first")
            if (await connection.call(pb.SyncTimeRequest(), token)).running:
                await connection.channel.close()
                return
        await asyncio.sleep(0.1)
    raise RuntimeError(f"the site at {address} does not get ready")
