"""Lets a table of one person against bots stand still for a transfer, and go on [IND-PHASE-11]."""

from __future__ import annotations

from services.table.application.bot_watch import BotWatch
from services.table.application.going_on import GoingOn
from services.table.application.hot_tables import HotTables
from services.table.application.lobby import Lobby, key_of
from services.table.application.play_time import known_ms
from services.table.application.ports import PlayTime
from services.table.application.sessions import Sessions
from services.table.domain.standing import pause, resume
from services.table.domain.table import Table


class PauseTable:
    """The table's own play time stands still between the two: its deadlines keep what is left of them."""

    def __init__(
        self,
        *,
        play_time: PlayTime,
        lobby: Lobby,
        sessions: Sessions,
        hot_tables: HotTables,
        bots: BotWatch,
        going_on: GoingOn,
    ) -> None:
        self._play_time = play_time
        self._lobby = lobby
        self._sessions = sessions
        self._hot_tables = hot_tables
        self._bots = bots
        self._going_on = going_on

    async def pause(self, token: str, table_id: str) -> Table:
        """The paused table. Refuses as the contract says."""
        session = await self._sessions.require(token)
        key = key_of(table_id)
        now_ms = await known_ms(self._play_time, key.shard)
        table = await self._lobby.change(table_id, lambda found: pause(found, session.session_id, now_ms))
        self._hot_tables.forget(key)
        self._bots.game_moved(key, table.last_seq, ())
        return table

    async def resume(self, token: str, table_id: str) -> Table:
        """The running table; bots that are asked are asked again. Refuses as the contract says."""
        session = await self._sessions.require(token)
        key = key_of(table_id)
        now_ms = await known_ms(self._play_time, key.shard)
        table = await self._lobby.change(table_id, lambda found: resume(found, session.session_id, now_ms))
        self._hot_tables.forget(key)
        await self._going_on.tell(key)
        return table
