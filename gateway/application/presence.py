"""Tells the table service which sessions have a live connection here."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from magnate.table.v1 import table_service_pb2 as table_pb

from gateway.application.hub import Hub
from gateway.application.ports import TableCalls
from gateway.application.watch import Watch
from services.kit.calls import as_service_error
from services.kit.logs import get_log

_log = get_log(__name__)
_CHUNK_TABLES = 1_000
_GATHER_S = 0.1

Watched = dict[str, set[str]]


class Presence:
    """All watches every `period_ms`, and a new one shortly after it has begun."""

    def __init__(self, table: TableCalls, hub: Hub, *, period_ms: int) -> None:
        self._table = table
        self._hub = hub
        self._period_s = period_ms / 1000
        self._new: Watched = {}
        self._news = asyncio.Event()
        hub.on_touch = self._touch

    async def run(self) -> None:
        """Goes on for ever."""
        loop = asyncio.get_running_loop()
        due_s = loop.time()
        while True:
            # However many come all the time, those who have been here for long are told when their time has come.
            if loop.time() >= due_s or not await self._anybody_new(due_s):
                due_s = loop.time() + self._period_s
                self._take_new()
                await self._send(self._all())
                continue
            await asyncio.sleep(_GATHER_S)
            await self._send(self._take_new())

    async def _anybody_new(self, until_s: float) -> bool:
        """Waits for a new watch; False when there is none by then."""
        try:
            async with asyncio.timeout_at(until_s):
                await self._news.wait()
        except TimeoutError:
            return False
        return True

    def _touch(self, watch: Watch, table_id: str) -> None:
        self._new.setdefault(table_id, set()).add(watch.session_id)
        self._news.set()

    def _take_new(self) -> Watched:
        new, self._new = self._new, {}
        self._news.clear()
        return new

    def _all(self) -> Watched:
        watched: Watched = {}
        for watch in self._hub.watches.values():
            for table_id, target in watch.targets.items():
                if target.joined:
                    watched.setdefault(table_id, set()).add(watch.session_id)
        return watched

    async def _send(self, watched: Watched) -> None:
        tables = list(watched.items())
        for start in range(0, len(tables), _CHUNK_TABLES):
            request = table_pb.TouchPresenceRequest(watched=_wire(tables[start : start + _CHUNK_TABLES]))
            try:
                await self._table.TouchPresence(request)
            except Exception as error:
                _log.warning("presence_not_told", error=str(as_service_error(error, "presence")), tables=len(tables))
                return


def _wire(tables: Iterable[tuple[str, set[str]]]) -> list[table_pb.TouchPresenceRequest.Watched]:
    return [
        table_pb.TouchPresenceRequest.Watched(table_id=table_id, session_ids=sorted(sessions))
        for table_id, sessions in tables
    ]
