"""The clock's store, alike on SQLite and Postgres: leases with fencing, and the record of outages."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from services.clock.adapters import holds, outages, schema
from services.clock.adapters.databases import Database, open_database
from services.clock.adapters.store import SqlStore
from services.clock.application.ports import Kept, Outage, Taken, Terms
from services.clock.domain.play_time import Cause, Checkpoint, Instant, Start
from services.clock.domain.shards import ALL
from services.kit.errors import ServiceError
from services.kit.postgres import open_engine

Make = Callable[..., SqlStore]
LEASE_MS = 60_000
DAY_MS = 24 * 3_600_000


class SetTime:
    """Moments that a test sets. The store's own time on SQLite; on Postgres it changes nothing."""

    def __init__(self) -> None:
        self.unix_ms = 1_700_000_000_000

    def now(self) -> Instant:
        return Instant(mono_ns=0, unix_ms=self.unix_ms)


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'magnate.db'}"
    return str(request.getfixturevalue("postgres_url"))


@pytest.fixture
def timepiece() -> SetTime:
    return SetTime()


@pytest.fixture
async def make(url: str, timepiece: SetTime) -> AsyncIterator[Make]:
    """Makes the store as one replica has it."""
    made: list[SqlStore] = []

    def build(replica: str, *, lease_ms: int = LEASE_MS, join_ms: int = 0, forget_after_ms: int = 0) -> SqlStore:
        store = SqlStore(
            open_database(url),
            replica=replica,
            terms=Terms(lease_ms=lease_ms, join_ms=join_ms),
            timepiece=timepiece,
            forget_after_ms=forget_after_ms,
        )
        made.append(store)
        return store

    yield build
    for store in made:
        await store.close()


def kept(shards: Iterable[int], epoch: int, play_time_ms: int, **changes: object) -> Kept:
    values: dict[str, object] = {"given_back_ms": 5, "uncounted_ms": 0, "cause": None, **changes}
    return Kept(shards=tuple(shards), epoch=epoch, checkpoint=Checkpoint(play_time_ms=play_time_ms, **values))  # type: ignore[arg-type]


def outage(outage_id: int, *, shards: tuple[int, ...] = ALL) -> Outage:
    return Outage(
        outage_id=outage_id,
        from_unix_ms=1_700_000_000_000 + outage_id,
        to_unix_ms=1_700_000_009_000,
        cause=Cause.PROBE_LOST,
        given_back_ms=9_000,
        shards=shards,
    )


def past(shard: int, from_unix_ms: int, *, lasted_ms: int) -> Outage:
    """One of a single shard, with the id that the clock gives it."""
    return Outage(
        outage_id=from_unix_ms * 64 + shard % 64,
        from_unix_ms=from_unix_ms,
        to_unix_ms=from_unix_ms + lasted_ms,
        cause=Cause.PROBE_LOST,
        given_back_ms=lasted_ms,
        shards=(shard % 64,),
    )


async def test_the_first_replica_takes_all_shards(make: Make) -> None:
    look = await make("a").look((), None)
    assert look.taken == (Taken(shards=ALL, epoch=1, start=Start()),)
    assert look.share == 64


async def test_shards_are_shared_fairly_and_given_back(make: Make) -> None:
    """A second replica gets what the first one gives back; a third has the shares go down."""
    a, b, c = make("a"), make("b"), make("c")
    await a.look((), None)
    assert (await b.look((), None)).taken == ()
    assert (await a.look(range(64), None)).share == 32
    await a.give_back([kept(range(32, 64), 1, 7_000)])
    [taken] = (await b.look((), None)).taken
    assert (taken.shards, taken.epoch) == (tuple(range(32, 64)), 2)
    assert (taken.start.play_time_ms, taken.start.given_back_ms) == (7_000, 5)
    assert taken.start.away_ms is not None
    assert 0 <= taken.start.away_ms < 10_000
    assert (await c.look((), None)).share == 22
    await b.leave()
    assert (await a.look(range(32), None)).share == 32


