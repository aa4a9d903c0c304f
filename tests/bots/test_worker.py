"""How a replica reads the table service's list of open turns."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from services.bots.application.instruments import Instruments
from services.bots.application.ports import Turn, TurnPage, Work
from services.bots.application.worker import Load, Worker
from services.kit.telemetry import Telemetry

PAGES = 3


class Listed:
    """A list of three pages with one turn each; what is asked of it and what is played."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.played: list[str] = []

    async def list_turns(self, page_token: str) -> TurnPage:
        self.asked.append(page_token)
        number = int(page_token or 0)
        following = str(number + 1) if number + 1 < PAGES else ""
        return TurnPage((Turn(f"t{number}", 0, "normal", 1, 1),), following)

    async def play(self, turn: Turn) -> None:
        self.played.append(turn.table_id)


class LostNews:
    """News of which a part is lost when `lose` is set."""

    def __init__(self) -> None:
        self.lose = asyncio.Event()

    async def follow(self) -> AsyncIterator[Work]:
        await self.lose.wait()
        yield Work((), self._done, is_incomplete=True)
        await asyncio.Event().wait()

    async def _done(self) -> None:
        return None


def _worker(listed: Any, news: Any, relist_ms: int) -> Worker:
    positions: Any = None
    instruments = Instruments(Telemetry.off())
    return Worker(listed, news, positions, listed, instruments, Load(relist_ms=relist_ms))


async def _until(listed: Listed, pages: int) -> None:
    async with asyncio.timeout(5):
        while len(listed.asked) < pages:
            await asyncio.sleep(0.005)
    # Whatever else would be asked without a pause is asked by now.
    for _ in range(20):
        await asyncio.sleep(0)


async def test_the_list_is_read_at_once_only_at_the_start_and_after_a_loss() -> None:
    """IND-BOT-09: a lost turn is played, and looking for lost ones costs the same however many tables there are."""
    listed, news = Listed(), LostNews()
    worker = _worker(listed, news, relist_ms=3_600_000)
    running = asyncio.create_task(worker.run())
    await _until(listed, PAGES)
    assert (listed.asked, listed.played) == (["", "1", "2"], ["t0", "t1", "t2"])
    news.lose.set()
    await _until(listed, 2 * PAGES)
    assert (listed.asked[PAGES:], listed.played[PAGES:]) == (["", "1", "2"], ["t0", "t1", "t2"])
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def test_between_two_pages_a_replica_rests() -> None:
    listed = Listed()
    worker = _worker(listed, LostNews(), relist_ms=40)
    running = asyncio.create_task(worker.run())
    begun_s = asyncio.get_running_loop().time()
    async with asyncio.timeout(10):
        while len(listed.asked) < 3 * PAGES:
            await asyncio.sleep(0.001)
    # Three pages in haste, then a rest before each of the six.
    assert asyncio.get_running_loop().time() - begun_s >= 6 * 0.04
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
