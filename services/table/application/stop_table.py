"""Lets a running table stand still and go on: an operator's word, or the table's own when its state broke."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

from magnate.admin.v1 import admin_service_pb2 as admin_pb

from services.kit.errors import ServiceError
from services.kit.logs import get_log
from services.table.application.audit import ITSELF, AuditEntry
from services.table.application.bot_watch import BotWatch
from services.table.application.going_on import GoingOn
from services.table.application.hot_tables import HotTables
from services.table.application.lobby import Lobby, key_of, version_race
from services.table.application.options import Options
from services.table.application.outbox import Outbox
from services.table.application.play_time import known_ms
from services.table.application.ports import Chance, Meter, PlayTime, Store, TableKey, Wall
from services.table.application.redeciding import Redeciding
from services.table.domain.refusals import Reason, RefusalError
from services.table.domain.standing import release, stop
from services.table.domain.table import Table

_log = get_log(__name__)
_COUNT_EVERY_S = 10.0


class StopTable:
    """The table's play time stands still between the two, as in a pause; other tables do not notice."""

    def __init__(
        self,
        *,
        store: Store,
        play_time: PlayTime,
        lobby: Lobby,
        redeciding: Redeciding,
        hot_tables: HotTables,
        outbox: Outbox,
        bots: BotWatch,
        going_on: GoingOn,
        wall: Wall,
        chance: Chance,
        meter: Meter,
        options: Options,
    ) -> None:
        self._store = store
        self._play_time = play_time
        self._lobby = lobby
        self._redeciding = redeciding
        self._hot_tables = hot_tables
        self._outbox = outbox
        self._bots = bots
        self._going_on = going_on
        self._wall = wall
        self._chance = chance
        self._meter = meter
        self._options = options

    async def stop(self, table_id: str, entry: AuditEntry) -> tuple[Table, bool]:
        """The stopped table, and whether it was not before. Refuses as the contract says."""
        key = key_of(table_id)
        now_ms = await known_ms(self._play_time, key.shard)
        return await self._stop(key, entry, lambda found: stop(found, entry.reason, now_ms, is_broken=False))

    async def stop_broken(self, key: TableKey, why: str, play_time_ms: int) -> None:
        """A table whose state is broken stops itself; nothing if it stands or is over meanwhile."""
        entry = AuditEntry(
            audit_id=self._chance.public_id(),
            at_unix_ms=self._wall.unix_ms(),
            who=ITSELF,
            from_="",
            action=admin_pb.AUDIT_ACTION_STOP_TABLE,
            shard=key.shard,
            table_id=key.table_id,
            reason=why[:500],
        )
        try:
            _, done = await self._stop(
                key, entry, lambda found: stop(found, entry.reason, play_time_ms, is_broken=True)
            )
        except (RefusalError, ServiceError) as error:
            _log.warning("table_not_stopped", table_id=key.table_id, reason=str(error.reason))
            return
        if done:
            _log.error("table_stopped", table_id=key.table_id, who=ITSELF, why=entry.reason)
            await self._count()

    async def stop_unreadable(self, key: TableKey) -> None:
        """A table whose last update cannot be read stops itself, unless play time is not known yet."""
        now_ms = self._play_time.now_ms(key.shard)
        if now_ms is not None:
            await self.stop_broken(key, "the last update cannot be read", now_ms)

    async def release(self, table_id: str, entry: AuditEntry) -> tuple[Table, bool]:
        """The table that goes on, and whether it stood. Refuses with `table_stopped` when its log differs."""
        key = key_of(table_id)
        table = await self._lobby.find(table_id)
        if table.stop is None:
            return release(table, 0), False
        check = await self._redeciding.check(key, table.last_seq)
        if not check.same:
            raise RefusalError(
                Reason.TABLE_STOPPED,
                f"the log differs from event {check.first_difference} on; the table stays stopped",
                {"first_difference": str(check.first_difference)},
            )
        now_ms = await known_ms(self._play_time, key.shard)
        # Whatever was wrong with the stored state, this is what the log comes to.
        snapshot = (table.last_seq, check.snapshot)
        changed, done = await self._change(key, lambda found: release(found, now_ms), entry, snapshot)
        self._hot_tables.forget(key)
        await self._going_on.tell(key)
        return changed, done

    async def run(self) -> None:
        """Counts what stands still, for ever; for one background task."""
        while True:
            try:
                await self._count()
            except ServiceError as error:
                _log.warning("stops_not_counted", reason=error.reason)
            await asyncio.sleep(_COUNT_EVERY_S)

    async def _stop(self, key: TableKey, entry: AuditEntry, how: Callable[[Table], Table]) -> tuple[Table, bool]:
        table, done = await self._change(key, how, entry)
        self._hot_tables.forget(key)
        self._bots.game_moved(key, table.last_seq, ())
        return table, done

    async def _change(
        self,
        key: TableKey,
        how: Callable[[Table], Table],
        entry: AuditEntry,
        snapshot: tuple[int, bytes] | None = None,
    ) -> tuple[Table, bool]:
        for _ in range(self._options.max_attempts):
            table = await self._lobby.find(key.table_id)
            changed = how(table)
            if changed is table:
                return table, False
            if await self._store.save_audited(changed, entry, snapshot):
                self._outbox.table_changed(changed)
                return changed, True
            entry = replace(entry, audit_id=self._chance.public_id())
        raise version_race()

    async def _count(self) -> None:
        broken, by_operator = await self._store.count_stopped()
        self._meter.stopped(broken=broken, by_operator=by_operator)
