"""The whole site in one process and one event loop: SQLite, an event stream in memory, and the gateway's real ports."""

from __future__ import annotations

import fcntl
import os
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TextIO

import gateway.main
import services.bots.main
import services.clock.main
import services.rules.main
import services.table.main
from gateway.main import Gateway
from gateway.settings import GatewaySettings
from services.bots.settings import BotsSettings
from services.clock.settings import ClockSettings
from services.kit.batches import LocalCaller
from services.kit.calls import OneReplica
from services.kit.server import Service, ServiceSettings, settle
from services.kit.streams_memory import MemoryStream
from services.rules.settings import RulesSettings
from services.site.errors import CommandError
from services.table.settings import TableSettings

_DATABASE = "magnate.db"
_LOCK = "site.lock"
# Whoever holds the folder is the only one of this name.
_REPLICA = "embedded"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of all services."""

    site: ServiceSettings
    rules: RulesSettings
    table: TableSettings
    clock: ClockSettings
    bots: BotsSettings
    gateway: GatewaySettings

    @classmethod
    def load(cls, environ: Mapping[str, str]) -> Settings:
        """From the environment. Raises SettingsError."""
        return cls(
            site=ServiceSettings.load(environ),
            rules=RulesSettings.load(environ),
            table=TableSettings.load(environ),
            clock=ClockSettings.load(environ),
            bots=BotsSettings.load(environ),
            gateway=GatewaySettings.load(environ),
        )

    def embedded(self, folder: Path) -> Settings:
        """The same for one process: its database lies in the folder, and no clock but its own is known."""
        url = f"sqlite:///{folder / _DATABASE}"
        return replace(
            self,
            table=replace(self.table, database_url=url, clock_token=""),
            clock=replace(self.clock, database_url=url),
            gateway=replace(self.gateway, clock_token=""),
        )

    def private(self, *, think_ms: int = 0) -> Settings:
        """For one person or a demo: any free ports of the loopback, seeds may be named, no limits on calls."""
        return replace(
            self,
            site=replace(self.site, metrics_port=0),
            table=replace(self.table, allow_fixed_seed=True, submits_burst=0, tables_burst=0, sessions_burst=0),
            bots=replace(self.bots, think_ms=think_ms, gather_ms=0),
            gateway=replace(self.gateway, host="127.0.0.1", port=0, web_port=0, session_rate=0, address_rate=0),
        )


@dataclass(frozen=True, slots=True)
class Site:
    """All services, in the order of their start."""

    gateway: Gateway
    services: tuple[tuple[Service, int | None], ...]

    @property
    def address(self) -> str:
        """Where native clients connect."""
        return _reachable(self.gateway.service.settings.host, self.gateway.service.port)

    @property
    def web_address(self) -> str:
        """Where browsers connect."""
        return "http://" + _reachable(self.gateway.service.settings.host, self.gateway.web.port)


async def compose(settings: Settings, folder: Path) -> Site:
    """The site over a folder that this process holds, not started yet. ServiceError when the store is no use."""
    settings = settings.embedded(folder)
    telemetry = settings.site.telemetry("site")
    # All readers share this loop, so that none falls far behind; what waits for them takes memory.
    stream = MemoryStream(capacity=256)
    rules = services.rules.main.build(settings.rules, telemetry=telemetry)
    rules_client = rules.local(services.rules.main.DESCRIPTOR, caller="table")
    clocks: list[Service] = []
    table = await services.table.main.build(
        settings.table,
        rules_client=rules_client,
        clocks=OneReplica(lambda: clocks[0].local(services.clock.main.DESCRIPTOR, caller="table")),
        stream=stream,
        telemetry=telemetry,
    )
    bots_table = table.local(services.table.main.DESCRIPTOR, caller="bots")
    edge_table = table.local(services.table.main.DESCRIPTOR, caller="gateway")
    bots = services.bots.main.build(
        settings.bots,
        table_client=bots_table,
        submitter=LocalCaller(bots_table.Submit),
        stream=stream,
        telemetry=telemetry,
    )
    edge = gateway.main.build(
        settings.gateway,
        table_client=edge_table,
        submit=edge_table.Submit,
        rules_client=rules.local(services.rules.main.DESCRIPTOR, caller="gateway"),
        clocks=OneReplica(lambda: clocks[0].local(services.clock.main.DESCRIPTOR, caller="gateway")),
        bots_client=bots.local(services.bots.main.DESCRIPTOR, caller="gateway"),
        stream=stream,
        telemetry=telemetry,
    )
    clock = services.clock.main.build(
        settings.clock,
        table_client=table.local(services.table.main.DESCRIPTOR, caller="clock"),
        gateway_client=edge.service.local(gateway.main.DESCRIPTOR, caller="clock"),
        stream=stream,
        replica=_REPLICA,
        telemetry=telemetry,
    )
    clocks.append(clock)
    # Stopped the other way round: the edge first, the rules last.
    order = ((rules, None), (table, None), (clock, None), (bots, None), (edge.service, settings.gateway.port))
    rules.add_closer(stream.close)
    return Site(edge, order)


@asynccontextmanager
async def running(settings: Settings, folder: Path) -> AsyncIterator[Site]:
    """A site that is up, and stopped at the end. Raises CommandError, StartError, ServiceError."""
    with held(folder):
        site = await compose(settings, folder)
        started: list[Service] = []
        try:
            for service, port in site.services:
                started.append(service)
                await service.start(port)
            settle()
            yield site
        finally:
            for service in reversed(started):
                await service.stop()


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Holds a data folder, made if need be, for this process alone: two sites over one database would not do.
    Raises CommandError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / _LOCK).open("a+")
    except OSError as error:
        raise CommandError(
            f"cannot use the data folder {folder}: {error.strerror}; name another one with MAGNATE_DATA_FOLDER"
        ) from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise CommandError(
                f"a site already runs in {folder} (process {_holder(lock)}); stop it, or name another folder with "
                "MAGNATE_DATA_FOLDER"
            ) from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield


def _holder(lock: TextIO) -> str:
    lock.seek(0)
    return lock.read().strip() or "unknown"


def _reachable(host: str, port: int) -> str:
    """The address that a person on this machine would use."""
    named = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, host)
    return f"{named}:{port}"
