"""Whole sites in processes of their own, as `magnate up` starts them: all in one, or replicas of each service.

Both are reached through the gateways' real ports. The process of a service can be killed, and begun again with other
settings; a distributed site's replicas also one by one (`site.local`).
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from services.site.cluster.process import LocalProcess
from services.site.cluster.servers import private_folder
from services.site.cluster.site import REPLICAS, LocalSite, Replica, reaches, serves
from tests.support.servers import PostgresServer, RedisServer, free_port

CLOCK_TOKEN = "the clock's own token"
_START_S = 60.0
_SETTINGS = {
    "MAGNATE_LOG_FORMAT": "json",
    "MAGNATE_LOG_LEVEL": "debug",
    "MAGNATE_CLOCK_TOKEN": CLOCK_TOKEN,
    "MAGNATE_HEARTBEAT_MS": "300",
    "MAGNATE_PRESENCE_MS": "1000",
    "MAGNATE_RECONCILE_MS": "3000",
    "MAGNATE_SHUTDOWN_GRACE_MS": "1000",
    # A slow machine is no reason to refuse what a test sends.
    "MAGNATE_GATEWAY_SUBMIT_TARGET_MS": "0",
    "MAGNATE_TABLE_SUBMIT_TARGET_MS": "0",
    "MAGNATE_SESSION_RATE": "0",
    "MAGNATE_ADDRESS_RATE": "0",
    "MAGNATE_LIMIT_SESSIONS_BURST": "0",
    "MAGNATE_LIMIT_TABLES_BURST": "0",
    "MAGNATE_LIMIT_SUBMITS_BURST": "0",
}


@dataclass(frozen=True, slots=True)
class Part:
    """All processes that a service runs in."""

    processes: tuple[LocalProcess, ...]

    def kill(self) -> None:
        """Ends them at once, as a crash would."""
        for process in self.processes:
            process.kill()

    def end(self) -> None:
        """Ends them as an operator would."""
        for process in self.processes:
            process.ask_to_end()
        for process in self.processes:
            process.end()


@dataclass(frozen=True, slots=True)
class LiveSite:
    """A running site. `replicas` are its processes by name: `site` alone in the embedded mode; `local` is the
    distributed one."""

    mode: str
    folder: Path
    settings: Mapping[str, str]
    replicas: Mapping[str, Replica]
    local: LocalSite | None = None

    @property
    def is_embedded(self) -> bool:
        return self.mode == "embedded"

    @property
    def redis(self) -> RedisServer | None:
        """The Redis of the distributed mode."""
        return self.local.redis if self.local is not None else None

    @property
    def addresses(self) -> list[str]:
        """The gateways' native ports."""
        return [replica.address for replica in self._of("gateway")]

    @property
    def address(self) -> str:
        """The native port of a gateway."""
        return self.addresses[0]

    @property
    def web(self) -> str:
        """The browser port of a gateway."""
        return f"http://127.0.0.1:{self._of('gateway')[0].web_port}"

    @property
    def table_address(self) -> str:
        """A port of the table service, which only the distributed mode has."""
        return self._of("table")[0].address

    @property
    def metrics_ports(self) -> dict[str, int]:
        """The ports for Prometheus, by the name of the process."""
        return {name: replica.metrics_port for name, replica in self.replicas.items()}

    def grpc_ports(self) -> dict[str, int]:
        """A port of every service that speaks gRPC, by the name of the service."""
        return {replica.service: replica.port for replica in reversed(list(self.replicas.values()))}

    def part(self, service: str) -> Part:
        """The processes that a service runs in."""
        return Part(tuple(replica.process for replica in self._of(service)))

    async def start(self, service: str, **changes: str) -> None:
        """Begins the processes of a service, with some settings changed; returns when clients reach it again."""
        for replica in self._of(service):
            if self.local is not None:
                self.local.launch(replica.name, **changes)
            else:
                replica.process.launch(_environ(replica, {**self.settings, **changes}))
        for replica in self._of(service):
            await self.ready(replica.name)
        await self.reachable()

    async def ready(self, name: str) -> None:
        """Returns when a process says that it serves. RuntimeError if it has ended."""
        replica = self.replicas[name]
        async with asyncio.timeout(_START_S):
            while not await serves(replica.address):
                if not replica.process.is_alive:
                    raise RuntimeError(f"{name} does not serve: {replica.process.log.read_text()[-2000:]}")
                await asyncio.sleep(0.05)

    async def reachable(self) -> None:
        """Returns when the calls of every gateway come through to the other services."""
        for address in self.addresses:
            await reaches(address)

    def logs(self) -> bytes:
        """All that the processes have written."""
        return b"".join(path.read_bytes() for path in sorted(self.folder.glob("*.log")))

    @asynccontextmanager
    async def changed(self, service: str, **changes: str) -> AsyncIterator[None]:
        """The processes of a service with other settings for a while."""
        self.part(service).end()
        await self.start(service, **changes)
        try:
            yield
        finally:
            self.part(service).end()
            await self.start(service)

    async def alive(self) -> None:
        """Returns when every process runs and says that it serves. RuntimeError if one has ended."""
        for name in self.replicas:
            await self.ready(name)
        await self.reachable()

    def _of(self, service: str) -> list[Replica]:
        return [replica for replica in self.replicas.values() if self.is_embedded or replica.service == service]


@contextmanager
def embedded_site() -> Iterator[LiveSite]:
    """`magnate up`: one process, SQLite."""
    folder = private_folder("site")
    process = LocalProcess([sys.executable, "-m", "services.site", "up"], folder / "site.log")
    replica = Replica("site", "gateway", process, free_port(), free_port(), free_port())
    site = LiveSite("embedded", folder, {**_SETTINGS, "MAGNATE_DATA_FOLDER": str(folder / "data")}, {"site": replica})
    try:
        replica.process.launch(_environ(replica, site.settings))
        asyncio.run(site.alive())
        yield site
    finally:
        replica.process.end()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def distributed_site(postgres: PostgresServer, replicas: Mapping[str, int] = REPLICAS) -> Iterator[LiveSite]:
    """`magnate up NAME` for each replica of each service, over Postgres and a Redis of its own."""
    local = LocalSite(
        port_of=lambda _purpose, _number: free_port(), replicas=replicas, settings=_SETTINGS, postgres=postgres
    )
    try:
        asyncio.run(local.start())
        yield LiveSite("distributed", local.folder, local.settings, local.replicas, local)
    finally:
        asyncio.run(local.close())


def _environ(replica: Replica, settings: Mapping[str, str]) -> dict[str, str]:
    others = {name: value for name, value in os.environ.items() if not name.startswith("MAGNATE_")}
    return {**others, "GRPC_VERBOSITY": "ERROR", **settings, **replica.environ()}
