"""Fills gaps of a feed from the table service, once for all of its watchers."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable

from magnate.table.v1 import table_pb2
from magnate.table.v1 import table_service_pb2 as table_pb

from gateway.application.feeds import Feed
from gateway.application.frames import Frame, update_frame
from gateway.application.ports import TableCalls
from gateway.domain.continuity import Place
from services.kit.calls import as_service_error
from services.kit.errors import ServiceError
from services.kit.logs import get_log

_log = get_log(__name__)
_PAGE_UPDATES = 100
_SEQ_AHEAD = "seq_ahead"
_FIRST_BACKOFF_S = 0.1
_LAST_BACKOFF_S = 2.0


class ForkedError(Exception):
    """The table service holds another history than the one that the feed has followed."""


class Filler:
    """`give` hands an update to the targets of a feed, `learn` takes a table in as if it had been published, `on_fork`
    is told of a feed whose history is no longer that of the store."""

    def __init__(
        self,
        table: TableCalls,
        *,
        give: Callable[[Feed, Frame], None],
        learn: Callable[[table_pb2.Table], None],
        on_fork: Callable[[Feed], None],
    ) -> None:
        self._table = table
        self._give = give
        self._learn = learn
        self._on_fork = on_fork
        self._tasks: dict[Feed, asyncio.Task[None]] = {}

    def fill(self, feed: Feed) -> None:
        """Begins to read what is missing; again after it where that is being done already, and later, when something
        is known of the table, where nothing is yet: what has been read may be from before the loss."""
        if feed.filling or feed.last_seq is None:
            feed.doubtful = True
            return
        feed.filling, feed.doubtful = True, False
        task = asyncio.create_task(self._run(feed))
        self._tasks[feed] = task
        task.add_done_callback(lambda _: self._tasks.pop(feed, None))

    def stop(self, feed: Feed) -> None:
        """Nobody watches the table any more."""
        task = self._tasks.get(feed)
        if task is not None and task is not asyncio.current_task():
            task.cancel()

    async def _run(self, feed: Feed) -> None:
        backoff_s = _FIRST_BACKOFF_S
        while feed.targets:
            try:
                await self._read(feed)
            except ForkedError:
                self._on_fork(feed)
                return
            except ServiceError as error:
                if error.reason == _SEQ_AHEAD:
                    self._on_fork(feed)
                    return
                reason = str(error)
            except Exception as error:
                reason = str(as_service_error(error, "fill"))
            else:
                if self._drain(feed):
                    if not feed.doubtful:
                        feed.filling = False
                        return
                    feed.doubtful = False
                    continue
                reason = "the log lacks what the event stream has"
            _log.warning("gap_not_filled", table=feed.table_id, after_seq=feed.last_seq, reason=reason)
            await asyncio.sleep(backoff_s * random.uniform(0.5, 1.0))
            backoff_s = min(backoff_s * 2, _LAST_BACKOFF_S)

    async def _read(self, feed: Feed) -> None:
        if feed.table is not None and feed.table.status == table_pb2.TABLE_STATUS_LOBBY:
            table = await self._read_table(feed)
            if table.status == table_pb2.TABLE_STATUS_LOBBY:
                return
        while True:
            after_seq = feed.last_seq or 0
            page = await self._table.ReadUpdates(
                table_pb.ReadUpdatesRequest(table_id=feed.table_id, after_seq=after_seq, page_size=_PAGE_UPDATES)
            )
            if not feed.is_of(page.history_id):
                raise ForkedError
            for update in page.updates:
                frame = update_frame(update)
                if frame.last_seq > (feed.last_seq or 0):
                    self._give(feed, frame)
            if feed.table is not None and page.lobby_version > feed.table.lobby_version:
                await self._read_table(feed)
            if not page.updates or (feed.last_seq or 0) >= page.last_seq:
                return

    async def _read_table(self, feed: Feed) -> table_pb2.Table:
        described = await self._table.DescribeTable(table_pb.DescribeTableRequest(table_id=feed.table_id))
        if not feed.is_of(described.table.history_id):
            raise ForkedError
        if feed.table is None or described.table.lobby_version > feed.table.lobby_version:
            self._learn(described.table)
        return described.table

    def _drain(self, feed: Feed) -> bool:
        """Gives what was kept meanwhile; False if it still does not follow."""
        while True:
            place, frame = feed.next_pending()
            if frame is None:
                return place is Place.SEEN
            self._give(feed, frame)
