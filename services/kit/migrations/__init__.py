"""Brings the tables of one service up to date. Each service has revisions and a version table of its own, so that
several may share a database.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from weakref import WeakKeyDictionary

import sqlalchemy as sa

from services.kit.logs import get_log

_log = get_log(__name__)
# Whoever waits for a table's lock makes all others wait behind him, commands too: rather give up and try again.
_LOCK_LIMIT_MS = 1_000
_TRIES = 30
_PAUSE_S = 1.0
_LOCK_NOT_AVAILABLE = "55P03"

Run = Callable[[Callable[[sa.Connection], None]], Awaitable[object]]

# Alembic keeps its context in globals: two migrations of one process must not overlap.
_locks: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()


async def upgrade(run: Run, *, versions: Path, version_table: str) -> None:
    """Runs the revisions of the folder `versions` that are missing.

    `run` does its argument in one transaction on a connection (for asyncpg `AsyncConnection.run_sync`, for SQLite in
    a thread, say). On Postgres other processes that migrate the same tables wait for this one. Tables that a newer
    program has brought further are left alone: its revisions only add, until nothing old runs any more.

    The site goes on meanwhile: a table that is locked too long by somebody else is tried again a little later. Raises
    BusyError when that does not help.
    """
    lock = _locks.setdefault(asyncio.get_running_loop(), asyncio.Lock())
    async with lock:
        for left in reversed(range(_TRIES)):
            try:
                await run(lambda connection: _upgrade(connection, versions, version_table))
            except BusyError:
                if not left:
                    raise
                _log.warning("migration_waits", version_table=version_table, tries_left=left)
                await asyncio.sleep(_PAUSE_S)
            else:
                return


class BusyError(RuntimeError):
    """Somebody holds a lock on a table that is to be changed."""


def _upgrade(connection: sa.Connection, versions: Path, version_table: str) -> None:
    # Only here: nobody needs it later, and it is not small.
    from alembic import command  # noqa: PLC0415
    from alembic.config import Config  # noqa: PLC0415
    from alembic.migration import MigrationContext  # noqa: PLC0415
    from alembic.script import ScriptDirectory  # noqa: PLC0415

    if connection.dialect.name == "postgresql":
        connection.execute(sa.text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": zlib.crc32(version_table.encode())})
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.set_main_option("path_separator", "os")
    config.set_main_option("version_locations", str(versions).replace("%", "%%"))
    config.attributes.update(connection=connection, version_table=version_table)
    scripts = ScriptDirectory.from_config(config)
    known = {script.revision for script in scripts.walk_revisions()}
    present = MigrationContext.configure(connection, opts={"version_table": version_table}).get_current_revision()
    if present is not None and present not in known:
        _log.warning("schema_is_newer", version_table=version_table, revision=present)
        return
    if present is not None and present == scripts.get_current_head():
        return
    if connection.dialect.name == "postgresql":
        connection.execute(sa.text(f"SET LOCAL lock_timeout = {_LOCK_LIMIT_MS}"))
    try:
        command.upgrade(config, "head")
    except sa.exc.DBAPIError as error:
        if getattr(error.orig, "sqlstate", None) != _LOCK_NOT_AVAILABLE:
            raise
        raise BusyError(f"{version_table}: a table is locked by somebody else") from None
