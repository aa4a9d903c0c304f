"""Reads the log as everybody may see it."""

from __future__ import annotations

from dataclasses import dataclass

from services.table.application.lobby import Lobby
from services.table.application.ports import Store, TableKey
from services.table.application.sessions import Sessions
from services.table.domain.refusals import Reason, RefusalError
from services.table.domain.table import Table

_DEFAULT_PAGE = 100


class Watching:
    """Who may see a game: those who sit there, the host, and others where the creator allows spectators."""

    def __init__(self, lobby: Lobby, sessions: Sessions) -> None:
        self._lobby = lobby
        self._sessions = sessions

    async def require(self, token: str, table_id: str) -> Table:
        """The table. An empty token is a service's, which may see every game. Refuses with `no_spectators`."""
        session = await self._sessions.require(token) if token else None
        table = await self._lobby.find(table_id)
        if session is not None and not table.may_watch(session.session_id):
            raise RefusalError(Reason.NO_SPECTATORS, "the creator of this table allows no spectators")
        return table


@dataclass(frozen=True, slots=True)
class Page:
    """Updates, the last number committed and the history of both, and how often the table has changed outside its
    game."""

    updates: list[bytes]
    last_seq: int
    history_id: str
    lobby_version: int


class ReadUpdates:
    """Committed updates, byte for byte, page by page."""

    def __init__(self, store: Store, watching: Watching) -> None:
        self._store = store
        self._watching = watching

    async def run(self, token: str, table_id: str, after_seq: int, page_size: int) -> Page:
        """Updates whose last event is after this number. Refuses `seq_ahead`."""
        table = await self._watching.require(token, table_id)
        key = TableKey(table.shard, table.table_id)
        rows, last_seq = await self._store.read_log(key, after_seq, page_size or _DEFAULT_PAGE)
        if after_seq > last_seq:
            raise RefusalError(Reason.SEQ_AHEAD, "the log does not reach so far", {"last_seq": str(last_seq)})
        return Page([row.update for row in rows], last_seq, table.history_id, table.lobby_version)
