"""The clock's store, alike on SQLite and Postgres."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from services.clock.adapters import schema
from services.clock.adapters.databases import Database, open_database
from services.clock.adapters.store import SqlStore
from services.clock.application.ports import FencedError, Held
from services.clock.domain.play_time import Cause, Checkpoint, Outage
from services.kit.errors import ServiceError


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'magnate.db'}"
    return str(request.getfixturevalue("postgres_url"))


@pytest.fixture
async def store(url: str) -> AsyncIterator[SqlStore]:
    store = SqlStore(open_database(url))
    yield store
    await store.close()


def outage(outage_id: int) -> Outage:
    return Outage(
        outage_id=outage_id,
        from_unix_ms=1_700_000_000_000 + outage_id,
        to_unix_ms=1_700_000_009_000,
        cause=Cause.PROBE_LOST,
        given_back_ms=9_000,
    )


CHECKPOINT = Checkpoint(
    play_time_ms=86_400_000_000, given_back_ms=18_000, last_outage_id=2, saved_at_unix_ms=1_700_000_000_000
)


async def test_first_holder_begins_at_zero(store: SqlStore) -> None:
    assert await store.take_over() == Held(epoch=1, checkpoint=Checkpoint())


async def test_next_holder_goes_on_from_the_checkpoint_under_a_higher_epoch(url: str, store: SqlStore) -> None:
    """IND-TIME-20."""
    first = await store.take_over()
    await store.save(epoch=first.epoch, checkpoint=CHECKPOINT, ended=[outage(1), outage(2)])
    after_restart = SqlStore(open_database(url))
    assert await after_restart.take_over() == Held(epoch=2, checkpoint=CHECKPOINT)
    await after_restart.close()


async def test_older_epoch_writes_nothing(url: str, store: SqlStore) -> None:
    first = await store.take_over()
    other = SqlStore(open_database(url))
    second = await other.take_over()
    with pytest.raises(FencedError):
        await store.save(epoch=first.epoch, checkpoint=CHECKPOINT, ended=[outage(1)])
    assert await store.list_outages(before_id=None, limit=10) == []
    await other.save(epoch=second.epoch, checkpoint=CHECKPOINT, ended=[])
    assert (await other.take_over()).checkpoint == CHECKPOINT
    await other.close()


async def test_outages_newest_first_and_a_repeated_save_stores_each_once(store: SqlStore) -> None:
    held = await store.take_over()
    await store.save(epoch=held.epoch, checkpoint=CHECKPOINT, ended=[outage(1), outage(2)])
    await store.save(epoch=held.epoch, checkpoint=CHECKPOINT, ended=[outage(1), outage(2), outage(3)])
    assert await store.list_outages(before_id=None, limit=2) == [outage(3), outage(2)]
    assert await store.list_outages(before_id=2, limit=2) == [outage(1)]


async def test_clocks_that_start_at_once_get_different_epochs(url: str) -> None:
    stores = [SqlStore(open_database(url)) for _ in range(4)]
    held = await asyncio.gather(*(store.take_over() for store in stores))
    assert sorted(item.epoch for item in held) == [1, 2, 3, 4]
    for store in stores:
        await store.close()


async def test_migrations_and_tables_of_the_code_agree(url: str) -> None:
    database = open_database(url)
    store = SqlStore(database)
    await store.take_over()
    assert await database.run(_differences) == []
    await store.close()


async def test_unreachable_store_says_so() -> None:
    store = SqlStore(open_database("postgresql://nobody@127.0.0.1:1/none"))
    with pytest.raises(ServiceError) as caught:
        await store.take_over()
    assert caught.value.reason == "unreachable"
    await store.close()


async def test_failed_work_leaves_nothing(url: str) -> None:
    database: Database = open_database(url)
    store = SqlStore(database)
    held = await store.take_over()

    def spoil(connection: sa.Connection) -> None:
        connection.execute(sa.update(schema.play_time).values(play_time_ms=5))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await database.run(spoil)
    assert held.checkpoint.play_time_ms == 0
    assert (await store.take_over()).checkpoint.play_time_ms == 0
    await store.close()


def _differences(connection: sa.Connection) -> list[str]:
    inspector = sa.inspect(connection)
    found: list[str] = []
    for table in schema.metadata.tables.values():
        columns = {column["name"]: column for column in inspector.get_columns(table.name)}
        if list(columns) != [column.name for column in table.columns]:
            found.append(f"{table.name}: {list(columns)}")
        keys = inspector.get_pk_constraint(table.name)["constrained_columns"]
        if keys != [column.name for column in table.primary_key]:
            found.append(f"{table.name}: key {keys}")
    return found
