"""The shipped clock, tables, rules and gateway in one loop, on virtual time: minutes pass in no time, and each part can
be away or begin anew.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from magnate.gateway.v1 import gateway_service_pb2 as pb
from magnate.table.v1 import table_service_pb2 as table_pb

from gateway.main import DESCRIPTOR as GATEWAY
from gateway.main import build as build_gateway
from gateway.settings import GatewaySettings
from services.clock.main import DESCRIPTOR as CLOCK
from services.clock.main import build as build_clock
from services.clock.settings import ClockSettings
from services.kit.calls import LocalClient, OneReplica
from services.kit.server import Service
from services.kit.streams_memory import MemoryStream
from services.rules.main import DESCRIPTOR as RULES
from services.rules.main import build_handler
from services.rules.settings import RulesSettings
from services.table.main import ADMIN
from services.table.main import DESCRIPTOR as TABLE
from services.table.main import build as build_table
from services.table.settings import TableSettings
from tests.clock.virtual_time import LoopTime, now_ms
from tests.outages.parts import ClockDatabase, Door, LoopWall, Outlet, Switch, TableDatabase
from tests.outages.screens import Guest

GRACE_MS = 500
PERIOD_MS = 250
HEARTBEAT_MS = 1_000
HOUR_MS = 3_600_000
PARTS = ("rules", "table", "store", "stream", "gateway", "clock")


@dataclass(frozen=True, slots=True)
class Expired:
    """A table said yes to the end of a deadline, at this moment of virtual time."""

    at_ms: int
    table_id: str
    deadline_id: int


class WholeSite:
    """`down` kills a part, or has a server stay away; `up` begins it anew over what is stored."""

    def __init__(
        self,
        folder: Path,
        *,
        probe_period_ms: int = PERIOD_MS,
        heartbeat_ms: int = HEARTBEAT_MS,
        lobby_ttl_ms: int = HOUR_MS,
    ) -> None:
        self._folder = folder
        self._period_ms = probe_period_ms
        self._heartbeat_ms = heartbeat_ms
        self._lobby_ttl_ms = lobby_ttl_ms
        self._switches = {part: Switch() for part in PARTS}
        self._stream = MemoryStream()
        self._wall = LoopWall()
        self._running: dict[str, tuple[Service, Switch]] = {}
        self._doors: dict[str, list[Door]] = {part: [] for part in PARTS}
        self._rules_for_table, self._rules_for_gateway = self._door("rules", "table"), self._door("rules", "gateway")
        self._table_for_clock = self._door("table", "clock")
        self._clock_for_table, self._clock_for_gateway = self._door("clock", "table"), self._door("clock", "gateway")
        self._gateway_for_clock = self._door("gateway", "clock")
        #: what tests use: the table service as a gateway does, and the gateway as a client does
        self.table, self.gateway = self._door("table", "gateway"), self._door("gateway", "")
        self.guests: list[Guest] = []
        self.expired: list[Expired] = []

    async def start(self) -> None:
        """All parts; returns when play time advances."""
        for part in ("rules", "table", "gateway", "clock"):
            await self.up(part)
        await asyncio.sleep(2)

    async def close(self) -> None:
        """The clients leave, the parts are stopped."""
        for guest in self.guests:
            guest.close()
        for part in list(self._running):
            await self.down(part)

    async def down(self, part: str) -> None:
        """The part is away from now on; a process is dead and writes nothing more."""
        if part in self._switches:
            self._switches[part].away = True
        if part == "gateway":
            for guest in self.guests:
                guest.cut()
        if part in self._running:
            service, dead = self._running.pop(part)
            dead.away = True
            await service.stop()

    async def up(self, part: str) -> None:
        """The part is there again."""
        self._switches[part].away = False
        local = await self._begun(part)
        for door in self._doors[part]:
            door.client = local(door.caller)

    async def restart(self, part: str, seconds: float) -> None:
        """The part is away for so long."""
        await self.down(part)
        await asyncio.sleep(seconds)
        await self.up(part)

    @asynccontextmanager
    async def without(self, part: str) -> AsyncIterator[None]:
        """The body happens while the part is away."""
        await self.down(part)
        yield
        await self.up(part)

    @contextmanager
    def losing_answers(self, part: str) -> Iterator[None]:
        """What the part does while the body lasts is done, but nobody hears of it."""
        self._switches[part].mute = True
        yield
        self._switches[part].mute = False

    async def guest(self, name: str = "Ada") -> Guest:
        """A client with a session."""
        answer = await self.gateway.CreateSession(pb.CreateSessionRequest(name=name))
        guest = Guest(self.gateway, answer.session_token)
        self.guests.append(guest)
        return guest

    async def operate(self, request: Any) -> Any:
        """An operator's call at the table service."""
        service, _ = self._running["table"]
        name = type(request).__name__.removesuffix("Request")
        return await getattr(service.local(ADMIN, caller="operator"), name)(request)

    def _door(self, part: str, caller: str) -> Door:
        door = Door(self._switches[part], caller, self._note)
        self._doors[part].append(door)
        return door

    async def _begun(self, part: str) -> Callable[[str], object]:
        """Begins the process of a part; gives what makes a client of it for a caller."""
        match part:
            case "rules":
                handler = build_handler(RulesSettings())
                return lambda caller: LocalClient(RULES, handler, caller=caller)
            case "table":
                service, descriptor = await self._begin_table(), TABLE
            case "gateway":
                service, descriptor = await self._begin_gateway(), GATEWAY
            case "clock":
                service, descriptor = await self.begin_clock(), CLOCK
            case _:
                return lambda _: None
        return lambda caller: service.local(descriptor, caller=caller)

    async def begin_clock(self, name: str = "clock") -> Service:
        """A clock; those of one name share a database."""
        dead = Switch()
        service = build_clock(
            ClockSettings(
                grace_ms=GRACE_MS,
                probe_period_ms=self._period_ms,
                probe_longest_gap_ms=self._period_ms * 3 // 2,
            ),
            table_client=self._table_for_clock,
            gateway_client=self._gateway_for_clock,
            stream=self._stream,
            replica=name,
            database=ClockDatabase(f"sqlite:///{self._folder / name}.db", self._switches["store"], dead),
            timepiece=LoopTime(),
        )
        return await self._begin(name, service, dead)

    async def _begin_table(self) -> Service:
        dead = Switch()
        settings = TableSettings(
            allow_fixed_seed=True,
            grace_ms=GRACE_MS,
            lobby_ttl_ms=self._lobby_ttl_ms,
            sessions_burst=0,
            tables_burst=0,
            submits_burst=0,
        )
        service = await build_table(
            settings,
            rules_client=self._rules_for_table,
            clocks=OneReplica(lambda: self._clock_for_table),
            stream=Outlet(self._stream, self._switches["stream"], dead),
            database=TableDatabase(f"sqlite:///{self._folder / 'tables.db'}", self._switches["store"], dead),
            wall=self._wall,
        )
        return await self._begin("table", service, dead)

    async def _begin_gateway(self) -> Service:
        settings = GatewaySettings(
            heartbeat_ms=self._heartbeat_ms,
            session_rate=0,
            address_rate=0,
            shutdown_grace_ms=0,
        )
        edge = build_gateway(
            settings,
            table_client=self.table,
            submit=self.table.Submit,
            rules_client=self._rules_for_gateway,
            clocks=OneReplica(lambda: self._clock_for_gateway),
            stream=self._stream,
            now_s=asyncio.get_running_loop().time,
            boot_s=asyncio.get_running_loop().time,
            with_web=False,
        )
        return await self._begin("gateway", edge.service, Switch())

    async def _begin(self, part: str, service: Service, dead: Switch) -> Service:
        await service.start()
        self._running[part] = (service, dead)
        return service

    def _note(self, request: object, answer: object) -> None:
        if isinstance(request, table_pb.ExpireDeadlineRequest):
            self.expired.append(Expired(round(now_ms()), request.table_id, request.deadline_id))