async def test_what_was_given_to_a_silent_replica_is_taken_again_before_its_lease_would_be_over(
    make: Make, timepiece: SetTime
) -> None:
    """Given shards that were given back for one that died just before, when it has given no sign for a third of a
    lease, then who gave them has them again."""
    a, b = make("a", lease_ms=1_500), make("b", lease_ms=1_500)
    await a.look((), None)
    await b.look((), None)
    assert (await a.look(range(64), None)).share == 32
    await a.give_back([kept(range(32, 64), 1, 7_000)])
    assert (await a.look(range(32), None)).taken == ()
    await asyncio.sleep(0.6)
    timepiece.unix_ms += 600
    look = await a.look(range(32), None)
    assert look.share == 64
    assert [item.shards for item in look.taken] == [tuple(range(32, 64))]


async def test_a_newcomer_is_counted_by_others_only_once_it_has_joined(make: Make) -> None:
    """But what is free it has at once."""
    a, b = make("a", join_ms=50_000), make("b", join_ms=50_000)
    await a.look((), None)
    await a.give_back([kept(range(60, 64), 1, 7_000)])
    assert [item.shards for item in (await b.look((), None)).taken] == [(60, 61, 62, 63)]
    assert (await a.look(range(60), None)).share == 64


async def test_a_lease_that_ran_out_is_taken_over_and_the_one_before_is_fenced(make: Make, timepiece: SetTime) -> None:
    """IND-TIME-20: from the last checkpoint, under a higher epoch; what the one before still writes is refused."""
    a, b = make("a", lease_ms=400), make("b", lease_ms=400)
    await a.look((), None)
    assert await a.save([kept(ALL, 1, 86_400_000_000)], []) == frozenset(range(64))
    assert (await b.look((), None)).taken == ()
    await asyncio.sleep(0.5)
    timepiece.unix_ms += 500
    unsure = await b.look((), None)
    assert unsure.taken == ()
    assert (await b.look((), unsure.unix_ms - 3_600_000)).taken == ()
    [taken] = (await b.look((), unsure.unix_ms)).taken
    assert (taken.shards, taken.epoch, taken.start.play_time_ms) == (ALL, 2, 86_400_000_000)
    assert taken.start.away_ms is not None
    assert 500 <= taken.start.away_ms < 20_000
    assert await a.save([kept(ALL, 1, 86_400_009_000)], []) == frozenset()
    await a.give_back([kept(ALL, 1, 86_400_009_000)])
    assert await b.save([kept([0], 2, 86_400_000_100)], []) == frozenset({0})


async def test_a_holder_that_was_late_still_holds_what_nobody_took(make: Make, timepiece: SetTime) -> None:
    a = make("a", lease_ms=200)
    await a.look((), None)
    await asyncio.sleep(0.3)
    timepiece.unix_ms += 300
    assert await a.save([kept([3], 1, 50), kept([4], 9, 50)], []) == frozenset({3})


async def test_looks_at_once_give_each_shard_to_one(make: Make) -> None:
    stores = [make(f"r{number}") for number in range(4)]
    looks = await asyncio.gather(*(store.look((), None) for store in stores))
    taken = [shard for look in looks for item in look.taken for shard in item.shards]
    assert len(taken) == len(set(taken)) >= 40


async def test_a_replica_that_starts_again_under_its_name_has_its_shards_at_once(make: Make) -> None:
    await make("a").look((), None)
    [again] = (await make("a").look((), None)).taken
    assert (again.shards, again.epoch) == (ALL, 2)


async def test_a_lease_of_before_the_stores_clock_was_set_back_is_over(make: Make, url: str) -> None:
    """And nothing is given back for the time that there was twice."""
    a, b = make("a"), make("b")
    await a.look((), None)
    await a.save([kept(ALL, 1, 1_000)], [])
    database = open_database(url)
    await database.run(_set_clock_back)
    await database.close()
    unsure = await b.look((), None)
    [taken] = (await b.look((), unsure.unix_ms)).taken
    assert (taken.shards, taken.start.play_time_ms, taken.start.away_ms) == (ALL, 1_000, 0)


async def test_outages_newest_first_and_a_repeated_save_stores_each_once(make: Make) -> None:
    store = make("a")
    await store.look((), None)
    await store.save([kept(ALL, 1, 1)], [outage(100), outage(200, shards=(3, 4, 9))])
    await store.save([], [outage(100), outage(200, shards=(3, 4, 9)), outage(300)])
    assert await store.list_outages(before_id=None, limit=2) == [outage(300), outage(200, shards=(3, 4, 9))]
    assert await store.list_outages(before_id=200, limit=2) == [outage(100)]


