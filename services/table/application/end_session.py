"""Ends a session."""

from __future__ import annotations

from services.table.application.ports import Store
from services.table.application.sessions import Sessions


class EndSession:
    """Its seats stay as they are: whoever knows a seat's secret can take it over with another session."""

    def __init__(self, store: Store, sessions: Sessions) -> None:
        self._store = store
        self._sessions = sessions

    async def run(self, token: str) -> None:
        """Refuses with `no_session`."""
        session = await self._sessions.require(token)
        await self._store.delete_session(session)
        self._sessions.forget(session.session_id)
