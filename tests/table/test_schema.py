"""The migrations make what the statements count on, and can be taken back."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.operations import Operations
from alembic.script import ScriptDirectory

from services.table.adapters.migrations import VERSION_TABLE, VERSIONS
from services.table.adapters.schema import metadata
from services.table.adapters.store import open_database
from tests.support.site_of_tables import refusal


def _differences(connection: sa.Connection) -> list[Any]:
    context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
    return list(compare_metadata(context, metadata))


def _downgrade(connection: sa.Connection) -> list[str]:
    script = ScriptDirectory(str(VERSIONS.parent), version_locations=[str(VERSIONS)])
    context = MigrationContext.configure(connection)
    with Operations.context(context):
        for revision in script.walk_revisions():
            revision.module.downgrade()
    return sorted(set(sa.inspect(connection).get_table_names()) - {VERSION_TABLE})


async def test_the_migrations_make_the_schema(store_url: str) -> None:
    database = open_database(store_url)
    await database.start()
    assert await database.read(_differences) == []
    await database.close()


async def test_starting_again_changes_nothing(store_url: str) -> None:
    for _ in range(2):
        database = open_database(store_url)
        await database.start()
        await database.close()
    database = open_database(store_url)
    await database.start()
    assert await database.read(_differences) == []
    await database.close()


async def test_the_migrations_can_be_taken_back(store_url: str) -> None:
    database = open_database(store_url)
    await database.start()
    assert await database.write(_downgrade) == []
    await database.close()


def test_every_key_of_a_table_begins_with_its_shard() -> None:
    for table in metadata.sorted_tables:
        assert next(column.name for column in table.primary_key) == "shard"


async def test_a_file_that_is_no_database_stops_the_start(tmp_path: Path) -> None:
    """At once and with a reason, whatever is in its place; nobody waits for a writer that has not begun."""
    (tmp_path / "text.db").write_bytes(b"no database at all " * 300)
    (tmp_path / "folder.db").mkdir()
    for name in ("text.db", "folder.db"):
        database = open_database(f"sqlite:///{tmp_path / name}")
        async with asyncio.timeout(10):
            assert await refusal(database.start()) == "unreachable"
            await database.close()
