"""Takes a seat."""

from __future__ import annotations

from dataclasses import dataclass

from services.table.application.lobby import Lobby
from services.table.application.ports import Chance, Wall
from services.table.application.secret_texts import hash_of
from services.table.application.sessions import Sessions
from services.table.domain.table import Seat, Table, join


@dataclass(frozen=True, slots=True)
class Joined:
    """The table, the seat, and its secret, which is nowhere else in clear."""

    table: Table
    seat: int
    seat_secret: str


class JoinTable:
    """Anybody with a session may join a lobby while a seat is free."""

    def __init__(self, lobby: Lobby, sessions: Sessions, wall: Wall, chance: Chance) -> None:
        self._lobby = lobby
        self._sessions = sessions
        self._wall = wall
        self._chance = chance

    async def run(self, token: str, table_id: str, nonce: str) -> Joined:
        """Refuses as the contract says."""
        session = await self._sessions.require(token)
        secret = self._chance.token()
        now_ms = self._wall.unix_ms()
        seat = Seat(
            name=session.name,
            session_id=session.session_id,
            secret_hash=hash_of(secret),
            nonce=nonce,
            joined_at_ms=now_ms,
            seen_at_ms=now_ms,
        )
        table = await self._lobby.change(table_id, lambda found: join(found, seat))
        return Joined(table, len(table.seats) - 1, secret)
