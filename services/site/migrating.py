"""`magnate migrate`: brings the tables of all services in a Postgres up to date, before new replicas start."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from services.clock.adapters import migrations as clock_migrations
from services.kit.migrations import BusyError, upgrade
from services.kit.postgres import open_engine
from services.site.errors import CommandError
from services.table.adapters import migrations as table_migrations

#: the revisions of each service that keeps something, and the table that says which of them are done
PARTS: tuple[tuple[str, Path, str], ...] = (
    ("table", table_migrations.VERSIONS, table_migrations.VERSION_TABLE),
    ("clock", clock_migrations.VERSIONS, clock_migrations.VERSION_TABLE),
)
_CONNECT_S = 10.0


async def migrate(url: str, say: Callable[[str], None]) -> None:
    """Runs what is missing, however long it takes, and tells the revision of each service. Any number of these and
    of starting services may run at once: they wait for each other. Raises CommandError."""
    if not url.startswith("postgresql"):
        raise CommandError(
            "MAGNATE_DATABASE_URL names no Postgres (postgresql://...), and SQLite is brought up to date at the start"
        )
    try:
        engine = open_engine(url, connect={"timeout": _CONNECT_S}, poolclass=sa.pool.NullPool)
    except sa.exc.ArgumentError:
        raise CommandError("MAGNATE_DATABASE_URL is no URL of a database") from None

    async def run(work: Callable[[sa.Connection], Any]) -> Any:
        async with engine.begin() as connection:
            return await connection.run_sync(work)

    try:
        for name, versions, version_table in PARTS:
            await upgrade(run, versions=versions, version_table=version_table)
            where = sa.select(sa.column("version_num", sa.String)).select_from(sa.table(version_table))
            revision = await run(partial(_scalar, where))
            say(f"migrate: {name} is at {revision}")
    except BusyError as busy:
        raise CommandError(f"{busy}; end what holds it (pg_stat_activity) and try again", status=1) from None
    except (SQLAlchemyError, OSError, TimeoutError) as error:
        cause = getattr(error, "orig", None) or error
        raise CommandError(f"the database does not do what it should ({type(cause).__name__})", status=1) from None
    finally:
        await engine.dispose()


def _scalar(query: sa.Select[str], connection: sa.Connection) -> object:
    return connection.scalar(query)