async def test_outages_that_ended_long_ago_are_deleted_when_others_are_stored(make: Make) -> None:
    """A hundred at a time, the oldest first; one that began long ago and ended of late stays, and so do all for whom
    none is said to be too old."""
    store, other = make("a", forget_after_ms=90 * DAY_MS), make("b")
    now = (await store.look((), None)).unix_ms
    old = [past(number, now - 100 * DAY_MS + number, lasted_ms=1_000) for number in range(230)]
    of_before = replace(past(0, now - 200 * DAY_MS, lasted_ms=1_000), outage_id=7)
    long = past(0, now - 95 * DAY_MS, lasted_ms=6 * DAY_MS)
    young = past(0, now - 80 * DAY_MS, lasted_ms=1_000)
    await other.save([], [of_before, *old, long, young])
    assert len(await other.list_outages(before_id=None, limit=500)) == 233
    later = [past(0, now - 5_000 + number, lasted_ms=1) for number in range(4)]
    left = []
    for outage in later:
        await store.save([], [outage])
        await store.save([kept(ALL, 1, 1)], [])
        left.append([item for item in await store.list_outages(before_id=None, limit=500) if item in old])
    assert left == [old[:98:-1], old[:198:-1], [], []]
    assert await store.list_outages(before_id=None, limit=500) == [*reversed(later), young, long]


async def test_replicas_that_forget_at_once_do_not_wait_for_each_other(make: Make) -> None:
    stores = [make(f"r{number}", forget_after_ms=DAY_MS) for number in range(4)]
    now = (await stores[0].look((), None)).unix_ms
    await make("b").save([], [past(number, now - 9 * DAY_MS + number, lasted_ms=1) for number in range(300)])
    fresh = [past(number, now - 500 + number, lasted_ms=1) for number in range(4)]
    await asyncio.gather(*(store.save([], [outage]) for store, outage in zip(stores, fresh, strict=True)))
    await stores[0].save([], [fresh[0]])
    assert await stores[0].list_outages(before_id=None, limit=500) == fresh[::-1]


@pytest.mark.parametrize(
    "query",
    [outages.newest(None, 51), outages.newest(1_000 * 64, 51), outages.ended_before(1_000)],
    ids=["newest", "next_page", "to_forget"],
)
async def test_the_record_is_read_in_its_order_without_being_sorted(
    url: str, make: Make, query: sa.Select[Any]
) -> None:
    """However long it is."""
    await make("a").save([], [past(shard, ms, lasted_ms=1) for ms in range(40) for shard in range(50)])
    database = open_database(url)

    def explained(connection: sa.Connection) -> str:
        is_sqlite = connection.dialect.name == "sqlite"
        connection.execute(sa.text("ANALYZE"))
        said = str(query.compile(connection.engine, compile_kwargs={"literal_binds": True}))
        plan = connection.execute(sa.text(f"EXPLAIN {'QUERY PLAN' if is_sqlite else ''} {said}"))
        return "\n".join(str(row[-1]) for row in plan)

    plan = await database.run(explained)
    await database.close()
    assert "clock_outages_by_id" in plan
    assert not re.search("TEMP B-TREE|Sort|Seq Scan", plan), plan


async def test_what_lasts_is_listed_before_all_that_ended(make: Make) -> None:
    """By cause and begin; shards that nobody holds are without a clock."""
    store = make("a")
    await store.look((), None)
    running = kept({*range(60)} - {7, 9}, 1, 1)
    standing = kept([7, 9], 1, 1, uncounted_ms=90_000, cause=Cause.HELD)
    await store.save([running, standing], [outage(100)])
    await store.give_back([kept(range(60, 64), 1, 1)])
    found = await store.list_outages(before_id=None, limit=9)
    assert [(item.outage_id, item.cause, item.shards, item.to_unix_ms) for item in found] == [
        (0, Cause.CLOCK_AWAY, (60, 61, 62, 63), 0),
        (0, Cause.HELD, (7, 9), 0),
        (100, Cause.PROBE_LOST, ALL, 1_700_000_009_000),
    ]
    assert 89_000 < found[0].from_unix_ms - found[1].from_unix_ms < 100_000


