"""Replicas that share the shards, on virtual time: nobody loses time when they come, go, hang or die."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import pytest
from magnate.clock.v1 import clock_service_pb2 as pb

from services.clock.main import DESCRIPTOR
from services.kit.calls import LocalClient
from services.kit.errors import ServiceError
from services.kit.server import Service
from services.table.domain.shards import SHARDS
from tests.clock.small_site import MortalDatabase, SmallSite
from tests.clock.virtual_time import now_ms

Run = Callable[[Callable[[SmallSite], Awaitable[None]]], None]
PERIOD_MS = 250
PUNCTUAL_MS = 200
LOOK_MS = 200
NAMES = [f"t{number}" for number in range(40)]


async def held(client: LocalClient) -> dict[int, pb.PlayTime]:
    """The readings of a replica by their shards; none if it holds nothing."""
    found = {}
    for shard in range(SHARDS):
        with suppress(ServiceError):
            found[shard] = (await client.GetPlayTime(pb.GetPlayTimeRequest(shard=shard))).play_time
    return found


async def is_known(clients: list[LocalClient], table_id: str) -> bool:
    """Whether one of the replicas knows of a deadline of the table."""
    for client in clients:
        with suppress(ServiceError):
            if (await client.GetRemaining(pb.GetRemainingRequest(table_id=table_id))).remaining:
                return True
    return False


async def all_served(site: SmallSite, since_ms: float) -> float:
    """Milliseconds until play time of every shard advances again, as the tables hear it."""
    # What was heard last may be extrapolated for a period; only a new reading goes further.
    before = {shard: site.play_time_ms(shard) + PERIOD_MS for shard in range(SHARDS)}
    while any((site.play_times.now_ms(shard) or 0) <= ms for shard, ms in before.items()):
        await asyncio.sleep(0.05)
    return now_ms() - since_ms


@asynccontextmanager
async def watched(site: SmallSite) -> AsyncIterator[None]:
    """Checks the whole time that play time as tables have it never falls and never outruns real time."""

    async def watch() -> None:
        last = [(now_ms(), site.play_times.now_ms(shard)) for shard in range(SHARDS)]
        while True:
            await asyncio.sleep(0.07)
            for shard, (at_ms, before_ms) in enumerate(last):
                now = site.play_times.now_ms(shard)
                if before_ms is not None and now is not None:
                    assert 0 <= now - before_ms <= now_ms() - at_ms + PERIOD_MS / 2, shard
                if now is not None:
                    last[shard] = (now_ms(), now)

    task = asyncio.create_task(watch())
    yield
    if task.done():
        task.result()
    task.cancel()


async def start(site: SmallSite, count: int) -> tuple[list[Service], list[LocalClient]]:
    """So many replicas that have shared the shards out among themselves."""
    services = [site.clock(replica=f"r{number}") for number in range(count)]
    for service in services:
        await service.start()
    clients = [site.watch(service) for service in services]
    await asyncio.sleep(4)
    return services, clients


def test_replicas_share_the_shards_and_every_deadline_fires_once(run: Run) -> None:
    async def scenario(site: SmallSite) -> None:
        services, clients = await start(site, 3)
        shares = [set(await held(client)) for client in clients]
        assert sorted(len(share) for share in shares) == [20, 22, 22]
        assert set().union(*shares) == set(range(SHARDS))
        async with watched(site):
            opened_ms = {}
            for name in NAMES:
                opened_ms[name] = now_ms()
                await site.open(name, 1, 20_000)
                await asyncio.sleep(0.05)
            await asyncio.sleep(25)
        assert sorted(site.asked) == sorted((name, 1) for name in NAMES)
        for name, _, fired_ms in site.ended:
            assert 20_500 <= fired_ms - opened_ms[name] <= 20_500 + PUNCTUAL_MS
        for service in services:
            await service.stop()

    run(scenario)


def test_shards_of_a_dead_replica_are_served_within_five_seconds(run: Run) -> None:
    """IND-TIME-20: and each deadline fires once, with what was left of it, at most two periods late."""

    async def scenario(site: SmallSite) -> None:
        database = MortalDatabase(site.database())
        dying = site.clock(replica="dying", database=database, checkpoint_ms=200)
        await dying.start()
        site.watch(dying)
        others, _ = await start(site, 1)
        opened_ms = now_ms()
        for name in NAMES:
            await site.open(name, 1, 30_000)
        await asyncio.sleep(10.1)
        async with watched(site):
            killed_ms = now_ms()
            database.dead = True
            await dying.stop()
            away_ms = await all_served(site, killed_ms)
            assert away_ms <= 5_000
            await asyncio.sleep(30)
        assert len(site.ended) == len(NAMES)
        for _, _, fired_ms in site.ended:
            assert 30_500 <= fired_ms - opened_ms <= 30_500 + away_ms + 2 * PERIOD_MS + PUNCTUAL_MS
        left = [outage for outage in await _outages(others[0]) if outage.cause == pb.OUTAGE_CAUSE_CLOCK_AWAY]
        assert left[0].given_back_ms == pytest.approx(away_ms, abs=2 * PERIOD_MS)
        assert len(left[0].shards) == 32
        await others[0].stop()

    run(scenario)


def test_replica_that_leaves_hands_its_shards_over_at_once(run: Run) -> None:
    async def scenario(site: SmallSite) -> None:
        services, clients = await start(site, 2)
        async with watched(site):
            left_ms = now_ms()
            await services[0].stop()
            assert await all_served(site, left_ms) <= 1_500
        assert len(await held(clients[1])) == SHARDS
        await services[1].stop()

    run(scenario)


def test_replica_cut_off_from_the_store_stands_still_and_is_fenced(run: Run) -> None:
    """Its probes still come back, but nothing counts there once its lease is over; it finds others in its place, and
    takes part again."""

    async def scenario(site: SmallSite) -> None:
        database = MortalDatabase(site.database())
        first = site.clock(replica="first", database=database)
        await first.start()
        client = site.watch(first)
        await asyncio.sleep(2)
        second = site.clock(replica="second")
        await second.start()
        other = site.watch(second)
        await asyncio.sleep(3)
        mine = set(await held(client))
        assert len(mine) == 32
        async with watched(site):
            database.dead = True
            await asyncio.sleep(3.4)
            assert {reading.running for reading in (await held(client)).values()} == {False}
            await asyncio.sleep(1.6)
            taken = await held(other)
            assert len(taken) == SHARDS
            stale = await held(client)
            assert all(stale[shard].epoch < taken[shard].epoch for shard in mine)
            database.dead = False
            await asyncio.sleep(3)
            again, rest = set(await held(client)), set(await held(other))
            assert (len(again), again | rest, again & rest) == (32, set(range(SHARDS)), set())
        await first.stop()
        await second.stop()

    run(scenario)


def test_no_update_falls_between_two_subscriptions(run: Run) -> None:
    """Given updates that come while a replica gives a half of its shards away, then those of the half that it keeps are
    known at once, though it listens anew."""

    async def scenario(site: SmallSite) -> None:
        first = site.clock(replica="first")
        await first.start()
        clients = [site.watch(first)]
        await asyncio.sleep(2)
        second = site.clock(replica="second")
        await second.start()
        clients.append(site.watch(second))
        names = [f"u{number}" for number in range(600)]
        for name in names:
            await site.open(name, 1, 60_000)
            await asyncio.sleep(0.002)
        assert [len(await held(client)) for client in clients] == [32, 32]
        await asyncio.sleep(0.5)
        assert [name for name in names if not await is_known(clients, name)] == []
        await first.stop()
        await second.stop()

    run(scenario)


def test_whole_store_away_is_nobodys_loss(run: Run) -> None:
    """Given replicas that all lose the store, time goes on where it stood once it is back."""

    async def scenario(site: SmallSite) -> None:
        databases = [MortalDatabase(site.database()), MortalDatabase(site.database())]
        services = [site.clock(replica=f"r{n}", database=database) for n, database in enumerate(databases)]
        for service in services:
            await service.start()
            site.watch(service)
        await asyncio.sleep(4)
        opened_ms = now_ms()
        for name in NAMES:
            await site.open(name, 1, 20_000)
        await asyncio.sleep(5)
        async with watched(site):
            for database in databases:
                database.dead = True
            site.down = True
            await asyncio.sleep(30)
            site.down = False
            for database in databases:
                database.dead = False
            await asyncio.sleep(20)
        assert len(site.ended) == len(NAMES)
        for _, _, fired_ms in site.ended:
            assert 50_500 <= fired_ms - opened_ms <= 50_500 + 1_500 + 2 * PERIOD_MS + PUNCTUAL_MS
        for service in services:
            await service.stop()

    run(scenario)


@pytest.mark.parametrize("step_ms", [7_200_000, -7_200_000])
def test_steps_of_the_wall_clock_move_no_shard(run: Run, step_ms: int) -> None:
    """IND-TIME-17: nor do they while a shard changes hands; what is given back is never absurd."""

    async def scenario(site: SmallSite) -> None:
        services, clients = await start(site, 2)
        await site.open("t1", 1, 20_000)
        opened_ms = now_ms()
        async with watched(site):
            await asyncio.sleep(2)
            site.timepiece.wall_step_ms = step_ms
            await asyncio.sleep(5)
            await services[0].stop()
            await asyncio.sleep(5)
        readings = await held(clients[1])
        assert len(readings) == SHARDS
        assert all(0 <= reading.given_back_ms <= 10_000 for reading in readings.values())
        await asyncio.sleep(12)
        assert 20_500 <= site.ended[0][2] - opened_ms <= 20_500 + 5_000 + PUNCTUAL_MS
        await services[1].stop()

    run(scenario)


def test_replica_that_has_just_started_waits_for_its_share(run: Run) -> None:
    """So that tables and gateways have found it before anything depends on it."""

    async def scenario(site: SmallSite) -> None:
        first, second = site.clock(join_ms=5_000), site.clock(join_ms=5_000)
        await first.start()
        one = site.watch(first)
        await asyncio.sleep(1)
        await second.start()
        two = site.watch(second)
        await asyncio.sleep(4)
        assert (len(await held(one)), len(await held(two))) == (SHARDS, 0)
        await asyncio.sleep(3)
        assert (len(await held(one)), len(await held(two))) == (32, 32)
        await first.stop()
        await second.stop()

    run(scenario)


@pytest.mark.parametrize("after_s", [0.9, 0.95, 1.0, 1.05, 1.1])
def test_a_share_is_given_back_when_all_is_counted(run: Run, after_s: float) -> None:
    """Given a replica that gets its share, when it takes it over, then what does not count is the time from a probe of
    the one to the first of the other: a look, not a period besides."""

    async def scenario(site: SmallSite) -> None:
        site.probe_ms = 20.0
        first, second = site.clock(join_ms=5_000), site.clock(join_ms=5_000)
        await first.start()
        one = site.watch(first)
        await asyncio.sleep(after_s)
        before = {shard: time.given_back_ms for shard, time in (await held(one)).items()}
        await second.start()
        two = site.watch(second)
        await asyncio.sleep(7)
        passed = [time.given_back_ms - before[shard] for shard, time in (await held(two)).items()]
        assert len(passed) == 32
        assert max(passed) <= LOOK_MS + 3 * site.probe_ms
        await first.stop()
        await second.stop()

    run(scenario)


@pytest.mark.parametrize("what", ["store", "gateways"])
def test_no_shard_changes_hands_at_the_end_of_an_outage(run: Run, what: str) -> None:
    """Given a replica that may have its share since an outage began, when play time runs again, then it runs where it
    stood, and the share changes hands two seconds later."""

    async def scenario(site: SmallSite) -> None:
        databases = [MortalDatabase(site.database()), MortalDatabase(site.database())]
        first, second = (site.clock(database=database, join_ms=5_000) for database in databases)
        await first.start()
        one = site.watch(first)
        await asyncio.sleep(1)
        await second.start()
        two = site.watch(second)
        await asyncio.sleep(3)
        site.down = True
        for database in databases:
            database.dead = what == "store"
        await asyncio.sleep(2.8)
        site.down = False
        for database in databases:
            database.dead = False
        assert await all_served(site, now_ms()) <= 2 * PERIOD_MS
        await asyncio.sleep(1)
        assert (len(await held(one)), len(await held(two))) == (SHARDS, 0)
        await asyncio.sleep(2)
        assert (len(await held(one)), len(await held(two))) == (32, 32)
        await first.stop()
        await second.stop()

    run(scenario)


async def _outages(service: Service) -> list[pb.Outage]:
    answer: pb.ListOutagesResponse = await service.local(DESCRIPTOR).ListOutages(pb.ListOutagesRequest())
    return list(answer.outages)
