"""What goes wrong in a schedule: drawn from its seed, brought on and healed at moments of the world's time."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tests.simulation.broker import AGAIN_S, REJOIN_S, Conditions
from tests.simulation.loop import Process, VirtualLoop
from tests.simulation.network import Link, Weather
from tests.simulation.site import SLOTS, Site

_LINKS: tuple[Link, ...] = (
    ("clock", "gateway"),
    ("gateway", "table"),
    ("clock", "table"),
    ("table", "clock"),
    ("gateway", "clock"),
    ("person", "gateway"),
)
_SLOW = ("calls_late", "entries_reordered", "slow_commits")
_HOUR_MS = 3_600_000


@dataclass(slots=True)
class Window:
    """One fault: what, to whom, from when to when. `is_hard`: what it hits does not work at all meanwhile. `slow_s`: so
    much longer something may be under way because of it."""

    kind: str
    target: str
    from_s: float
    to_s: float
    is_hard: bool
    slow_s: float = 0.0


@dataclass(slots=True)
class Fault:
    """How to bring it on and how to end it, `lasts_s` between them; what it hit is under way `lingers_s` more."""

    kind: str
    target: str
    lasts_s: float
    begin: Callable[[], object]
    end: Callable[[], object]
    is_hard: bool = False
    lingers_s: float = 0.0


@dataclass(slots=True)
class Faults:
    """Draws and runs the faults of one schedule."""

    site: Site
    rng: random.Random
    on_event: Callable[[str], None]
    # Those to draw from; empty: all.
    kinds: Sequence[str] = ()
    windows: list[Window] = field(default_factory=list)

    def slow_s(self) -> float:
        """How much longer something may be under way now than it usually is."""
        return sum(window.slow_s for window in self.windows if window.to_s == float("inf"))

    async def run(self, count: int) -> None:
        """Brings on so many faults, some of them at the same time, and returns when all are over."""
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualLoop)
        running: list[asyncio.Task[None]] = []
        for number in range(count):
            fault = self._draw()
            while fault is None:
                fault = self._draw()
            running.append(asyncio.create_task(self._happen(fault, loop)))
            if number < count - 1:
                await asyncio.sleep(self._pause_s(fault))
        await asyncio.gather(*running)

    async def _happen(self, fault: Fault, loop: VirtualLoop) -> None:
        slow_s = fault.lingers_s if fault.kind in _SLOW else 0.0
        window = Window(fault.kind, fault.target, loop.now_s, float("inf"), fault.is_hard, slow_s)
        self.windows.append(window)
        self.on_event(f"FAULT {fault.kind} {fault.target} begins, for {fault.lasts_s:.3f} s")
        fault.begin()
        self.site.on_change()
        await asyncio.sleep(fault.lasts_s)
        fault.end()
        self.site.on_change()
        await asyncio.sleep(fault.lingers_s)
        window.to_s = loop.now_s
        self.on_event(f"FAULT {fault.kind} {fault.target} is over")

    def _pause_s(self, fault: Fault) -> float:
        """Until the next one begins: while this one lasts, soon after it, or after a calm stretch."""
        drawn = self.rng.random()
        if drawn < 0.3:
            return self.rng.uniform(0.0, fault.lasts_s)
        if drawn < 0.9:
            return fault.lasts_s + self.rng.uniform(0.2, 2.0)
        return fault.lasts_s + self.rng.uniform(4.0, 5.0)

    def _draw(self) -> Fault | None:
        makers = {
            "crash": (2, self._crash),
            "stall": (2, self._stall),
            "suspend": (1, self._suspend),
            "clock_step": (1, self._step),
            "calls_lost": (1, self._loss),
            "calls_repeated": (1, self._repeat),
            "calls_late": (1, self._delay),
            "cut": (1, self._cut),
            "entries_lost": (1, self._entries_lost),
            "entries_repeated": (1, self._entries_again),
            "entries_reordered": (1, self._entries_late),
            "redis_away": (2, self._broker_away),
            "slow_commits": (2, self._slow_commits),
            "store_away": (1, self._store_away),
        }
        chosen = [maker for kind, maker in makers.items() if not self.kinds or kind in self.kinds]
        weights = [weight for weight, _ in chosen]
        return self.rng.choices([make for _, make in chosen], weights)[0]()

    # ---- processes --------------------------------------------------------------------------------------------

    def _living(self) -> Process | None:
        slot = self.rng.choice(SLOTS)
        process = self.site.processes.get(slot)
        return process if process is not None and process.runs else None

    def _crash(self) -> Fault | None:
        process = self._living()
        if process is None:
            return None
        slot, lasts_s = process.name, self.rng.uniform(0.2, 3.0)
        return Fault("crash", slot, lasts_s, lambda: self._kill(process), lambda: self.site.start(slot), True)

    def _kill(self, process: Process) -> None:
        process.is_frozen = False
        self.site.crash(process.name)

    def _stall(self) -> Fault | None:
        return self._frozen("stall", suspended=False)

    def _suspend(self) -> Fault | None:
        return self._frozen("suspend", suspended=True)

    def _frozen(self, kind: str, *, suspended: bool) -> Fault | None:
        process = self._living()
        if process is None:
            return None
        loop, lasts_s = self.site.loop, self.rng.uniform(0.1, 3.0)

        def end() -> None:
            if not process.is_dead:
                loop.thaw(process, slept_s=lasts_s if suspended else 0.0)

        return Fault(kind, process.name, lasts_s, lambda: loop.freeze(process), end, True)

    def _step(self) -> Fault | None:
        process = self._living()
        if process is None:
            return None
        step_ms = self.rng.choice((-1, 1)) * self.rng.randint(500, 3 * _HOUR_MS)

        def begin() -> None:
            process.wall_step_ms += step_ms

        return Fault("clock_step", f"{process.name} {step_ms} ms", 0.0, begin, _nothing)

    # ---- calls ------------------------------------------------------------------------------------------------

    def _weather(
        self, kind: str, change: Callable[[Weather], None], undo: Callable[[Weather], None], lingers_s: float = 0.0
    ) -> Fault:
        link = self.rng.choice(_LINKS)
        weather, lasts_s = self.site.network.weather(link), self.rng.uniform(0.3, 3.0)
        begin, end = (lambda: change(weather)), (lambda: undo(weather))
        return Fault(kind, f"{link[0]} to {link[1]}", lasts_s, begin, end, lingers_s=lingers_s)

    def _loss(self) -> Fault:
        share = self.rng.uniform(0.1, 0.7)
        return self._weather("calls_lost", lambda w: setattr(w, "loss", share), lambda w: setattr(w, "loss", 0.0))

    def _repeat(self) -> Fault:
        share = self.rng.uniform(0.2, 1.0)
        return self._weather(
            "calls_repeated", lambda w: setattr(w, "repeat", share), lambda w: setattr(w, "repeat", 0.0)
        )

    def _delay(self) -> Fault:
        bounds_s, usual_s = (0.0, self.rng.uniform(0.02, 0.5)), Weather().latency_s

        def late(bounds_s: tuple[float, float]) -> Callable[[Weather], None]:
            return lambda weather: setattr(weather, "latency_s", bounds_s)

        return self._weather("calls_late", late(bounds_s), late(usual_s), lingers_s=2 * bounds_s[1])

    def _cut(self) -> Fault:
        network, link = self.site.network, self.rng.choice(_LINKS)

        def end() -> None:
            network.weather(link).is_cut = False

        lasts_s = self.rng.uniform(0.1, 3.0)
        return Fault("cut", f"{link[0]} to {link[1]}", lasts_s, lambda: network.cut(link), end, True)

    # ---- the event stream -------------------------------------------------------------------------------------

    def _conditions(
        self, kind: str, change: Callable[[Conditions], None], undo: Callable[[Conditions], None], lingers_s: float
    ) -> Fault:
        conditions, lasts_s = self.site.broker.conditions, self.rng.uniform(0.3, 3.0)
        begin, end = (lambda: change(conditions)), (lambda: undo(conditions))
        return Fault(kind, "event stream", lasts_s, begin, end, lingers_s=lingers_s)

    def _entries_lost(self) -> Fault:
        share = self.rng.uniform(0.1, 0.8)

        def lose(share: float) -> Callable[[Conditions], None]:
            return lambda conditions: setattr(conditions, "loss", share)

        return self._conditions("entries_lost", lose(share), lose(0.0), REJOIN_S[1])

    def _entries_again(self) -> Fault:
        share = self.rng.uniform(0.2, 1.0)

        def repeat(share: float) -> Callable[[Conditions], None]:
            return lambda conditions: setattr(conditions, "repeat", share)

        return self._conditions("entries_repeated", repeat(share), repeat(0.0), AGAIN_S[1])

    def _entries_late(self) -> Fault:
        bounds_s, usual_s = (0.0, self.rng.uniform(0.05, 0.5)), Conditions().latency_s

        def late(bounds_s: tuple[float, float]) -> Callable[[Conditions], None]:
            return lambda conditions: setattr(conditions, "latency_s", bounds_s)

        return self._conditions("entries_reordered", late(bounds_s), late(usual_s), bounds_s[1])

    def _broker_away(self) -> Fault | None:
        broker = self.site.broker
        if broker.is_away:
            return None
        return Fault("redis_away", "event stream", self.rng.uniform(0.1, 3.0), broker.leave, broker.come_back, True)

    # ---- the store --------------------------------------------------------------------------------------------

    def _slow_commits(self) -> Fault:
        server, longest_s = self.site.server, self.rng.uniform(0.05, 1.5)
        bounds_s = (longest_s * self.rng.random(), longest_s)
        lasts_s = self.rng.uniform(0.5, 3.0)
        begin, end = (lambda: server.slow(bounds_s)), (lambda: server.slow(None))
        return Fault("slow_commits", "store", lasts_s, begin, end, lingers_s=longest_s)

    def _store_away(self) -> Fault | None:
        server = self.site.server
        if server.is_away:
            return None

        def away(is_away: bool) -> Callable[[], None]:
            return lambda: setattr(server, "is_away", is_away)

        return Fault("store_away", "store", self.rng.uniform(0.1, 3.0), away(True), away(False), True)


def _nothing() -> None:
    """It happens in a moment."""
