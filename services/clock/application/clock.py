"""The clock of all shards that share a database: takes them over, and runs until it is stopped or fenced."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from services.clock.application.firer import Firer
from services.clock.application.follower import Follower
from services.clock.application.instruments import Instruments
from services.clock.application.keeper import Keeper
from services.clock.application.ports import FencedError, Held, Lease, Probes, Store, Tables, Timepiece, Updates
from services.clock.application.prober import Prober
from services.clock.application.readings import Readings
from services.clock.application.state import Pace, State
from services.clock.domain.deadlines import Deadlines, Left
from services.clock.domain.play_time import Outage, PlayTime, Reading, Rhythm
from services.kit.errors import ServiceError
from services.kit.logs import get_log

_log = get_log(__name__)
_TAKE_OVER_REST_S = 0.5


class Clock:
    """One actor: everything that moves time or fires happens in the tasks of its `run`, in one event loop."""

    def __init__(
        self,
        *,
        pace: Pace,
        timepiece: Timepiece,
        lease: Lease,
        store: Store,
        tables: Tables,
        probes: Probes,
        updates: Updates,
        instruments: Instruments,
    ) -> None:
        self._pace = pace
        self._timepiece = timepiece
        self._lease = lease
        self._store = store
        self._tables = tables
        self._probes = probes
        self._updates = updates
        self._instruments = instruments
        self._state: State | None = None
        self.readings = Readings()
        instruments.watch(
            armed=lambda: len(self._state.deadlines) if self._state else 0,
            play_time_ms=lambda: self._state.play_time.play_time_ms if self._state else 0,
            running=lambda: self._state is not None and self._state.play_time.running,
        )

    @property
    def holds(self) -> bool:
        """Whether this clock holds the shards, so that its readings mean something."""
        return self._state is not None

    async def run(self) -> None:
        """Until it is cancelled, or another clock has taken over (then it returns and holds nothing)."""
        held = await self._take_over()
        state = self._begin(held)
        keeper = Keeper(state, self._store)
        firer = Firer(state, self._tables)
        follower = Follower(state, self._tables, self._updates)
        prober = Prober(state, self._probes, on_advance=firer.fire_due, on_outage=follower.want_list)
        try:
            await _all(follower.follow(), follower.relist(), prober.run(), keeper.run())
        except FencedError:
            _log.error("fenced", epoch=held.epoch)
        finally:
            firer.close()
            self._state = None
            self.readings.close()
            try:
                await keeper.save_last()
            except FencedError:
                _log.info("left_to_another", epoch=held.epoch)

    def read(self) -> Reading | None:
        """Play time now; None while this clock does not hold the shards."""
        return None if self._state is None else self._state.read()

    def left(self, table_id: str) -> list[Left]:
        """Play time left of the deadlines of a table."""
        state = self._state
        return [] if state is None else state.deadlines.left(table_id, state.read().play_time_ms)

    async def list_outages(self, *, before_id: int | None, limit: int) -> list[Outage]:
        """Outages, newest first, the one that lasts included."""
        newest: list[Outage] = []
        if self._state is not None:
            newest = list(self._state.unsaved)
            if self._state.play_time.open_outage is not None:
                newest.append(self._state.play_time.open_outage)
        found = {item.outage_id: item for item in await self._store.list_outages(before_id=before_id, limit=limit)}
        found.update({item.outage_id: item for item in newest if before_id is None or item.outage_id < before_id})
        return [found[outage_id] for outage_id in sorted(found, reverse=True)][:limit]

    async def _take_over(self) -> Held:
        while True:
            try:
                held = await self._lease.take_over()
            except ServiceError as error:
                _log.warning("take_over_failed", reason=error.reason, why=error.message)
                await asyncio.sleep(_TAKE_OVER_REST_S)
            else:
                _log.info("taken_over", epoch=held.epoch, play_time_ms=held.checkpoint.play_time_ms)
                return held

    def _begin(self, held: Held) -> State:
        pace = self._pace
        rhythm = Rhythm(period_ms=pace.probe_period_ms, longest_gap_ms=pace.longest_gap_ms)
        now = self._timepiece.now()
        self._state = State(
            pace=pace,
            timepiece=self._timepiece,
            play_time=PlayTime(epoch=held.epoch, start=held.checkpoint, rhythm=rhythm, now=now),
            deadlines=Deadlines(retry_ms=pace.retry_ms),
            readings=self.readings,
            instruments=self._instruments,
        )
        self.readings.publish(self._state.play_time.read(now))
        return self._state


async def _all(*parts: Coroutine[Any, Any, None]) -> None:
    """Runs the parts side by side; the first that ends, by whatever, ends all."""
    tasks = [asyncio.create_task(part) for part in parts]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
