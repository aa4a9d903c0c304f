"""Frees what has been abandoned: absent people, vanished ones before the start, lobbies, expired sessions."""

from __future__ import annotations

import asyncio

from services.kit.errors import ServiceError
from services.kit.logs import get_log
from services.table.application.lobby import Lobby
from services.table.application.options import Options
from services.table.application.outbox import Outbox
from services.table.application.ports import Store, Sweep, Wall
from services.table.domain.refusals import RefusalError
from services.table.domain.table import Status, Table, expire, vacate

_log = get_log(__name__)
_PER_PASS = 500


class Sweeper:
    """Every replica may do it: each change is made against the table's version."""

    def __init__(self, store: Store, lobby: Lobby, outbox: Outbox, wall: Wall, options: Options) -> None:
        self._store = store
        self._lobby = lobby
        self._outbox = outbox
        self._wall = wall
        self._options = options

    async def run(self) -> None:
        """Sweeps for ever; for one background task.

        It begins only after the time in which a person counts as vanished: after a restart nobody is blamed for
        the time in which nobody could connect.
        """
        await asyncio.sleep(self._options.vacate_after_ms / 1000)
        while True:
            try:
                await self.sweep()
            except ServiceError as error:
                _log.warning("sweep_failed", reason=error.reason)
            await asyncio.sleep(self._options.sweep_every_ms / 1000)

    async def sweep(self) -> None:
        """One pass."""
        now_ms = self._wall.unix_ms()
        sweep = Sweep(
            now_ms=now_ms,
            absent_before_ms=now_ms - self._options.absent_after_ms,
            vacated_before_ms=now_ms - self._options.vacate_after_ms,
            lobby_before_ms=now_ms - self._options.lobby_ttl_ms,
        )
        for key in await self._store.mark_absent(sweep, _PER_PASS):
            table = await self._store.load_table(key)
            if table is not None:
                self._outbox.table_changed(table)
        for table in await self._store.abandoned(sweep, _PER_PASS):
            await self._free(table, sweep)
        await self._store.delete_expired_sessions(now_ms, _PER_PASS)

    async def _free(self, table: Table, sweep: Sweep) -> None:
        def change(found: Table) -> Table:
            if found.status != Status.LOBBY:
                return found
            if found.created_at_ms < sweep.lobby_before_ms and found.people() < 2:
                return expire(found)
            return vacate(found, seen_before_ms=sweep.vacated_before_ms)

        try:
            changed = await self._lobby.change(table.table_id, change)
        except RefusalError as refused:
            _log.info("sweep_passed_over", table_id=table.table_id, reason=refused.reason)
            return
        if changed.status == Status.EXPIRED:
            _log.info("table_expired", table_id=table.table_id)
