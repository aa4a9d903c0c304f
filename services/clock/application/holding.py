"""Takes part in sharing the shards: takes its share of them, gives back what is more, and drops what it has lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress

from services.clock.application.ports import Kept, Leases, Taken
from services.clock.application.state import Band, State
from services.clock.domain.play_time import NS_PER_MS, Instant, PlayTime, Rhythm
from services.clock.domain.shards import write_shards
from services.kit.errors import ServiceError
from services.kit.logs import get_log

_log = get_log(__name__)
_LEAVE_S = 2.0
_STEP_MS = 1_000
_RENEWED_MS = 1_200
# So long play time has to run before shards are given back: to hand them over at the end of an outage would prolong it.
_STEADY_MS = 2_000


class Holding:
    """`on_change` is told the shards that were added (some may have gone besides)."""

    def __init__(self, state: State, leases: Leases, *, on_change: Callable[[Collection[int]], None]) -> None:
        self._state = state
        self._leases = leases
        self._on_change = on_change
        self._failing = False
        self._counted_until_ns = 0
        self._sure_from_ns: int | None = None
        self._unsteady_ns = state.timepiece.now().mono_ns
        self._counted = asyncio.Event()

    def takes_part(self) -> bool:
        """Whether the store knows that this replica lives, so that others leave its share to it."""
        return self._state.timepiece.now().mono_ns < self._counted_until_ns

    async def run(self) -> None:
        """Looks again and again, until it is cancelled."""
        while True:
            await self.look()
            await asyncio.sleep(self._state.pace.look_ms / 1000)

    async def look(self) -> None:
        """Takes and gives back once; a failure is logged and made good by the next time."""
        asked = self._state.timepiece.now()
        try:
            look = await self._leases.look(frozenset(self._state.shards), self._expected_unix_ms(asked))
            if self._failing:
                _log.info("store_is_back")
            self._failing = False
        except ServiceError as error:
            if not self._failing:
                _log.warning("look_failed", reason=error.reason, why=error.message)
            self._failing = True
            self._unsteady_ns = asked.mono_ns
            return
        now = self._state.timepiece.now()
        self._counted_until_ns = asked.mono_ns + self._state.pace.lease_ms * NS_PER_MS
        if abs(look.unix_ms - self._state.records.clock_at(now.mono_ns)) > _STEP_MS:
            # Or this is the first look: whoever lives renews his leases by the clock as it is, before one is over.
            self._sure_from_ns = now.mono_ns + _RENEWED_MS * NS_PER_MS
        self._state.records.set_clock(unix_ms=look.unix_ms, mono_ns=now.mono_ns)
        self._state.holds = look.holds
        self._adopt(look.taken, asked, now)
        if not all(band.play_time.running for band in self._state.bands):
            self._unsteady_ns = now.mono_ns
        if now.mono_ns - self._unsteady_ns >= _STEADY_MS * NS_PER_MS:
            await self._give_back(look.share)

    def counted(self) -> None:
        """A probe has come back: all that passed up to now is counted."""
        self._counted.set()

    def lost(self, numbers: Collection[int]) -> None:
        """Others hold these shards now."""
        self._state.take_out(numbers)
        _log.error("fenced", shards=write_shards(numbers))
        self._on_change(())

    async def leave(self) -> None:
        """Gives everything back, as far as the store answers in a short time."""
        kept = self._take_out(self._state.shards)
        self._counted_until_ns = 0
        with suppress(ServiceError, TimeoutError):
            async with asyncio.timeout(_LEAVE_S):
                await self._leases.give_back(kept)
                await self._leases.leave()
                return
        _log.warning("left_without_saying")

    def _adopt(self, taken: Sequence[Taken], asked: Instant, now: Instant) -> None:
        if not taken:
            return
        pace = self._state.pace
        rhythm = Rhythm(period_ms=pace.probe_period_ms, longest_gap_ms=pace.longest_gap_ms)
        for item in taken:
            self._state.add(
                Band(
                    play_time=PlayTime(epoch=item.epoch, start=item.start, rhythm=rhythm, now=now),
                    leased_until_ns=asked.mono_ns + pace.fresh_ms * NS_PER_MS,
                    shards=frozenset(item.shards),
                )
            )
        numbers = [number for item in taken for number in item.shards]
        _log.info("shards_taken", shards=write_shards(numbers), held=len(self._state.shards))
        self._on_change(numbers)
        self._state.apply_holds(now)
        self._state.publish(now)

    async def _give_back(self, share: int) -> None:
        if len(self._state.shards) <= share:
            return
        # What passes between the last probe here and the first one of who takes over does not count.
        self._counted.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(self._state.pace.longest_gap_ms / 1000):
                await self._counted.wait()
        surplus = sorted(self._state.shards)[share:]
        if not (surplus and self._counted.is_set()):
            return
        kept = self._take_out(surplus)
        self._on_change(())
        try:
            await self._leases.give_back(kept)
            _log.info("shards_given_back", shards=write_shards(surplus), held=len(self._state.shards))
        except ServiceError as error:
            # Nobody renews their leases any more, so that others have them soon all the same.
            _log.warning("give_back_failed", shards=write_shards(surplus), reason=error.reason)

    def _take_out(self, numbers: Collection[int]) -> list[Kept]:
        now = self._state.timepiece.now()
        return [band.kept(now) for band in self._state.take_out(tuple(numbers))]

    def _expected_unix_ms(self, now: Instant) -> int | None:
        """What the store's clock should show; None while it is not sure, or was set a moment ago."""
        if self._sure_from_ns is None or now.mono_ns < self._sure_from_ns:
            return None
        return self._state.records.clock_at(now.mono_ns)
