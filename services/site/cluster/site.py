"""The distributed site: its parts by name (`table-1`, `table-2`, `redis`, `postgres`), and how to reach it."""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from magnate.gateway.v1 import gateway_service_pb2 as pb
from magnate.gateway.v1 import gateway_service_pb2_grpc

from services.site.cluster.process import LocalProcess
from services.site.cluster.servers import START_S, LocalPostgres, LocalRedis, private_folder
from services.site.errors import CommandError

#: the services in the order of their start
SERVICES = ("rules", "table", "clock", "bots", "gateway")
REDIS, POSTGRES = "redis", "postgres"
#: replicas of each service unless said otherwise
REPLICAS: Mapping[str, int] = {"rules": 2, "table": 2, "clock": 2, "bots": 2, "gateway": 2}

_POLL_S = 0.05
_ALONE = (("grpc.use_local_subchannel_pool", 1), ("grpc.max_reconnect_backoff_ms", 100))
_NOBODY = (("authorization", "Bearer nobody"),)

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Replica:
    """One process of a service and its ports on the loopback; `web_port` is 0 where it is no gateway."""

    name: str
    service: str
    process: LocalProcess
    port: int
    metrics_port: int
    web_port: int = 0

    @property
    def address(self) -> str:
        """Where it speaks gRPC."""
        return f"127.0.0.1:{self.port}"

    def environ(self) -> dict[str, str]:
        """The settings that are its own."""
        own = {
            f"MAGNATE_{self.service.upper()}_PORT": str(self.port),
            "MAGNATE_METRICS_PORT": str(self.metrics_port),
        }
        return own | ({"MAGNATE_WEB_PORT": str(self.web_port)} if self.web_port else {})


