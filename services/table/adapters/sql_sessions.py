"""SQL of sessions."""

from __future__ import annotations

import sqlalchemy as sa

from services.table.adapters.schema import sessions
from services.table.domain.session import Session

# Built once, for every call of a client looks for his session.
_FIND = sa.select(sessions).where(
    sessions.c.shard == sa.bindparam("of_shard"), sessions.c.session_id == sa.bindparam("of_session")
)


def create(connection: sa.Connection, session: Session) -> None:
    connection.execute(
        sa.insert(sessions).values(
            shard=session.shard,
            session_id=session.session_id,
            name=session.name,
            token_hash=session.token_hash,
            salt=session.salt,
            created_at_ms=session.created_at_ms,
            expires_at_ms=session.expires_at_ms,
        )
    )


def load(connection: sa.Connection, shard: int, session_id: str) -> Session | None:
    found = connection.execute(_FIND, {"of_shard": shard, "of_session": session_id}).one_or_none()
    if found is None:
        return None
    return Session(
        session_id=found.session_id,
        shard=found.shard,
        name=found.name,
        token_hash=found.token_hash,
        salt=found.salt,
        created_at_ms=found.created_at_ms,
        expires_at_ms=found.expires_at_ms,
    )


def rotate(connection: sa.Connection, session: Session, old_hash: bytes) -> bool:
    changed = connection.execute(
        sa.update(sessions)
        .where(
            sessions.c.shard == session.shard,
            sessions.c.session_id == session.session_id,
            sessions.c.token_hash == old_hash,
        )
        .values(token_hash=session.token_hash, expires_at_ms=session.expires_at_ms)
    )
    return changed.rowcount == 1


def delete(connection: sa.Connection, session: Session) -> None:
    connection.execute(
        sa.delete(sessions).where(sessions.c.shard == session.shard, sessions.c.session_id == session.session_id)
    )


def delete_expired(connection: sa.Connection, now_ms: int, limit: int) -> int:
    key = sa.tuple_(sessions.c.shard, sessions.c.session_id)
    old = connection.execute(
        sa.select(sessions.c.shard, sessions.c.session_id).where(sessions.c.expires_at_ms <= now_ms).limit(limit)
    ).all()
    if old:
        connection.execute(sa.delete(sessions).where(key.in_([tuple(row) for row in old])))
    return len(old)