@pytest.mark.parametrize("cause", [Cause.HELD, Cause.PROBE_LOST])
async def test_what_stood_still_when_its_holder_went_stands_for_the_same_cause(make: Make, cause: Cause) -> None:
    """Given shards that stood for a cause when they were stored last, and others that ran, when nobody holds them, then
    the first stand for that cause and the others for want of a clock; and who takes them over is told so."""
    a, b = make("a"), make("b")
    await a.look((), None)
    standing = kept(range(32), 1, 7_000, uncounted_ms=600_000, cause=cause)
    await a.give_back([standing, kept(range(32, 64), 1, 7_000)])
    await a.leave()
    listed = await b.list_outages(before_id=None, limit=9)
    assert [(item.cause, item.shards, item.to_unix_ms) for item in listed] == [
        (Cause.CLOCK_AWAY, tuple(range(32, 64)), 0),
        (cause, tuple(range(32)), 0),
    ]
    taken = {item.shards: item.start for item in (await b.look((), None)).taken}
    assert {shards: start.cause for shards, start in taken.items()} == {
        tuple(range(32)): cause,
        tuple(range(32, 64)): None,
    }
    away_ms = taken[tuple(range(32))].away_ms
    assert away_ms is not None
    assert 600_000 <= away_ms < 610_000


async def test_releases_one_after_another_leave_what_neither_names(make: Make) -> None:
    store = make("a")
    await store.hold("h1", ALL, "a new version", begins_in_ms=0, lasts_ms=60_000)
    assert await store.release(range(48, 64)) == tuple(range(48, 64))
    assert await store.release(range(40, 50)) == tuple(range(40, 48))
    assert [hold.shards for hold in (await store.list_holds())[0]] == [tuple(range(40))]


async def test_two_releases_at_the_same_moment_both_count(postgres_url: str, timepiece: SetTime) -> None:
    """Given an operator who has released a half of the shards and another who releases the other half before the first
    is done, then no shard is held any more."""
    terms = Terms(lease_ms=LEASE_MS, join_ms=0)
    store = SqlStore(open_database(postgres_url), replica="a", terms=terms, timepiece=timepiece)
    await store.hold("h1", ALL, "a new version", begins_in_ms=0, lasts_ms=60_000)
    engine = open_engine(postgres_url, connect={}, poolclass=sa.pool.NullPool)
    async with engine.connect() as watcher:
        async with engine.begin() as first:
            half = await first.run_sync(holds.release, range(32, 64), 0)
            other = asyncio.create_task(store.release(range(32)))
            while not await watcher.scalar(sa.text("SELECT count(*) FROM pg_locks WHERE NOT granted")):
                await asyncio.sleep(0.01)
        assert (half, await other) == (tuple(range(32, 64)), tuple(range(32)))
    assert (await store.list_holds())[0] == ()
    await engine.dispose()
    await store.close()


async def test_migrations_and_tables_of_the_code_agree(url: str, make: Make) -> None:
    await make("a").look((), None)
    database = open_database(url)
    assert await database.run(_differences) == []
    await database.close()


async def test_unreachable_store_says_so(timepiece: SetTime) -> None:
    database = open_database("postgresql://nobody@127.0.0.1:1/none")
    store = SqlStore(database, replica="a", terms=Terms(lease_ms=LEASE_MS, join_ms=0), timepiece=timepiece)
    with pytest.raises(ServiceError) as caught:
        await store.look((), None)
    assert caught.value.reason == "unreachable"
    await store.close()


async def test_failed_work_leaves_nothing(url: str, make: Make) -> None:
    store = make("a")
    await store.look((), None)
    database: Database = open_database(url)

    def spoil(connection: sa.Connection) -> None:
        connection.execute(sa.update(schema.shards).values(play_time_ms=5, holder=""))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await database.run(spoil)
    await store.leave()
    assert [item.start.play_time_ms for item in (await store.look((), None)).taken] == [0]
    await database.close()


def _set_clock_back(connection: sa.Connection) -> None:
    """By an hour, as the rows see it."""
    for table, names in ((schema.shards, ("lease_until_ms", "saved_at_ms")), (schema.replicas, ("seen_at_ms",))):
        connection.execute(sa.update(table).values({name: table.c[name] + 3_600_000 for name in names}))


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
        indexes = {index["name"] for index in inspector.get_indexes(table.name)}
        if indexes != {index.name for index in table.indexes}:
            found.append(f"{table.name}: indexes {indexes}")
    return found
