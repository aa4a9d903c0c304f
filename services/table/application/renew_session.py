"""Gives a session a new token and a new expiry."""

from __future__ import annotations

from dataclasses import replace

from services.table.application.options import Options
from services.table.application.ports import Chance, Store, Wall
from services.table.application.secret_texts import hash_of, new_token
from services.table.application.sessions import Sessions
from services.table.domain.refusals import Reason, RefusalError
from services.table.domain.session import Session


class RenewSession:
    """The old token is void at once; of two renewals with one token, one succeeds."""

    def __init__(self, store: Store, wall: Wall, chance: Chance, sessions: Sessions, options: Options) -> None:
        self._store = store
        self._wall = wall
        self._chance = chance
        self._sessions = sessions
        self._options = options

    async def run(self, token: str) -> tuple[str, Session]:
        """The new token and the session. Refuses with `no_session`."""
        old = await self._sessions.require(token)
        new = new_token(old.session_id, self._chance)
        renewed = replace(
            old, token_hash=hash_of(new), expires_at_ms=self._wall.unix_ms() + self._options.session_ttl_ms
        )
        stored = await self._store.rotate_session(renewed, old.token_hash)
        self._sessions.forget(old.session_id)
        if not stored:
            raise RefusalError(Reason.NO_SESSION, "the token has been used up")
        return new, renewed
