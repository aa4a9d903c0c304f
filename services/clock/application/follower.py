"""Keeps the deadlines in force as the tables have committed them."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from contextlib import aclosing, suppress

from services.clock.application.ports import Gap, InForce, Tables, Updates
from services.clock.application.state import State
from services.kit.errors import ServiceError
from services.kit.logs import get_log

_log = get_log(__name__)
_REST_S = 1.0
# Between two pages of a list that is not urgent.
_LEISURE_S = 0.5
# So long the subscription before is still heard beside a new one: what reached it is perhaps not read yet.
_OVERLAP_S = 1.0


class Follower:
    """Arms from committed updates of the shards held, and from the table service's own list whenever updates may have
    been lost.

    An update may also be lost without a trace. Therefore the list is read over and over, shard after shard, and that
    of all shards after an outage: at leisure, so that it costs the same however many tables there are.
    """

    def __init__(self, state: State, tables: Tables, updates: Updates) -> None:
        self._state = state
        self._tables = tables
        self._updates = updates
        self._changed = asyncio.Event()
        self._wanted = asyncio.Event()
        self._unread: set[int] = set()
        self._doubtful: set[int] = set()
        self._reviewed = -1
        self._unheard: set[int] = set()
        self._retired: set[asyncio.Task[None]] = set()

    def want_list(self, shards: Collection[int]) -> None:
        """Has the list of these shards read at once: of some of their tables nothing may be known."""
        self._unread.update(shards)
        self._wanted.set()

    def doubt(self) -> None:
        """Has the list of all shards read at leisure."""
        self._doubtful.update(self._state.shards)
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
            for task in [*self._retired, *([hearing] if hearing else [])]:
                task.cancel()

    async def relist(self) -> None:
        """Reads the list of what is wanted or in doubt, else of one shard after the other, until it is cancelled."""
        while True:
            if not (self._unread or self._doubtful):
                await self._rest(self._state.pace.relist_ms / 1000 / max(1, len(self._state.shards)))
            if not (self._unread or self._doubtful):
                self._doubtful.update(self._next_in_turn())
            is_urgent = bool(self._unread)
            shards, self._unread = self._unread or self._doubtful, set()
            self._doubtful = self._doubtful - shards
            try:
                await self._read_list(shards, is_urgent=is_urgent)
                if is_urgent:
                    await asyncio.sleep(_REST_S)
            except ServiceError as error:
                _log.warning("list_failed", reason=error.reason)
                (self._unread if is_urgent else self._doubtful).update(shards)
                await asyncio.sleep(_REST_S)

    async def _rest(self, seconds: float) -> None:
        """So long at most; less when a list is wanted."""
        self._wanted.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._wanted.wait()

    def _next_in_turn(self) -> list[int]:
        """The shard to be read after the one before."""
        held = sorted(self._state.shards)
        following = [number for number in held if number > self._reviewed] or held
        self._reviewed = following[0] if following else -1
        return following[:1]

    def _hear_others(self, before: asyncio.Task[None] | None) -> asyncio.Task[None] | None:
        shards = frozenset(self._state.shards)
        if not shards:
            if before is not None:
                before.cancel()
            return None
        return asyncio.create_task(self._hear(shards, before))

    async def _hear(self, shards: frozenset[int], before: asyncio.Task[None] | None) -> None:
        """Takes what updates say. The subscription before ends a while after this one stands, so that nothing falls
        between."""
        try:
            while True:
                try:
                    async with aclosing(self._updates.follow(shards)) as updates:
                        async for news in updates:
                            if before is not None:
                                self._retire(before)
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

    def _retire(self, hearing: asyncio.Task[None]) -> None:
        self._retired.add(hearing)
        hearing.add_done_callback(self._retired.discard)
        asyncio.get_running_loop().call_later(_OVERLAP_S, hearing.cancel)

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

    async def _read_list(self, wanted: Collection[int], *, is_urgent: bool) -> None:
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
            if not is_urgent:
                await self._rest(_LEISURE_S)
                if self._unread:
                    # Broken off, it takes nothing away.
                    self._doubtful.update(shards)
                    return
        # One that was lost and taken again meanwhile is a new object, whose own list is still to come.
        gone = sum(shard.deadlines.end_round() for shard in shards.values())
        _log.debug("list_read", armed=self._state.armed(), gone=gone)
