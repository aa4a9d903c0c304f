"""Sends probes and moves play time by those that come back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from services.clock.application.ports import Probes
from services.clock.application.state import State
from services.clock.domain.play_time import NS_PER_MS, Instant
from services.clock.domain.shards import write_shards
from services.kit.errors import ServiceError
from services.kit.logs import get_log

_log = get_log(__name__)


class Prober:
    """One probe a period for all shards held, whatever became of those before, and two while play time stands still:
    what is playable again counts from the first that comes back. One more when a deadline is about to be due or one was
    lost.

    Probes may overlap: a slow site is playable, one that answers nothing is not. Shards whose lease has run out stand
    still until it is renewed, for somebody else may hold them: a probe that comes back has it renewed. `replica` makes
    the ids of probes its own.
    """

    def __init__(
        self,
        state: State,
        probes: Probes,
        *,
        replica: str,
        on_advance: Callable[[], None],
        on_outage: Callable[[], None],
        on_lapsed: Callable[[], None],
    ) -> None:
        self._state = state
        self._probes = probes
        self._replica = replica
        self._on_advance = on_advance
        self._on_outage = on_outage
        self._on_lapsed = on_lapsed
        self._next_number = 1
        self._tasks: set[asyncio.Task[None]] = set()
        self._lost_one = asyncio.Event()
        self._stands = False

    async def run(self) -> None:
        """Until it is cancelled."""
        try:
            while True:
                now = self._state.timepiece.now()
                self._tick(now)
                if self._state.shards:
                    self.send()
                await self._rest(now)
        finally:
            for task in self._tasks:
                task.cancel()

    def _tick(self, now: Instant) -> None:
        self._state.apply_holds(now)
        self._stands = False
        for band in self._state.bands:
            play_time = band.play_time
            ran = play_time.running
            ended = play_time.tick(now, lapsed=now.mono_ns >= band.leased_until_ns)
            if ended is not None:
                self._state.records.add([(band.shards, ended)])
            if ran and not play_time.running:
                _log.warning(
                    "play_time_stands",
                    cause=play_time.cause,
                    play_time_ms=play_time.play_time_ms,
                    shards=write_shards(band.shards),
                )
            self._stands = self._stands or not play_time.running
        if self._stands:
            # Also while it stands still, so that readers know that it does, and not that the clock is gone.
            self._state.publish(now)

    def send(self) -> None:
        """Sends a probe now."""
        task = asyncio.create_task(self._probe(f"{self._replica}-{self._next_number}", min(self._state.shards)))
        self._next_number += 1
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _probe(self, probe_id: str, shard: int) -> None:
        sent = self._state.timepiece.now()
        instruments = self._state.instruments
        try:
            with instruments.telemetry.root_span("clock.probe"):
                await self._probes.probe(probe_id, shard)
        except ServiceError as error:
            instruments.probes_lost.add(1)
            _log.debug("probe_lost", probe_id=probe_id, reason=error.reason)
            self._lost_one.set()
            return
        now = self._state.timepiece.now()
        instruments.probe_seconds.record((now.mono_ns - sent.mono_ns) / 1e9)
        self._returned(now)

    def _returned(self, now: Instant) -> None:
        leased = self._state.leased(now)
        ended = [
            (band.shards, stretch) for band in leased if (stretch := band.play_time.probe_returned(now)) is not None
        ]
        self._state.publish(now)
        if ended:
            self._state.records.add(ended)
            self._on_outage()
        self._on_advance()
        if len(leased) < len(self._state.bands):
            self._on_lapsed()

    async def _rest(self, sent: Instant) -> None:
        """Until the next probe has to leave."""
        pace = self._state.pace
        spacing_ns = pace.probe_spacing_ms * NS_PER_MS
        self._lost_one.clear()
        await asyncio.sleep(self._seconds_until(sent.mono_ns + spacing_ns))
        next_ns = sent.mono_ns + pace.probe_period_ms * NS_PER_MS // (2 if self._stands else 1)
        for shard in self._state.shards.values():
            due_ms = shard.deadlines.next_ms() if shard.deadlines else None
            due_ns = None if due_ms is None else shard.play_time.expected_ns(due_ms)
            if due_ns is not None:
                next_ns = min(next_ns, due_ns)
        with suppress(TimeoutError):
            async with asyncio.timeout(self._seconds_until(next_ns)):
                await self._lost_one.wait()

    def _seconds_until(self, mono_ns: int) -> float:
        return max(0.0, (mono_ns - self._state.timepiece.now().mono_ns) / 1e9)
