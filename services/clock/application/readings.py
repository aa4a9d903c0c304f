"""The newest reading of play time, for all who watch it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from services.clock.domain.play_time import Reading


class Readings:
    """Watchers get the newest reading whenever there is one; a slow one skips those in between."""

    def __init__(self) -> None:
        self._latest: Reading | None = None
        self._changed = asyncio.Event()
        self._closings = 0

    def publish(self, reading: Reading) -> None:
        """Tells it to all watchers."""
        self._latest = reading
        self._wake()

    def close(self) -> None:
        """Ends all watches of now: this clock no longer holds the shards. A later watch waits for new readings."""
        self._latest = None
        self._closings += 1
        self._wake()

    async def watch(self, *, until: asyncio.Event) -> AsyncGenerator[Reading, None]:
        """The newest reading, then every newer one, until the event is set or the readings end."""
        seen: Reading | None = None
        closings = self._closings
        while closings == self._closings and not until.is_set():
            latest = self._latest
            if latest is not None and latest is not seen:
                seen = latest
                yield latest
            else:
                await _either(self._changed, until)

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


async def _either(first: asyncio.Event, second: asyncio.Event) -> None:
    waiting = [asyncio.create_task(first.wait()), asyncio.create_task(second.wait())]
    try:
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in waiting:
            task.cancel()
