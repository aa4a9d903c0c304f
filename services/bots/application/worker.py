"""Takes turns from the news, and now and then from the table service's own list, and has them played side by side."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass

from services.bots.application.instruments import Instruments
from services.bots.application.play_seat import PlaySeat
from services.bots.application.ports import Change, News, Tables, Turn
from services.bots.application.positions import Positions
from services.kit.ending import end_tasks
from services.kit.errors import ServiceError
from services.kit.logs import get_log

_log = get_log(__name__)
_REST_S = 1.0

#: a turn by what makes it one
Key = tuple[str, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """How much a replica does: turns at a time, and the time between two looks at the list of open turns."""

    max_turns: int = 256
    relist_ms: int = 5_000


class Worker:
    """One replica's work."""

    def __init__(
        self, tables: Tables, news: News, positions: Positions, play: PlaySeat, instruments: Instruments, load: Load
    ) -> None:
        self._tables = tables
        self._news = news
        self._positions = positions
        self._play = play
        self._instruments = instruments
        self._load = load
        self._room = asyncio.Semaphore(load.max_turns)
        self._in_work: dict[Key, asyncio.Task[None]] = {}
        self._endings: set[asyncio.Task[None]] = set()
        self._waiting = 0
        # Rounds through the list of open turns that are read without a pause: the first one, and after a loss.
        self._hasty_rounds = 1
        self._hurry = asyncio.Event()
        instruments.watch(backlog=lambda: self.backlog)

    @property
    def backlog(self) -> int:
        """Turns known and not yet played."""
        return self._waiting + len(self._in_work)

    async def run(self) -> None:
        """Works until it is cancelled; what has begun then is cancelled too, another replica takes it over."""
        # No task group: it would wait for ever for a child that lost its one cancellation.
        sources = [asyncio.create_task(self._follow()), asyncio.create_task(self._relist())]
        try:
            done, _ = await asyncio.wait(sources, return_when=asyncio.FIRST_COMPLETED)
            for source in done:
                source.result()
        finally:
            await end_tasks(sources)
            await end_tasks([*self._in_work.values(), *self._endings])

    async def _follow(self) -> None:
        while True:
            try:
                async for work in self._news.follow():
                    if work.is_incomplete:
                        self._hasty_rounds = 2
                        self._hurry.set()
                    await self._take(work.items, work.done)
                reason = "ended"
            except ServiceError as error:
                reason = error.reason
            _log.warning("news_lost", reason=reason)
            await asyncio.sleep(_REST_S)

    async def _take(self, items: Iterable[Turn | Change], done: Callable[[], Awaitable[None]]) -> None:
        begun: list[asyncio.Task[None]] = []
        # All changes first: a turn is played from the newest position.
        turns: list[Turn] = []
        for item in items:
            if isinstance(item, Change):
                self._positions.note(item)
            else:
                turns.append(item)
        for turn in turns:
            task = await self._begin(turn)
            if task is not None:
                begun.append(task)
        if not begun:
            await done()
            return
        ending = asyncio.create_task(_acknowledge(begun, done))
        self._endings.add(ending)
        ending.add_done_callback(self._endings.discard)

    async def _begin(self, turn: Turn) -> asyncio.Task[None] | None:
        """Has a turn played as soon as there is room; None if it is in work already."""
        key = (turn.table_id, turn.seat, turn.decision_id)
        if key in self._in_work:
            return None
        self._waiting += 1
        try:
            await self._room.acquire()
        finally:
            self._waiting -= 1
        task = asyncio.create_task(self._work_on(turn))
        self._in_work[key] = task
        task.add_done_callback(lambda _: self._end(key))
        return task

    def _end(self, key: Key) -> None:
        self._in_work.pop(key, None)
        self._room.release()

    async def _work_on(self, turn: Turn) -> None:
        try:
            await self._play.play(turn)
        except ServiceError as error:
            self._instruments.failures.add(1)
            _log.warning("turn_given_up", table=turn.table_id, seat=turn.seat, reason=error.reason)
        except Exception as error:
            self._instruments.failures.add(1)
            _log.exception("turn_failed", error, table=turn.table_id, seat=turn.seat, decision=turn.decision_id)

    async def _relist(self) -> None:
        """Reads the list of open turns round after round, a page at a time: it costs the same however many tables there
        are. Turns that stand in it twice in a row were lost on their way; at the start all of them are played."""
        seen: set[Key] | None = None
        while True:
            found: set[Key] = set()
            token = ""
            while True:
                try:
                    page = await self._tables.list_turns(token)
                except ServiceError as error:
                    _log.warning("list_failed", reason=error.reason)
                    await asyncio.sleep(_REST_S)
                    continue
                for turn in page.turns:
                    key = (turn.table_id, turn.seat, turn.decision_id)
                    found.add(key)
                    if seen is None or key in seen:
                        await self._begin(turn)
                token = page.next_page_token
                if not token:
                    break
                await self._rest()
            seen = found
            self._hasty_rounds = max(0, self._hasty_rounds - 1)
            await self._rest(is_round_over=True)

    async def _rest(self, *, is_round_over: bool = False) -> None:
        """Until the next look at the list; in haste only between two rounds, where turns get time to be played."""
        if self._hasty_rounds and not is_round_over:
            return
        self._hurry.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(self._load.relist_ms / 1000):
                await self._hurry.wait()


async def _acknowledge(begun: list[asyncio.Task[None]], done: Callable[[], Awaitable[None]]) -> None:
    """Says that the work is done when its turns have ended, however; not when they were cancelled."""
    await asyncio.wait(begun)
    if not any(task.cancelled() for task in begun):
        await done()
