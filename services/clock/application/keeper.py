"""Stores play time as it advances."""

from __future__ import annotations

import asyncio

from services.clock.application.ports import Store
from services.clock.application.state import State
from services.clock.domain.play_time import Checkpoint
from services.kit.errors import ServiceError
from services.kit.logs import get_log

_log = get_log(__name__)
_LAST_SAVE_S = 2.0


class Keeper:
    """Writes a checkpoint now and then, only when something changed, with the outages that ended since."""

    def __init__(self, state: State, store: Store) -> None:
        self._state = state
        self._store = store
        self._saved: Checkpoint | None = None
        self._failing = False

    async def run(self) -> None:
        """Until it is cancelled. Raises FencedError when another clock has taken over."""
        while True:
            await asyncio.sleep(self._state.pace.checkpoint_ms / 1000)
            await self.save()

    async def save_last(self) -> None:
        """Once more before the end, as far as the store answers in a short time. Raises FencedError."""
        try:
            async with asyncio.timeout(_LAST_SAVE_S):
                await self.save()
        except TimeoutError:
            _log.warning("last_checkpoint_lost")

    async def save(self) -> None:
        """Stores what there is; a failure is logged and made good by the next time. Raises FencedError."""
        play_time = self._state.play_time
        checkpoint = play_time.checkpoint(self._state.timepiece.now())
        ended = tuple(self._state.unsaved)
        if not ended and self._saved is not None and checkpoint.play_time_ms == self._saved.play_time_ms:
            return
        try:
            await self._store.save(epoch=play_time.epoch, checkpoint=checkpoint, ended=ended)
        except ServiceError as error:
            if not self._failing:
                _log.warning("checkpoint_failed", reason=error.reason, why=error.message)
            self._failing = True
            return
        self._failing = False
        self._saved = checkpoint
        del self._state.unsaved[: len(ended)]
