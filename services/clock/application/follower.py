"""Keeps the deadlines in force as the tables have committed them."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from services.clock.application.ports import Gap, InForce, Tables, Updates
from services.clock.application.state import State
from services.kit.errors import ServiceError
from services.kit.logs import get_log

_log = get_log(__name__)
_REST_S = 1.0


class Follower:
    """Arms from committed updates, and from the table service's own list whenever updates may have been lost.

    The list is also read now and then, since an update may be lost without a trace.
    """

    def __init__(self, state: State, tables: Tables, updates: Updates) -> None:
        self._state = state
        self._tables = tables
        self._updates = updates
        self._wanted = asyncio.Event()
        self.complete = asyncio.Event()

    def want_list(self) -> None:
        """Has the list read soon."""
        self._wanted.set()

    async def follow(self) -> None:
        """Arms what updates say, until it is cancelled."""
        while True:
            try:
                async for news in self._updates.follow():
                    self._take(news)
                reason = "ended"
            except ServiceError as error:
                reason = error.reason
            _log.warning("updates_lost", reason=reason)
            await asyncio.sleep(_REST_S)

    async def relist(self) -> None:
        """Reads the list whenever it is wanted, until it is cancelled."""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._state.pace.relist_ms / 1000):
                    await self._wanted.wait()
            self._wanted.clear()
            try:
                await self._read_list()
                self.complete.set()
            except ServiceError as error:
                _log.warning("list_failed", reason=error.reason)
                self._wanted.set()
            await asyncio.sleep(_REST_S)

    def _take(self, news: InForce | Gap) -> None:
        if isinstance(news, Gap):
            _log.info("updates_missing", reason=news.reason)
            self.want_list()
            return
        grace_ms = self._state.pace.grace_ms if news.grace_ms is None else news.grace_ms
        self._state.deadlines.arm(news.table_id, news.seq, news.deadlines, grace_ms)

    async def _read_list(self) -> None:
        deadlines, token = self._state.deadlines, ""
        deadlines.begin_round()
        while True:
            page = await self._tables.list_deadlines(token)
            for table in page.tables:
                self._take(table)
            token = page.next_page_token
            if not token:
                break
        gone = deadlines.end_round()
        _log.debug("list_read", armed=len(deadlines), gone=gone)
