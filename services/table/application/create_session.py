"""Opens a guest session."""

from __future__ import annotations

from services.table.application.limits import Limiter
from services.table.application.options import Options
from services.table.application.ports import Chance, Store, Wall
from services.table.application.secret_texts import hash_of, new_token
from services.table.domain.refusals import Reason, RefusalError
from services.table.domain.session import Session, is_good_name
from services.table.domain.shards import shard_of


class CreateSession:
    """Gives the token, which is nowhere else in clear, and the session."""

    def __init__(self, store: Store, wall: Wall, chance: Chance, limiter: Limiter, options: Options) -> None:
        self._store = store
        self._wall = wall
        self._chance = chance
        self._limiter = limiter
        self._options = options

    async def run(self, name: str, address: str) -> tuple[str, Session]:
        """Refuses a name that cannot be shown, and too many sessions for one address."""
        if not is_good_name(name):
            raise RefusalError(Reason.MALFORMED, "a name has 1 to 32 visible characters", {"field": "name"})
        self._limiter.take(address)
        now_ms = self._wall.unix_ms()
        session_id = self._chance.public_id()
        token = new_token(session_id, self._chance)
        session = Session(
            session_id=session_id,
            shard=shard_of(session_id),
            name=name,
            token_hash=hash_of(token),
            salt=self._chance.seed(),
            created_at_ms=now_ms,
            expires_at_ms=now_ms + self._options.session_ttl_ms,
        )
        await self._store.create_session(session)
        return token, session
