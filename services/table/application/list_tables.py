"""Lists of tables, page by page, newest first."""

from __future__ import annotations

from services.table.application import page_tokens
from services.table.application.ports import Store
from services.table.application.sessions import Sessions
from services.table.domain.table import Table

_DEFAULT_PAGE = 20


class ListTables:
    """Open tables that others may join."""

    def __init__(self, store: Store, sessions: Sessions) -> None:
        self._store = store
        self._sessions = sessions

    async def run(self, token: str, edition: str, page_size: int, page_token: str) -> tuple[list[Table], str]:
        """The page and the token of the next one, empty at the end."""
        await self._sessions.require(token)
        size = page_size or _DEFAULT_PAGE
        before = page_tokens.decode("open", page_token)
        return _page("open", await self._store.list_open(edition, before, size + 1), size)


class ListMyTables:
    """Tables where the session holds a seat."""

    def __init__(self, store: Store, sessions: Sessions) -> None:
        self._store = store
        self._sessions = sessions

    async def run(self, token: str, page_size: int, page_token: str) -> tuple[list[Table], str]:
        """The page and the token of the next one, empty at the end."""
        session = await self._sessions.require(token)
        size = page_size or _DEFAULT_PAGE
        before = page_tokens.decode("mine", page_token)
        return _page("mine", await self._store.list_held(session.session_id, before, size + 1), size)


def _page(kind: str, tables: list[Table], size: int) -> tuple[list[Table], str]:
    """One more than a page was asked for, to know whether there is a next one."""
    if len(tables) <= size:
        return tables, ""
    last = tables[size - 1]
    return tables[:size], page_tokens.encode(kind, last.created_at_ms, last.table_id)
