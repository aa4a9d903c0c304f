"""Shows one table."""

from __future__ import annotations

from services.table.application.lobby import Lobby
from services.table.application.sessions import Sessions
from services.table.domain.table import Table


class DescribeTable:
    """Whoever has a table's id may see who sits there; the game itself is another matter."""

    def __init__(self, lobby: Lobby, sessions: Sessions) -> None:
        self._lobby = lobby
        self._sessions = sessions

    async def run(self, token: str, table_id: str) -> tuple[Table, int | None]:
        """The table and the caller's seat. Refuses with `no_table`, and with `no_session` for a bad token."""
        session = await self._sessions.require(token) if token else None
        table = await self._lobby.find(table_id)
        return table, table.seat_of(session.session_id) if session else None
