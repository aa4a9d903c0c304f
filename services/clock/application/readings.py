"""The newest readings of play time, for all who watch them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from services.clock.application.ports import Hold
from services.clock.domain.play_time import Reading


@dataclass(frozen=True, slots=True)
class Told:
    """The reading of some shards, with the hold that lasts or comes next for them, and the store's Unix time."""

    shards: frozenset[int]
    reading: Reading
    hold: Hold | None = None
    unix_ms: int = 0


class Readings:
    """Watchers get the newest readings of all shards held whenever there are some; a slow one skips those between."""

    def __init__(self) -> None:
        self._latest: tuple[Told, ...] = ()
        self._changed = asyncio.Event()

    def publish(self, told: tuple[Told, ...]) -> None:
        """Tells them to all watchers."""
        self._latest = told
        self._changed.set()
        self._changed = asyncio.Event()

    async def watch(self, *, until: asyncio.Event) -> AsyncGenerator[tuple[Told, ...], None]:
        """The newest readings, then every newer ones, until the event is set."""
        seen: tuple[Told, ...] = ()
        while not until.is_set():
            latest = self._latest
            if latest and latest is not seen:
                seen = latest
                yield latest
            else:
                await _either(self._changed, until)


async def _either(first: asyncio.Event, second: asyncio.Event) -> None:
    waiting = [asyncio.create_task(first.wait()), asyncio.create_task(second.wait())]
    try:
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in waiting:
            task.cancel()
