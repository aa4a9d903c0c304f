"""Who a token belongs to: looked up by its session's key, compared by hash, remembered for a moment."""

from __future__ import annotations

from collections import OrderedDict

from services.table.application.options import Options
from services.table.application.ports import Store, Wall
from services.table.application.secret_texts import are_equal, hash_of, session_id_of
from services.table.domain.refusals import Reason, RefusalError
from services.table.domain.session import Session
from services.table.domain.shards import is_table_id, shard_of


class Sessions:
    """Finds sessions. `recall` is for commands, which are too many to ask the store each time: there, what another
    replica did to a session is noticed after `session_cache_ms` at the latest."""

    def __init__(self, store: Store, wall: Wall, options: Options) -> None:
        self._store = store
        self._wall = wall
        self._options = options
        self._known: OrderedDict[str, tuple[Session, int]] = OrderedDict()

    async def require(self, token: str) -> Session:
        """The session of a token as the store has it; refuses with `no_session`."""
        session_id = _id_in(token)
        session = await self._store.load_session(shard_of(session_id), session_id)
        if session is None:
            self._known.pop(session_id, None)
            raise _no_session()
        now_ms = self._wall.unix_ms()
        self._remember(session, now_ms)
        if not _is_valid(session, token, now_ms):
            raise _no_session()
        return session

    async def recall(self, token: str) -> Session:
        """The same out of memory if it was looked up a moment ago, and this was its token then."""
        now_ms = self._wall.unix_ms()
        session = self._remembered(_id_in(token), now_ms)
        return session if session is not None and _is_valid(session, token, now_ms) else await self.require(token)

    def forget(self, session_id: str) -> None:
        """The session has changed: ask the store next time."""
        self._known.pop(session_id, None)

    def _remembered(self, session_id: str, now_ms: int) -> Session | None:
        entry = self._known.get(session_id)
        if entry is None or entry[1] <= now_ms:
            return None
        return entry[0]

    def _remember(self, session: Session, now_ms: int) -> None:
        self._known[session.session_id] = (session, now_ms + self._options.session_cache_ms)
        self._known.move_to_end(session.session_id)
        if len(self._known) > self._options.session_cache_size:
            self._known.popitem(last=False)


def _id_in(token: str) -> str:
    session_id = session_id_of(token)
    if session_id is None or not is_table_id(session_id):
        raise _no_session()
    return session_id


def _is_valid(session: Session, token: str, now_ms: int) -> bool:
    return not session.is_over(now_ms) and are_equal(session.token_hash, hash_of(token))


def _no_session() -> RefusalError:
    return RefusalError(Reason.NO_SESSION, "there is no valid session with this token")
