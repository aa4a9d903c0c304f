"""Connections to a Postgres as its URL says, with all that asyncpg knows in it, such as `sslmode` and `sslrootcert`."""

from __future__ import annotations

from typing import Any

import asyncpg
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine


def dsn_of(url: str) -> str:
    """The URL as asyncpg takes it, whatever driver it names. Raises sqlalchemy.exc.ArgumentError for what is no URL."""
    return sa.make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)


def open_engine(url: str, *, connect: dict[str, Any], **pool: Any) -> AsyncEngine:
    """An engine over asyncpg. `connect` are arguments of each connection, `pool` those of the engine.

    SQLAlchemy would read the query of the URL itself, and knows other words for TLS than the rest of the world.
    """
    dsn = dsn_of(url)

    async def open_connection() -> Any:
        try:
            return await asyncpg.connect(dsn, **connect)
        except asyncpg.InterfaceError as error:
            # A URL that asks for what does not exist: for the callers a server that does not answer.
            raise OSError(str(error)) from None

    return create_async_engine("postgresql+asyncpg://", async_creator=open_connection, **pool)
