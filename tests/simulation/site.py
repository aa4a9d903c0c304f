"""The processes of a simulated site: two of each kind, the shipped code in each, over one store and one broker."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

from magnate.table.v1 import table_service_pb2 as table_pb

import gateway.main
import services.clock.main
import services.rules.main
import services.table.main
from gateway.__main__ import REPEATABLE_AT_TABLES
from gateway.settings import GatewaySettings
from services.clock.adapters.probing import EveryGateway
from services.clock.settings import ClockSettings
from services.kit.calls import Member, Pool, PoolClient
from services.kit.errors import ServiceError
from services.kit.server import Service, StartError
from services.kit.telemetry import Telemetry
from services.rules.domain.edition import Edition
from services.rules.editions.loader import Catalogue
from services.rules.settings import RulesSettings
from services.table.settings import TableSettings
from tests.simulation.broker import Broker
from tests.simulation.chance import Machine, SeededChance
from tests.simulation.loop import NOBODY, Process, VirtualLoop
from tests.simulation.network import Network, Peer, Replicas
from tests.simulation.store import ClockDatabase, Server, TableDatabase

CLOCK_TOKEN = "probes"
CLOCK = ClockSettings(clock_token=CLOCK_TOKEN, expire_limit_ms=2_000)
TABLE = TableSettings(sessions_burst=0, tables_burst=0, submits_burst=0, snapshot_every=16)
SLOTS = ("table-0", "table-1", "gateway-0", "gateway-1", "clock-0", "clock-1")
# Games in which most decisions are left to their deadlines are over soon in these, or go on for ever.
EDITIONS = ("metro", "industry", "tabletop")
_BOOT_S = (0.05, 0.4)


class Site:
    """What runs in which slot; a slot is empty while its process is dead."""

    def __init__(self, loop: VirtualLoop, machine: Machine, rng: random.Random) -> None:
        self.loop = loop
        self.network = Network(loop, random.Random(rng.random()))
        self.broker = Broker(loop, random.Random(rng.random()))
        self.server = Server(loop, random.Random(rng.random()))
        self.processes: dict[str, Process] = {}
        self.born: list[Process] = []
        self.on_change: Callable[[], None] = lambda: None
        self._machine = machine
        self._chance = SeededChance(random.Random(rng.random()))
        self._rng = random.Random(rng.random())

    def start(self, slot: str, *, at_once: bool = False) -> None:
        """A new process in an empty slot; it serves a little later."""
        process = Process(slot)
        self.processes[slot] = process
        self.born.append(process)
        boot_s = 0.0 if at_once else self._rng.uniform(*_BOOT_S)
        self.loop.call_later(boot_s, lambda: self.loop.spawn(process, self._boot(process)), context=process.context)
        self.on_change()

    def crash(self, slot: str) -> None:
        """Kills the process without a word."""
        process = self.processes.pop(slot)
        self.loop.kill(process)
        self.broker.died(process)
        self.network.died(process)
        self.on_change()

    def of_kind(self, kind: str) -> list[Process]:
        """The living processes of a kind, frozen ones too."""
        return [process for slot, process in self.processes.items() if slot.startswith(kind)]

    async def _boot(self, process: Process) -> None:
        kind = process.name.split("-")[0]
        build = {"table": self._table, "gateway": self._gateway, "clock": self._clock}[kind]
        try:
            service, descriptor = await build(process)
            await service.start(None)
        except (ServiceError, StartError) as error:
            self.loop.note(f"{process.name} cannot start: {error}")
            self.loop.call_later(self._rng.uniform(*_BOOT_S), self._start_again, process, context=NOBODY)
            return
        self.network.add(Peer(kind, process, lambda caller: service.local(descriptor, caller=caller)))
        self.on_change()

    def _start_again(self, process: Process) -> None:
        """As whoever runs a site does with a process that has ended because a part that it needs was away."""
        if self.processes.get(process.name) is process:
            self.crash(process.name)
            self.start(process.name)

    def _replicas(self, process: Process, kind: str, to: str) -> Replicas:
        return Replicas(self.network, process, (kind, to), [slot for slot in SLOTS if slot.startswith(to)])

    async def _pool(self, process: Process, kind: str, to: str) -> Pool:
        pool = Pool(self._replicas(process, kind, to), what=to, attempt_ms=CLOCK.attempt_ms)
        await pool.start()
        return pool

    async def _table(self, process: Process) -> tuple[Service, Any]:
        rules = services.rules.main.build(RulesSettings(), telemetry=_telemetry(), catalogue=_editions())
        service = await services.table.main.build(
            TABLE,
            rules_client=rules.local(services.rules.main.DESCRIPTOR, caller="table"),
            clocks=self._replicas(process, "table", "clock"),
            stream=self.broker.stream(process),
            database=TableDatabase(self.server),
            wall=self._machine,
            chance=self._chance,
            telemetry=_telemetry(),
        )
        return service, services.table.main.DESCRIPTOR

    async def _gateway(self, process: Process) -> tuple[Service, Any]:
        pool = await self._pool(process, "gateway", "table")
        tables: Any = PoolClient(services.table.main.DESCRIPTOR, pool, repeatable=REPEATABLE_AT_TABLES)
        built = gateway.main.build(
            GATEWAY,
            table_client=tables,
            submit=tables.Submit,
            probe_ways=lambda: [partial(_probe, pool, member) for member in pool.ways(len(SLOTS))],
            rules_client=tables,
            clocks=self._replicas(process, "gateway", "clock"),
            stream=self.broker.stream(process),
            now_s=self._machine.active_s,
            boot_s=self._machine.monotonic_s,
            with_web=False,
            telemetry=_telemetry(),
        )
        return built.service, gateway.main.DESCRIPTOR

    async def _clock(self, process: Process) -> tuple[Service, Any]:
        pool = await self._pool(process, "clock", "table")
        tables: Any = PoolClient(services.table.main.DESCRIPTOR, pool, repeatable=("ListDeadlines", "ExpireDeadline"))
        service = services.clock.main.build(
            CLOCK,
            table_client=tables,
            gateway_client=EveryGateway(await self._pool(process, "clock", "gateway")),
            stream=self.broker.stream(process),
            database=ClockDatabase(self.server),
            replica=f"clock-{self.born.index(process)}",
            timepiece=self._machine,
            telemetry=_telemetry(),
        )
        return service, services.clock.main.DESCRIPTOR


async def _probe(pool: Pool, member: Member, request: table_pb.ProbeRequest, limit_ms: int) -> None:
    """As `StreamedSubmit` does it, but by a call of its own."""
    await pool.ask(member, lambda asked, ms: asked.client.Probe(request, timeout_ms=ms), bound_ms=limit_ms)


GATEWAY = GatewaySettings(
    clock_token=CLOCK_TOKEN, session_rate=0, address_rate=0, heartbeat_ms=1_000, web_folder=tempfile.gettempdir() + "/-"
)


@lru_cache(maxsize=1)
def _telemetry() -> Telemetry:
    return Telemetry.off()


@lru_cache(maxsize=1)
def _editions() -> Catalogue:
    shipped = services.rules.main.shipped_editions()
    return Catalogue({key: _hurried(edition) for key, edition in shipped.editions.items() if key[0] in EDITIONS})


def _hurried(edition: Edition) -> Edition:
    """The same rules with little time for everything."""
    return replace(
        edition,
        turn_s=2,
        payment_s=replace(edition.payment_s, seconds=2),
        bid_s=1,
        lot_s=None if edition.lot_s is None else 2,
        answer_s=1,
    )
