"""Faults done to a site's processes, each followed until the part serves again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import NamedTuple

from services.site.cluster.site import LocalSite
from services.site.errors import CommandError
from tests.chaos.journal import now_ns
from tests.chaos.schedule import KILL, POSTGRES, REDIS, RELAY, STOP, Fault

_LAUNCHES = 5
#: with the event stream standing still, so much is waited for acknowledgements that it will not get
_UNPUBLISHED, _UNPUBLISHED_S = 2, 2.0


class Done(NamedTuple):
    """A fault that was done: its kind and part, and from when to when it was in force.

    `unpublished` commands were acknowledged while their updates could not leave the process that the fault hit; only
    faults of the relay count them.
    """

    kind: str
    part: str
    began_ns: int
    ended_ns: int
    unpublished: int


class Injector:
    """Does faults to a site, several at a time if they are of different parts. `acknowledged` is the clients' count;
    each fault is a line of the file `log`."""

    def __init__(self, site: LocalSite, acknowledged: Callable[[], int], log: Path) -> None:
        self.done: list[Done] = []
        self._log = log
        self._site = site
        self._acknowledged = acknowledged
        self._locks = {name: asyncio.Lock() for name in site.names}

    async def inject(self, fault: Fault) -> Done:
        """Does one, and returns when the part is well again."""
        part = self._part(fault)
        parts = sorted({part, REDIS} if fault.target == RELAY else {part})
        async with AsyncExitStack() as stack:
            for name in parts:
                await stack.enter_async_context(self._locks[name])
            began_ns = now_ns()
            unpublished = 0
            if fault.target == RELAY:
                unpublished = await self._hit_relay(fault, part)
            else:
                await self._hit(fault, part)
            done = Done(fault.kind, part, began_ns, now_ns(), unpublished)
        self.done.append(done)
        with self._log.open("a") as log:
            log.write(json.dumps(done) + "\n")
        return done

    def _part(self, fault: Fault) -> str:
        if fault.target in (REDIS, POSTGRES):
            return fault.target
        service = "table" if fault.target == RELAY else fault.target
        return self._site.of(service)[fault.replica].name

    async def _hit(self, fault: Fault, part: str) -> None:
        process = self._site.process(part)
        if fault.action == STOP:
            await asyncio.to_thread(process.pause)
            await asyncio.sleep(fault.hold_ms / 1000)
            process.resume()
            await self._site.ready(part)
            return
        await asyncio.to_thread(process.kill if fault.action == KILL else process.end)
        await asyncio.sleep(fault.hold_ms / 1000)
        await self._bring_back(part)

    async def _hit_relay(self, fault: Fault, part: str) -> int:
        """The relay is the outbox inside the table service: it dies, hangs or ends while it holds what is committed
        and not yet on the event stream."""
        redis, table = self._site.process(REDIS), self._site.process(part)
        await asyncio.to_thread(redis.pause)
        try:
            unpublished = await self._await_unpublished()
            if fault.action == STOP:
                await asyncio.to_thread(table.pause)
            else:
                await asyncio.to_thread(table.kill if fault.action == KILL else table.end)
        finally:
            redis.resume()
        await asyncio.sleep(fault.hold_ms / 1000)
        if fault.action == STOP:
            table.resume()
            await self._site.ready(part)
        else:
            await self._bring_back(part)
        return unpublished

    async def _await_unpublished(self) -> int:
        before = self._acknowledged()
        loop = asyncio.get_running_loop()
        limit_s = loop.time() + _UNPUBLISHED_S
        while self._acknowledged() < before + _UNPUBLISHED and loop.time() < limit_s:
            await asyncio.sleep(0.01)
        return self._acknowledged() - before

    async def _bring_back(self, part: str) -> None:
        """Starts a part again, as often as it takes while other parts are away too."""
        for _ in range(_LAUNCHES):
            if not self._site.process(part).is_alive:
                self._site.launch(part)
            try:
                return await self._site.ready(part)
            except CommandError:
                if self._site.process(part).is_alive:
                    raise
        raise CommandError(f"{part} does not come back")
