"""Keeps the deadlines in force as the tables have committed them."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from contextlib import aclosing

from services.clock.application.ports import Gap, InForce, Tables, Updates
from services.clock.application.state import State
from services.kit.errors import ServiceError
from services.kit.logs import get_log

_log = get_log(__name__)
_REST_S = 1.0


class Follower:
    """Arms from committed updates of the shards held, and from the table service's own list whenever updates may have
    been lost.

    The list is also read now and then, since an update may be lost without a trace.
    """

    def __init__(self, state: State, tables: Tables, updates: Updates) -> None:
        self._state = state
        self._tables = tables
        self._updates = updates
        self._changed = asyncio.Event()
        self._wanted = asyncio.Event()
        self._unread: set[int] = set()
        self._unheard: set[int] = set()

    def want_list(self, shards: Collection[int] | None = None) -> None:
        """Has the list of these shards (None: of all) read soon."""
        self._unread.update(self._state.shards if shards is None else shards)
        self._wanted.set()

    def shards_changed(self, added: Collection[int]) -> None:
        """Other shards are held now; these were not before, or not without a break."""
        self._unheard.update(added)
        self._changed.set()

    async def follow(self) -> None:
        """Arms what updates say, until it is cancelled."""
        hearing: asyncio.Task[None] | None = None
        try:
            while True:
                self._changed.clear()
                hearing = self._hear_others(hearing)
                changed = asyncio.create_task(self._changed.wait())
                await asyncio.wait([changed, *([hearing] if hearing else [])], return_when=asyncio.FIRST_COMPLETED)
                changed.cancel()
                if hearing is not None and hearing.done():
                    hearing.result()
        finally:
            if hearing is not None:
                hearing.cancel()

    async def relist(self) -> None:
        """Reads the list whenever it is wanted, until it is cancelled."""
        while True:
            try:
                async with asyncio.timeout(self._state.pace.relist_ms / 1000):
                    await self._wanted.wait()
            except TimeoutError:
                self._unread.update(self._state.shards)
            self._wanted.clear()
            shards, self._unread = self._unread, set()
            try:
                await self._read_list(shards)
            except ServiceError as error:
                _log.warning("list_failed", reason=error.reason)
                self.want_list(shards)
            await asyncio.sleep(_REST_S)

    def _hear_others(self, before: asyncio.Task[None] | None) -> asyncio.Task[None] | None:
        shards = frozenset(self._state.shards)
        if not shards:
            if before is not None:
                before.cancel()
            return None
        return asyncio.create_task(self._hear(shards, before))

    async def _hear(self, shards: frozenset[int], before: asyncio.Task[None] | None) -> None:
        """Takes what updates say. The subscription before ends once this one stands, so that nothing falls between."""
        try:
            while True:
                try:
                    async with aclosing(self._updates.follow(shards)) as updates:
                        async for news in updates:
                            if before is not None:
                                before.cancel()
                                before = None
                            self._hear_one(news, shards)
                    reason = "ended"
                except ServiceError as error:
                    reason = error.reason
                _log.warning("updates_lost", reason=reason)
                self._unheard.update(shards)
                await asyncio.sleep(_REST_S)
        finally:
            if before is not None:
                before.cancel()

    def _hear_one(self, news: InForce | Gap, shards: frozenset[int]) -> None:
        if isinstance(news, InForce):
            self._arm(news)
            return
        missing = self._unheard & shards if news.shard is None else {news.shard}
        self._unheard -= missing
        if missing:
            _log.info("updates_missing", reason=news.reason, shards=len(missing))
            self.want_list(missing)

    def _arm(self, news: InForce) -> None:
        shard = self._state.shards.get(news.shard)
        if shard is not None:
            grace_ms = self._state.pace.grace_ms if news.grace_ms is None else news.grace_ms
            shard.deadlines.arm(news.table_id, news.seq, news.deadlines, grace_ms)

    async def _read_list(self, wanted: Collection[int]) -> None:
        shards = {number: self._state.shards[number] for number in wanted if number in self._state.shards}
        if not shards:
            return
        for shard in shards.values():
            shard.deadlines.begin_round()
        token = ""
        while True:
            page = await self._tables.list_deadlines(sorted(shards), token)
            for table in page.tables:
                self._arm(table)
            token = page.next_page_token
            if not token:
                break
        # One that was lost and taken again meanwhile is a new object, whose own list is still to come.
        gone = sum(shard.deadlines.end_round() for shard in shards.values())
        _log.debug("list_read", armed=self._state.armed(), gone=gone)
