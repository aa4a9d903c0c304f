"""The running tables that this process has lately worked on: a few hundred bytes each, as many as a setting allows.

What is here may be stale, for other replicas write too; the store's versions decide.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass

from magnate.game.v1 import update_pb2

from services.table.application.lobby import no_table
from services.table.application.ports import Game, OwnTime, Store, TableKey
from services.table.application.states import digest_of
from services.table.domain.refusals import Reason, RefusalError
from services.table.domain.table import Status


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a seat: a session, or a bot of a level."""

    session_id: str
    bot_level: str

    @property
    def is_bot(self) -> bool:
        return not self.session_id


class HotTable:
    """Where a game stands, and the lock in which its commands come one after the other."""

    __slots__ = (
        "history_id",
        "holders",
        "holders_version",
        "is_loaded",
        "is_over",
        "is_paused",
        "is_stopped",
        "key",
        "last_seq",
        "lock",
        "own_time",
        "play_time_ms",
        "since_snapshot",
        "state_hash",
        "update_digest",
    )

    def __init__(self, key: TableKey) -> None:
        self.key = key
        self.lock = asyncio.Lock()
        self.is_loaded = False
        self.is_over = False
        self.is_paused = False
        self.is_stopped = False
        self.own_time = OwnTime(0, 0)
        self.history_id = ""
        self.last_seq = 0
        self.state_hash = b""
        self.update_digest = b""
        self.play_time_ms = 0
        self.holders: tuple[Holder, ...] = ()
        self.holders_version = 0
        self.since_snapshot = 0

    def take(self, game: Game) -> None:
        """Takes over what the store says."""
        update = update_pb2.Update.FromString(game.last_update)
        self.is_over = game.table.status != Status.RUNNING
        self.is_paused = game.table.is_paused
        self.is_stopped = game.table.stop is not None
        self.own_time = OwnTime.of(game.table)
        self.history_id = game.table.history_id
        self.last_seq = update.last_seq
        self.state_hash = update.state_hash
        self.update_digest = digest_of(game.last_update)
        self.play_time_ms = update.play_time_ms
        self.holders = tuple(Holder(seat.session_id, seat.bot_level) for seat in game.table.seats)
        self.holders_version = game.table.holders_version
        self.since_snapshot = game.since_snapshot
        self.is_loaded = True


class HotTables:
    """Hot tables by key; those not used for longest make room."""

    def __init__(self, store: Store, size: int) -> None:
        self._store = store
        self._size = size
        self._tables: OrderedDict[TableKey, HotTable] = OrderedDict()

    def of(self, key: TableKey) -> HotTable:
        """The place of a table, loaded or not."""
        hot = self._tables.get(key)
        if hot is None:
            hot = self._tables[key] = HotTable(key)
            if len(self._tables) > self._size:
                self._make_room()
        else:
            self._tables.move_to_end(key)
        return hot

    async def ensure(self, hot: HotTable) -> bool:
        """Loads the table if need be, in its lock; true if it was loaded just now.

        Refuses with `no_table`, and with `not_started` in the lobby.
        """
        if hot.is_loaded:
            return False
        game = await self._store.load_game(hot.key)
        if game is None or game.table.status == Status.EXPIRED:
            self._tables.pop(hot.key, None)
            raise no_table()
        if game.table.status == Status.LOBBY:
            self._tables.pop(hot.key, None)
            raise RefusalError(Reason.NOT_STARTED, "the game has not been started yet")
        hot.take(game)
        return True

    def forget(self, key: TableKey) -> None:
        """Something about the table has changed: load it again before the next use."""
        hot = self._tables.get(key)
        if hot is not None:
            hot.is_loaded = False

    def forget_all(self) -> None:
        """The store holds another history: nothing that was loaded is true any more."""
        for hot in self._tables.values():
            hot.is_loaded = False

    def _make_room(self) -> None:
        for key, hot in self._tables.items():
            if not hot.lock.locked():
                del self._tables[key]
                return
