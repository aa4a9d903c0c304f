"""Ends deadlines whose time is up."""

from __future__ import annotations

import asyncio

from services.clock.application.ports import Expiry, Tables
from services.clock.application.state import Shard, State
from services.clock.domain.deadlines import Due
from services.kit.errors import ServiceError
from services.kit.logs import get_log

_log = get_log(__name__)
_NOT_DUE_TRIES = 5


class Firer:
    """Tells tables which of their deadlines are over, a bounded number at a time.

    What a table did not answer stays in force here and is told again later; what it calls stale is dropped. The
    table alone decides, so that telling twice, or by two clocks, has effect once.
    """

    def __init__(self, state: State, tables: Tables) -> None:
        self._state = state
        self._tables = tables
        self._in_flight: dict[tuple[str, int], asyncio.Task[None]] = {}
        self._more_waits = False

    def fire_due(self) -> None:
        """Begins to end what is due by now; to be called whenever play time has advanced."""
        leased = set(self._state.leased(self._state.timepiece.now()))
        for shard in list(self._state.shards.values()):
            if shard.band not in leased:
                continue
            room = self._state.pace.max_in_flight - len(self._in_flight)
            if room <= 0:
                break
            for due in shard.deadlines.take_due(shard.play_time.play_time_ms, room):
                key = (due.table_id, due.deadline_id)
                if key not in self._in_flight:
                    self._in_flight[key] = asyncio.create_task(self._run(key, shard, due))
        self._more_waits = len(self._in_flight) >= self._state.pace.max_in_flight

    def close(self) -> None:
        """Gives up what is on its way; whoever comes next tells it again."""
        for task in self._in_flight.values():
            task.cancel()

    async def _run(self, key: tuple[str, int], shard: Shard, due: Due) -> None:
        try:
            with self._state.instruments.telemetry.root_span("clock.expire"):
                await self._expire(shard, due)
        finally:
            del self._in_flight[key]
        if self._more_waits:
            self.fire_due()

    async def _expire(self, shard: Shard, due: Due) -> None:
        expiries = self._state.instruments.expiries
        for _ in range(_NOT_DUE_TRIES):
            try:
                outcome = await self._tables.expire(due.table_id, due.deadline_id)
            except ServiceError as error:
                expiries.add(1, {"outcome": "failed"})
                _log.warning("expire_failed", table_id=due.table_id, deadline_id=due.deadline_id, reason=error.reason)
                return
            expiries.add(1, {"outcome": outcome.value})
            if outcome is not Expiry.NOT_DUE:
                self._settle(shard, due, outcome)
                return
            # The table has not got the newest reading yet.
            await asyncio.sleep(self._state.pace.not_due_wait_ms / 1000)

    def _settle(self, shard: Shard, due: Due, outcome: Expiry) -> None:
        shard.deadlines.drop(due.table_id, due.deadline_id)
        if outcome is Expiry.DONE:
            late_ms = shard.play_time.read(self._state.timepiece.now()).play_time_ms - due.due_ms
            self._state.instruments.late_ms.record(late_ms)
            _log.info("deadline_fired", table_id=due.table_id, deadline_id=due.deadline_id, late_ms=late_ms)
