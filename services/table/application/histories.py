"""A store that is restored from a backup holds another history: what was known of the one before is not true any more.

Whoever restores a store stops all replicas first. This is for one that was forgotten: it must not mix the two.
"""

from __future__ import annotations

import asyncio
from typing import Protocol

from services.kit.errors import ServiceError
from services.kit.logs import get_log
from services.table.application.ports import Store

_log = get_log(__name__)
_EVERY_S = 1.0


class Remembers(Protocol):
    """A part that keeps something of the store in memory."""

    def forget_all(self) -> None: ...


class Histories:
    """Looks every second which history the store holds, and lets all parts forget when it is another one."""

    def __init__(self, store: Store, *parts: Remembers) -> None:
        self._store = store
        self._parts = parts

    async def run(self) -> None:
        """For ever; for one background task."""
        while True:
            await asyncio.sleep(_EVERY_S)
            try:
                await self.check()
            except ServiceError as error:
                _log.warning("history_unknown", reason=error.reason)

    async def check(self) -> None:
        """Looks once."""
        if await self._store.check_history():
            _log.warning("history_changed", history_id=self._store.history_id)
            for part in self._parts:
                part.forget_all()
