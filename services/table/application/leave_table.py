"""Gives a seat up before the start."""

from __future__ import annotations

from services.table.application.lobby import Lobby
from services.table.application.sessions import Sessions
from services.table.domain.table import Table, leave


class LeaveTable:
    """The host's right passes to the longest-seated person; a table without people expires [IND-TABLE-13]."""

    def __init__(self, lobby: Lobby, sessions: Sessions) -> None:
        self._lobby = lobby
        self._sessions = sessions

    async def run(self, token: str, table_id: str) -> Table:
        """The table as it is now."""
        session = await self._sessions.require(token)
        return await self._lobby.change(table_id, lambda found: leave(found, session.session_id))
