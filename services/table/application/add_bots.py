"""Seats bots."""

from __future__ import annotations

from services.table.application.lobby import Lobby
from services.table.application.options import Options
from services.table.application.ports import Wall
from services.table.application.sessions import Sessions
from services.table.domain.table import Seat, Table, add_bots


class AddBots:
    """Only the host may."""

    def __init__(self, lobby: Lobby, sessions: Sessions, wall: Wall, options: Options) -> None:
        self._lobby = lobby
        self._sessions = sessions
        self._wall = wall
        self._options = options

    async def run(self, token: str, table_id: str, count: int, level: str) -> Table:
        """The table with its bots, all of one level; an empty level is the standard one."""
        session = await self._sessions.require(token)
        now_ms = self._wall.unix_ms()

        def change(table: Table) -> Table:
            first = table.bots() + 1
            bots = [
                Seat(name=f"Bot {number}", bot_level=level or self._options.bot_level, joined_at_ms=now_ms)
                for number in range(first, first + count)
            ]
            return add_bots(table, session.session_id, bots)

        return await self._lobby.change(table_id, change)
