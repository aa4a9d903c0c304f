"""Whole sites in processes of their own, as `magnate up` starts them: all in one, or each service alone.

Both are reached through the gateway's real ports. A process can be killed, and begun again with other settings.
"""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from magnate.gateway.v1 import gateway_service_pb2 as pb
from magnate.gateway.v1 import gateway_service_pb2_grpc

from tests.support.servers import PostgresServer, RedisServer, private_folder

#: the services in the order of their start, and the settings of their ports
PORTS = {
    "rules": "MAGNATE_RULES_PORT",
    "table": "MAGNATE_TABLE_PORT",
    "clock": "MAGNATE_CLOCK_PORT",
    "bots": "MAGNATE_BOTS_PORT",
    "gateway": "MAGNATE_GATEWAY_PORT",
}
CLOCK_TOKEN = "the clock's own token"
_START_S = 60.0
_STOP_S = 10.0
_OWN_CONNECTION = (("grpc.use_local_subchannel_pool", 1), ("grpc.max_reconnect_backoff_ms", 100))
_NOBODY = (("authorization", "Bearer nobody"),)
_SETTINGS = {
    "MAGNATE_LOG_FORMAT": "json",
    "MAGNATE_LOG_LEVEL": "debug",
    "MAGNATE_CLOCK_TOKEN": CLOCK_TOKEN,
    "MAGNATE_HEARTBEAT_MS": "300",
    "MAGNATE_PRESENCE_MS": "1000",
    "MAGNATE_SHUTDOWN_GRACE_MS": "1000",
    "MAGNATE_SESSION_RATE": "0",
    "MAGNATE_ADDRESS_RATE": "0",
    "MAGNATE_LIMIT_SESSIONS_BURST": "0",
    "MAGNATE_LIMIT_TABLES_BURST": "0",
    "MAGNATE_LIMIT_SUBMITS_BURST": "0",
}


class SiteProcess:
    """`magnate up`, or `magnate up NAME`; its log lies in a file."""

    def __init__(self, name: str, arguments: list[str], port: int, log: Path) -> None:
        self.name = name
        self.port = port
        self._arguments = arguments
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None
        self._is_asked = False

    @property
    def is_alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self, settings: Mapping[str, str]) -> None:
        """Begins the process; `ready` waits for it."""
        self._is_asked = False
        others = {name: value for name, value in os.environ.items() if not name.startswith("MAGNATE_")}
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "services.site", "up", *self._arguments],
                env={**others, "GRPC_VERBOSITY": "ERROR", **settings},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    async def ready(self) -> None:
        """Returns when its health service says SERVING."""
        limit_s = time.monotonic() + _START_S
        async with grpc.aio.insecure_channel(
            f"127.0.0.1:{self.port}",
            options=_OWN_CONNECTION,
        ) as channel:
            stub: Any = health_pb2_grpc.HealthStub(channel)
            while time.monotonic() < limit_s:
                if not self.is_alive:
                    break
                try:
                    answer = await stub.Check(health_pb2.HealthCheckRequest(), timeout=1)
                    if answer.status == health_pb2.HealthCheckResponse.SERVING:
                        return
                except grpc.aio.AioRpcError:
                    pass
                await asyncio.sleep(0.05)
        raise RuntimeError(f"{self.name} does not serve: {self._log.read_text()[-2000:]}")

    def kill(self) -> None:
        """Ends it at once, as a crash would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def ask_to_end(self) -> None:
        """Ends it as an operator would, without waiting."""
        # A second signal would end it at once.
        if self._process is not None and not self._is_asked:
            self._is_asked = True
            self._process.send_signal(signal.SIGTERM)

    def end(self) -> int:
        """Ends it as an operator would; the exit status."""
        if self._process is None:
            return 0
        self.ask_to_end()
        try:
            return self._process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            self.kill()
            return -1


@dataclass(frozen=True, slots=True)
class LiveSite:
    """A running site. `ports` of the processes by name: `site` alone in the embedded mode."""

    mode: str
    folder: Path
    settings: dict[str, str]
    processes: dict[str, SiteProcess] = field(default_factory=dict)
    metrics_ports: dict[str, int] = field(default_factory=dict)
    redis: RedisServer | None = None

    @property
    def is_embedded(self) -> bool:
        return self.mode == "embedded"

    @property
    def address(self) -> str:
        """The gateway's native port."""
        return f"127.0.0.1:{self.settings[PORTS['gateway']]}"

    @property
    def web(self) -> str:
        """The gateway's browser port."""
        return f"http://127.0.0.1:{self.settings['MAGNATE_WEB_PORT']}"

    @property
    def table_address(self) -> str:
        """The table service's port, which only the distributed mode has."""
        return f"127.0.0.1:{self.settings[PORTS['table']]}"

    def grpc_ports(self) -> dict[str, int]:
        """Every port that speaks gRPC, by the name of its process."""
        return {name: process.port for name, process in self.processes.items()}

    def part(self, service: str) -> SiteProcess:
        """The process that a service runs in."""
        return self.processes["site" if self.is_embedded else service]

    async def start(self, service: str, **changes: str) -> None:
        """Begins the process of a service, with some settings changed; returns when clients reach it again."""
        process = self.part(service)
        metrics = {"MAGNATE_METRICS_PORT": str(self.metrics_ports[process.name])}
        process.start(self.settings | metrics | changes)
        await process.ready()
        await self.reachable()

    async def reachable(self) -> None:
        """Returns when the gateway's calls come through to the other services."""
        async with grpc.aio.insecure_channel(self.address, options=_OWN_CONNECTION) as channel:
            stub = gateway_service_pb2_grpc.GatewayServiceStub(channel)
            limit_s = time.monotonic() + _START_S
            while time.monotonic() < limit_s:
                try:
                    await stub.GetServerInfo(pb.GetServerInfoRequest(), timeout=2)
                    await stub.ListTables(pb.ListTablesRequest(), timeout=2, metadata=_NOBODY)
                except grpc.aio.AioRpcError as error:
                    if error.code() is grpc.StatusCode.UNAUTHENTICATED:
                        return
                await asyncio.sleep(0.05)
        raise RuntimeError("the gateway does not reach the table service")

    def logs(self) -> bytes:
        """All that the processes have written."""
        return b"".join(path.read_bytes() for path in sorted(self.folder.glob("*.log")))

    @asynccontextmanager
    async def changed(self, service: str, **changes: str) -> AsyncIterator[None]:
        """The process of a service with other settings for a while."""
        self.part(service).end()
        await self.start(service, **changes)
        try:
            yield
        finally:
            self.part(service).end()
            await self.start(service)

    async def alive(self) -> None:
        """Returns when every process runs and says that it serves. RuntimeError if one has ended."""
        for process in self.processes.values():
            await process.ready()
        await self.reachable()


