"""Stores play time as it advances, and so renews the leases."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from contextlib import suppress

from services.clock.application.ports import Leases
from services.clock.application.state import State
from services.clock.domain.play_time import NS_PER_MS
from services.kit.errors import ServiceError
from services.kit.logs import get_log

_log = get_log(__name__)
_LAST_SAVE_S = 2.0


class Keeper:
    """Writes checkpoints of all shards held at once: whenever play time has advanced, and now and then while it stands.
    `on_lost` is told the shards that others have taken, `on_renewed` that some count again which had not."""

    def __init__(
        self,
        state: State,
        leases: Leases,
        *,
        on_lost: Callable[[Collection[int]], None],
        on_renewed: Callable[[], None],
    ) -> None:
        self._state = state
        self._leases = leases
        self._on_lost = on_lost
        self._on_renewed = on_renewed
        self._advanced = asyncio.Event()
        self._lapsed = asyncio.Event()
        self._failing = False

    def advanced(self) -> None:
        """There is something to store."""
        self._advanced.set()

    def lapsed(self) -> None:
        """Nothing but a lease that has run out keeps play time from advancing: it is renewed at once."""
        self._lapsed.set()
        self._advanced.set()

    async def run(self) -> None:
        """Until it is cancelled."""
        pace = self._state.pace
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(pace.renew_ms / 1000):
                    await self._advanced.wait()
            self._advanced.clear()
            self._lapsed.clear()
            await self.save()
            with suppress(TimeoutError):
                async with asyncio.timeout(pace.checkpoint_ms / 1000):
                    await self._lapsed.wait()

    async def save_last(self) -> None:
        """Once more before the end, as far as the store answers in a short time."""
        try:
            async with asyncio.timeout(_LAST_SAVE_S):
                await self.save()
        except TimeoutError:
            _log.warning("last_checkpoint_lost")

    async def save(self) -> None:
        """Stores what there is; a failure is logged and made good by the next time."""
        asked = self._state.timepiece.now()
        kept = [band.kept(asked) for band in self._state.bands]
        ended = tuple(self._state.records.unsaved)
        if not kept and not ended:
            return
        try:
            still_held = await self._leases.save(kept, ended)
        except ServiceError as error:
            if not self._failing:
                _log.warning("checkpoint_failed", reason=error.reason, why=error.message)
            self._failing = True
            return
        self._failing = False
        del self._state.records.unsaved[: len(ended)]
        leased_before = self._state.leased(self._state.timepiece.now())
        lease_end_ns = asked.mono_ns + self._state.pace.fresh_ms * NS_PER_MS
        saved = {(number, item.epoch) for item in kept for number in item.shards}
        for band in self._state.bands:
            if all(number in still_held and (number, band.play_time.epoch) in saved for number in band.shards):
                band.leased_until_ns = max(band.leased_until_ns, lease_end_ns)
        lost = [
            number
            for number, epoch in saved
            if number not in still_held
            and number in self._state.shards
            and self._state.shards[number].play_time.epoch == epoch
        ]
        if lost:
            self._on_lost(lost)
        if len(self._state.leased(self._state.timepiece.now())) > len(leased_before):
            self._on_renewed()
