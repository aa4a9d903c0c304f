"""A replica of the clock: takes its share of the shards and moves their play time until it is stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Coroutine
from typing import Any

from services.clock.application.firer import Firer
from services.clock.application.follower import Follower
from services.clock.application.holding import Holding
from services.clock.application.instruments import Instruments
from services.clock.application.keeper import Keeper
from services.clock.application.ports import Leases, Outage, Outages, Probes, Tables, Timepiece, Updates
from services.clock.application.prober import Prober
from services.clock.application.readings import Readings, Told
from services.clock.application.records import Records
from services.clock.application.state import Pace, State
from services.clock.domain.deadlines import Left


class Clock:
    """One actor: everything that moves time or fires happens in the tasks of its `run`, in one event loop."""

    def __init__(
        self,
        *,
        replica: str,
        pace: Pace,
        timepiece: Timepiece,
        leases: Leases,
        outages: Outages,
        tables: Tables,
        probes: Probes,
        updates: Updates,
        instruments: Instruments,
    ) -> None:
        self._outages = outages
        self.readings = Readings()
        self._state = state = State(
            pace=pace,
            timepiece=timepiece,
            readings=self.readings,
            records=Records(instruments),
            instruments=instruments,
        )
        self._follower = Follower(state, tables, updates)
        self._holding = Holding(state, leases, on_change=self._shards_changed)
        self._keeper = Keeper(state, leases, on_lost=self._holding.lost, on_renewed=self._renewed)
        self._firer = Firer(state, tables)
        self._prober = Prober(
            state,
            probes,
            replica=replica,
            on_advance=self._advanced,
            on_outage=self._follower.doubt,
            on_lapsed=self._keeper.lapsed,
        )
        instruments.watch(
            armed=state.armed,
            play_time_ms=lambda: max((band.play_time.play_time_ms for band in state.bands), default=0),
            held=lambda: len(state.shards),
            standing=lambda: sum(len(band.shards) for band in state.bands if not band.play_time.running),
        )

    async def run(self) -> None:
        """Until it is cancelled; then its shards are free at once."""
        try:
            await _all(
                self._follower.follow(),
                self._follower.relist(),
                self._prober.run(),
                self._keeper.run(),
                self._holding.run(),
            )
        finally:
            self._firer.close()
            await self._keeper.save_last()
            await self._holding.leave()

    def takes_part(self) -> bool:
        """Whether this replica is counted when the shards are shared, though there may be none left for it."""
        return self._holding.takes_part()

    def held(self) -> frozenset[int]:
        """The shards that this replica holds."""
        return frozenset(self._state.shards)

    def read(self, shard: int) -> Told | None:
        """Play time of a shard now; None while this replica does not hold it."""
        return None if shard not in self._state.shards else self._state.told(shard, self._state.timepiece.now())

    def left(self, table_id: str) -> tuple[Told, list[Left]] | None:
        """Play time left of the deadlines of a table, at a reading of its shard; None if none of it is known here."""
        now = self._state.timepiece.now()
        for number, shard in self._state.shards.items():
            told = self._state.told(number, now)
            left = shard.deadlines.left(table_id, told.reading.play_time_ms)
            if left:
                return told, left
        return None

    async def list_outages(self, *, before_id: int | None, limit: int) -> list[Outage]:
        """Outages of all shards, newest first, those that last before all others."""
        return await self._outages.list_outages(before_id=before_id, limit=limit)

    def tell(self) -> None:
        """Tells all who watch the readings where play time is now: the last ones told may be a period old."""
        self._state.publish(self._state.timepiece.now())

    def _shards_changed(self, added: Collection[int]) -> None:
        self._follower.shards_changed(added)
        if added:
            # Until a probe comes back nothing of them counts.
            self._prober.send()

    def _renewed(self) -> None:
        if self._state.shards:
            # What came back meanwhile did not count.
            self._prober.send()

    def _advanced(self) -> None:
        self._firer.fire_due()
        self._keeper.advanced()
        self._holding.counted()


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