@contextmanager
def embedded_site() -> Iterator[LiveSite]:
    """`magnate up`: one process, SQLite."""
    with _folder() as folder:
        site = LiveSite("embedded", folder, _settings() | {"MAGNATE_DATA_FOLDER": str(folder / "data")})
        _add_process(site, "site", [], site.settings[PORTS["gateway"]])
        with _running(site):
            yield site


@contextmanager
def distributed_site(postgres: PostgresServer) -> Iterator[LiveSite]:
    """`magnate up rules`, `table`, `clock`, `bots` and `gateway`, each on its own, over Postgres and a Redis of its
    own."""
    url = postgres.new_database()
    redis = RedisServer()
    redis.start()
    try:
        with _folder() as folder:
            settings = _settings() | {"MAGNATE_DATABASE_URL": url, "MAGNATE_REDIS_URL": redis.url}
            for port in PORTS.values():
                settings[port.replace("_PORT", "_ADDRESS")] = f"127.0.0.1:{settings[port]}"
            site = LiveSite("distributed", folder, settings, redis=redis)
            for name, port in PORTS.items():
                _add_process(site, name, [name], settings[port])
            with _running(site):
                yield site
    finally:
        redis.remove()
        postgres.drop_database(url)


def _settings() -> dict[str, str]:
    ports = {name: str(_lasting_port()) for name in (*PORTS.values(), "MAGNATE_WEB_PORT")}
    return _SETTINGS | ports


def _lasting_port() -> int:
    """A free port below those that the system gives to connections: it is still free after a restart."""
    while True:
        port = random.randrange(15_000, 32_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


def _add_process(site: LiveSite, name: str, arguments: list[str], port: str) -> None:
    site.processes[name] = SiteProcess(name, arguments, int(port), site.folder / f"{name}.log")
    site.metrics_ports[name] = _lasting_port()


@contextmanager
def _folder() -> Iterator[Path]:
    folder = private_folder("site")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _running(site: LiveSite) -> Iterator[None]:
    try:
        for process in site.processes.values():
            process.start(site.settings | {"MAGNATE_METRICS_PORT": str(site.metrics_ports[process.name])})
        asyncio.run(site.alive())
        yield
    finally:
        for process in reversed(site.processes.values()):
            process.ask_to_end()
        for process in site.processes.values():
            process.end()