class LocalSite:
    """Call `start`, and `close` at the end; between them its parts may be ended and started in any way.

    `settings` are variables of the environment for all processes (of ours, those named MAGNATE_* are not passed on);
    `port_of` gives the port of a purpose (`table`, `web`, `metrics`, ...) for the replica of that number, from 0. A
    `postgres` of the caller must run already and stays; the site makes a database in it and drops it at the end.
    """

    def __init__(
        self,
        *,
        port_of: Callable[[str, int], int],
        replicas: Mapping[str, int] = REPLICAS,
        settings: Mapping[str, str] | None = None,
        postgres: LocalPostgres | None = None,
    ) -> None:
        self.folder = private_folder("site")
        self.redis = LocalRedis()
        self.postgres = postgres or LocalPostgres()
        self.replicas = {
            replica.name: replica
            for service in SERVICES
            for number in range(replicas[service])
            for replica in [_replica(service, number, self.folder, port_of)]
        }
        self._owns_postgres = postgres is None
        self._given = dict(settings or {})
        self.settings: dict[str, str] = {}
        self._database_url = ""

    async def start(self, say: Say = lambda _: None) -> None:
        """Starts everything; returns when clients get through every gateway. Tells each step. CommandError for a
        part that does not come up."""
        began_s = time.monotonic()

        def tell(what: str) -> None:
            say(f"{time.monotonic() - began_s:5.1f} s  {what}")

        self.redis.launch()
        if self._owns_postgres:
            self.postgres.launch()
            await self.ready(POSTGRES)
        self._database_url = self.postgres.new_database()
        await self.ready(REDIS)
        tell("Postgres and Redis are up")
        self.settings = {
            "MAGNATE_DATABASE_URL": self._database_url,
            "MAGNATE_REDIS_URL": self.redis.url,
            "MAGNATE_CLOCK_TOKEN": secrets.token_hex(16),
            **{f"MAGNATE_{service.upper()}_ADDRESS": self._addresses(service) for service in SERVICES},
            **self._given,
        }
        for replica in self.replicas.values():
            self._launch(replica)
        for name in self.replicas:
            await self.ready(name)
            tell(f"{name} is ready")
        await self.reachable()

    async def close(self) -> None:
        """Ends everything, the gateways first, and deletes what it wrote."""
        parts = [replica.process for replica in reversed(list(self.replicas.values()))]
        for process in parts:
            process.ask_to_end()
        for process in parts:
            await asyncio.to_thread(process.end)
        self.redis.remove()
        if self._owns_postgres:
            await asyncio.to_thread(self.postgres.remove)
        elif self._database_url:
            await asyncio.to_thread(self.postgres.drop_database, self._database_url)
        shutil.rmtree(self.folder, ignore_errors=True)

    def of(self, service: str) -> list[Replica]:
        """The replicas of a service."""
        return [replica for replica in self.replicas.values() if replica.service == service]

    @property
    def gateways(self) -> list[str]:
        """Where native clients connect."""
        return [replica.address for replica in self.of("gateway")]

    @property
    def web_addresses(self) -> list[str]:
        """Where browsers connect."""
        return [f"http://127.0.0.1:{replica.web_port}" for replica in self.of("gateway")]

    @property
    def names(self) -> list[str]:
        """All parts."""
        return [POSTGRES, REDIS, *self.replicas]

    def process(self, name: str) -> LocalProcess:
        """The process of a part, to be killed, paused, resumed or ended."""
        if name in (POSTGRES, REDIS):
            return self.postgres.process if name == POSTGRES else self.redis.process
        return self.replicas[name].process

    def launch(self, name: str, **changes: str) -> None:
        """Begins a part that has ended, with some settings changed, and does not wait for it."""
        if name in (POSTGRES, REDIS):
            (self.postgres if name == POSTGRES else self.redis).launch()
        else:
            self._launch(self.replicas[name], **changes)

    async def ready(self, name: str) -> None:
        """Returns when a part does its work. CommandError when it does not for long, or has ended."""
        limit_s = time.monotonic() + START_S * 2
        while time.monotonic() < limit_s:
            if name in (POSTGRES, REDIS):
                server = self.postgres if name == POSTGRES else self.redis
                if await asyncio.to_thread(server.comes_up):
                    return
            elif await serves(self.replicas[name].address):
                return
            elif not self.process(name).is_alive:
                break
            await asyncio.sleep(_POLL_S)
        raise CommandError(f"{name} does not serve:\n{self.process(name).log.read_text()[-2000:]}")

    async def reachable(self) -> None:
        """Returns when the calls of every gateway come through to the services behind it. CommandError if not."""
        for address in self.gateways:
            await reaches(address)

    def logs(self) -> bytes:
        """All that the services have written."""
        return b"".join(path.read_bytes() for path in sorted(self.folder.glob("*.log")))

    def _launch(self, replica: Replica, **changes: str) -> None:
        others = {name: value for name, value in os.environ.items() if not name.startswith("MAGNATE_")}
        replica.process.launch({**others, "GRPC_VERBOSITY": "ERROR", **self.settings, **replica.environ(), **changes})

    def _addresses(self, service: str) -> str:
        return ",".join(replica.address for replica in self.of(service))


async def serves(address: str) -> bool:
    """Whether the health service there says SERVING."""
    async with grpc.aio.insecure_channel(address, options=_ALONE) as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)
        try:
            answer = await stub.Check(health_pb2.HealthCheckRequest(), timeout=1)
        except grpc.aio.AioRpcError:
            return False
        return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)


async def reaches(address: str) -> None:
    """Returns when a gateway's calls come through to the services behind it. CommandError if not for long."""
    async with grpc.aio.insecure_channel(address, options=_ALONE) as channel:
        stub = gateway_service_pb2_grpc.GatewayServiceStub(channel)
        limit_s = time.monotonic() + START_S * 2
        while time.monotonic() < limit_s:
            try:
                await stub.GetServerInfo(pb.GetServerInfoRequest(), timeout=2)
                await stub.ListTables(pb.ListTablesRequest(), timeout=2, metadata=_NOBODY)
            except grpc.aio.AioRpcError as error:
                if error.code() is grpc.StatusCode.UNAUTHENTICATED:
                    return
            await asyncio.sleep(_POLL_S)
    raise CommandError(f"the gateway at {address} does not reach the services behind it")


def _replica(service: str, number: int, folder: Path, port_of: Callable[[str, int], int]) -> Replica:
    name = f"{service}-{number + 1}"
    command = [sys.executable, "-m", "services.site", "up", service]
    return Replica(
        name=name,
        service=service,
        process=LocalProcess(command, folder / f"{name}.log"),
        port=port_of(service, number),
        metrics_port=port_of("metrics", SERVICES.index(service) * 10 + number),
        web_port=port_of("web", number) if service == "gateway" else 0,
    )
