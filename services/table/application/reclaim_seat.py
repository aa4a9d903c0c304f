"""Takes a seat over with its secret."""

from __future__ import annotations

from services.table.application.hot_tables import HotTables
from services.table.application.lobby import Lobby, key_of
from services.table.application.ports import Chance, Wall
from services.table.application.secret_texts import hash_of
from services.table.application.sessions import Sessions
from services.table.domain.table import Seat, Table, reclaim


class ReclaimSeat:
    """The secret is used up; the new holder gets another one [IND-TABLE-15, -16]."""

    def __init__(self, lobby: Lobby, sessions: Sessions, hot_tables: HotTables, wall: Wall, chance: Chance) -> None:
        self._lobby = lobby
        self._sessions = sessions
        self._hot_tables = hot_tables
        self._wall = wall
        self._chance = chance

    async def run(self, token: str, table_id: str, number: int, secret: str) -> tuple[Table, str]:
        """The table and the new secret. Refuses with `wrong_secret`, also for one that was used."""
        session = await self._sessions.require(token)
        new_secret = self._chance.token()
        now_ms = self._wall.unix_ms()
        heir = Seat(
            name=session.name,
            session_id=session.session_id,
            secret_hash=hash_of(new_secret),
            seen_at_ms=now_ms,
        )
        table = await self._lobby.change(
            table_id, lambda found: reclaim(found, number, heir, secret_hash=hash_of(secret))
        )
        self._hot_tables.forget(key_of(table_id))
        return table, new_secret
