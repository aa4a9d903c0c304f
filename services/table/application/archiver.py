"""What becomes of games in the long run: abandoned ones expire, those that are over are packed away, then forgotten.

All of it goes in steps of a few milliseconds with pauses between them, so that tables in play do not notice.
"""

from __future__ import annotations

import asyncio

from services.kit.errors import ServiceError
from services.kit.logs import get_log
from services.table.application.hot_tables import HotTables
from services.table.application.last_updates import read_update
from services.table.application.options import Options
from services.table.application.outbox import Outbox
from services.table.application.ports import Meter, PlayTime, Store, TableKey, Wall
from services.table.application.retention import IdleGame
from services.table.domain.table import Status, abandon

_log = get_log(__name__)
_PAGE = 200
_FORGOTTEN_AT_ONCE = 20
_PAUSE_S = 0.02
_TOLD_EVERY = 1_000


class Archiver:
    """Every replica may do it; each takes other games. An option of 0 lets things stay for ever."""

    def __init__(
        self,
        *,
        store: Store,
        hot_tables: HotTables,
        outbox: Outbox,
        play_time: PlayTime,
        wall: Wall,
        meter: Meter,
        options: Options,
    ) -> None:
        self._store = store
        self._hot_tables = hot_tables
        self._outbox = outbox
        self._play_time = play_time
        self._wall = wall
        self._meter = meter
        self._options = options

    async def run(self) -> None:
        """Works for ever; for one background task. It begins late: replicas of the release before, which may know no
        archive, are gone by then."""
        while True:
            await asyncio.sleep(self._options.archive_every_ms / 1000)
            try:
                await self.run_once()
            except ServiceError as error:
                _log.warning("archive_failed", reason=error.reason)

    async def run_once(self) -> None:
        """One pass over all that is due."""
        if self._options.abandoned_after_ms:
            await self._expire_abandoned(self._options.abandoned_after_ms)
        if self._options.archive_after_ms:
            await self._archive(self._options.archive_after_ms)
        if self._options.forget_after_ms:
            await self._forget(self._options.forget_after_ms)

    async def _archive(self, after_ms: int) -> None:
        games, commands, told = 0, 0, _TOLD_EVERY
        while step := await self._store.archive_step(self._wall.unix_ms() - after_ms, self._wall.unix_ms()):
            commands += step.commands
            if step.is_whole and step.commands:
                games += 1
                self._meter.archived()
            if games >= told:
                told += _TOLD_EVERY
                _log.info("archiving", games=games, commands=commands)
            await asyncio.sleep(_PAUSE_S)
        if games:
            _log.info("archived", games=games, commands=commands)

    async def _forget(self, after_ms: int) -> None:
        games = 0
        while count := await self._store.forget(self._wall.unix_ms() - after_ms, _FORGOTTEN_AT_ONCE):
            games += count
            self._meter.forgotten(count)
            await asyncio.sleep(_PAUSE_S)
        if games:
            _log.info("forgotten", games=games)

    async def _expire_abandoned(self, after_ms: int) -> None:
        before_ms = self._wall.unix_ms() - after_ms
        after: tuple[int, str] | None = None
        while True:
            found = await self._store.list_idle(before_ms, after, _PAGE)
            for game in found:
                if game.seen_at_ms < before_ms:
                    await self._expire(game, after_ms)
            if len(found) < _PAGE:
                return
            after = (found[-1].shard, found[-1].table_id)
            await asyncio.sleep(_PAUSE_S)

    async def _expire(self, game: IdleGame, after_ms: int) -> None:
        """Time in which the site could not be played does not count against anybody."""
        now_ms = self._play_time.now_ms(game.shard)
        key = TableKey(game.shard, game.table_id)
        table = await self._store.load_table(key)
        update = read_update(game.table_id, game.last_update)
        if (
            update is None
            or now_ms is None
            or table is None
            or table.status != Status.RUNNING
            or table.last_seq != update.last_seq
        ):
            return
        if table.stop is not None:
            # Whoever sits there waits for an operator.
            return
        # In a pause the last thing that a person did was to begin it.
        since_ms = update.play_time_ms + table.held_ms if table.paused_at_ms is None else table.paused_at_ms
        idle_ms = now_ms - since_ms
        if idle_ms < after_ms:
            return
        expired = abandon(table)
        if await self._store.abandon_game(expired):
            self._hot_tables.forget(key)
            self._meter.abandoned()
            self._outbox.table_changed(expired)
            _log.info("game_abandoned", table_id=game.table_id, idle_ms=idle_ms)
