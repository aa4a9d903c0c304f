"""The newest readings of play time, for all who watch them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any

from services.clock.application.ports import Hold
from services.clock.domain.play_time import Reading


@dataclass(frozen=True, slots=True)
class Told:
    """The reading of some shards, with the hold that lasts or comes next for them, and the store's Unix time. The hold
    ends when the last one does of those that follow it without a break."""

    shards: frozenset[int]
    reading: Reading
    hold: Hold | None = None
    unix_ms: int = 0


class Readings:
    """Watchers get the newest readings of all shards held whenever there are some; a slow one skips those between."""

    def __init__(self) -> None:
        self._latest: tuple[Told, ...] = ()
        # Comes true with the next ones; None while nobody waits.
        self._next: asyncio.Future[None] | None = None

    def publish(self, told: tuple[Told, ...]) -> None:
        """Tells them to all watchers."""
        self._latest = told
        if self._next is not None:
            self._next.set_result(None)
            self._next = None

    async def watch(self, *, until: asyncio.Event) -> AsyncGenerator[tuple[Told, ...], None]:
        """The newest readings, then every newer ones, until the event is set."""
        seen: tuple[Told, ...] = ()
        over = asyncio.create_task(until.wait())
        try:
            while not until.is_set():
                latest = self._latest
                if latest and latest is not seen:
                    seen = latest
                    yield latest
                else:
                    either: list[asyncio.Future[Any]] = [self._newer(), over]
                    await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        finally:
            over.cancel()

    def _newer(self) -> asyncio.Future[None]:
        if self._next is None:
            self._next = asyncio.get_running_loop().create_future()
        return self._next
