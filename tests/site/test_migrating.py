"""`magnate migrate` on a real Postgres: many at once, beside starting stores, and after a newer program."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys

import asyncpg
import pytest

from services.kit.errors import ServiceError
from services.site.errors import CommandError
from services.site.migrating import migrate
from services.table.adapters.store import SqlStore as TableStore
from services.table.adapters.store import open_database as open_table_database
from services.table.adapters.system import SystemWall
from tests.support.clock_stores import clock_store


async def revisions(url: str) -> tuple[str, str]:
    connection = await asyncpg.connect(url)
    try:
        return (
            await connection.fetchval("SELECT version_num FROM table_version"),
            await connection.fetchval("SELECT version_num FROM clock_alembic_version"),
        )
    finally:
        await connection.close()


async def start_stores(url: str, replica: str = "one") -> None:
    tables = TableStore(open_table_database(url), SystemWall())
    clock = clock_store(url, replica=replica)
    await tables.start()
    await tables.ping()
    await clock.look((), None)
    await tables.close()
    await clock.close()


async def test_many_at_once_do_it_once(postgres_url: str) -> None:
    said: list[str] = []
    jobs = (migrate(postgres_url, said.append) for _ in range(3))
    await asyncio.gather(*jobs, *(start_stores(postgres_url, replica) for replica in ("one", "two")))
    table, clock = await revisions(postgres_url)
    assert sorted(set(said)) == [f"migrate: clock is at {clock}", f"migrate: table is at {table}"]
    assert len(said) == 6


async def test_an_old_program_starts_on_newer_tables(postgres_url: str) -> None:
    """In a rolling upgrade an old replica may start again after the migration: it takes the tables as they are."""
    await migrate(postgres_url, lambda _: None)
    connection = await asyncpg.connect(postgres_url)
    await connection.execute("UPDATE table_version SET version_num = 'table_9999'")
    await connection.execute("UPDATE clock_alembic_version SET version_num = 'clock_9999'")
    await connection.close()
    await start_stores(postgres_url)
    assert await revisions(postgres_url) == ("table_9999", "clock_9999")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("sqlite:///magnate.db", "names no Postgres"),
        ("postgresql://nobody@127.0.0.1:1/none", "the database does not do what it should"),
    ],
)
async def test_what_cannot_be_migrated_is_named(url: str, expected: str) -> None:
    with pytest.raises(CommandError, match=expected):
        await migrate(url, lambda _: None)


def test_the_command_does_it(postgres_url: str) -> None:
    done = subprocess.run(
        (sys.executable, "-m", "services.site", "migrate"),
        env={**os.environ, "MAGNATE_DATABASE_URL": postgres_url},
        capture_output=True,
        text=True,
        check=False,
    )
    table, clock = asyncio.run(revisions(postgres_url))
    assert (done.returncode, done.stdout) == (0, f"migrate: table is at {table}\nmigrate: clock is at {clock}\n")


def _with(url: str, parameter: str) -> str:
    return f"{url}{'&' if '?' in url else '?'}{parameter}"


async def test_the_url_says_how_connections_are_secured(postgres_url: str) -> None:
    """Given `sslmode` in the URL, then the migration and the stores of both services keep to it: they do their work in
    the mode that it names, and have no connection where there is no such mode."""
    known, unknown = _with(postgres_url, "sslmode=prefer"), _with(postgres_url, "sslmode=nonsense")
    await migrate(known, lambda _: None)
    for url, expected in ((known, "done"), (unknown, "unreachable")):
        tables, clock = TableStore(open_table_database(url), SystemWall()), clock_store(url)
        for work in (tables.start(), tables.ping(), clock.list_outages(before_id=None, limit=1)):
            try:
                await work
                outcome = "done"
            except ServiceError as error:
                outcome = error.reason
            assert outcome == expected
        await tables.close()
        await clock.close()
    with pytest.raises(CommandError, match="the database does not do what it should"):
        await migrate(unknown, lambda _: None)
