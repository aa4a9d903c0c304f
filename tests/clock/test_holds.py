"""An operator holds shards: announced, kept by whoever holds them, given back to the players."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from magnate.clock.v1 import clock_service_pb2 as pb

from services.clock.domain.shards import read_shards, write_shards
from services.clock.main import DESCRIPTOR
from services.kit.calls import LocalClient
from services.kit.server import Service
from services.table.domain.shards import shard_of
from tests.clock.small_site import MortalDatabase, SmallSite
from tests.clock.virtual_time import now_ms

Run = Callable[[Callable[[SmallSite], Awaitable[None]]], None]
PERIOD_MS = 250
PUNCTUAL_MS = 200
HELD = shard_of("t1")
FREE = shard_of("t2")


def order(
    begins_in_ms: int,
    lasts_ms: int,
    *,
    shards: tuple[int, ...] = (HELD,),
    hold_id: str = "h1",
    reason: str = "a new version",
) -> pb.HoldShardsRequest:
    return pb.HoldShardsRequest(
        hold_id=hold_id, shards=shards, begins_in_ms=begins_in_ms, lasts_ms=lasts_ms, reason=reason
    )


def operator(clock: Service) -> LocalClient:
    return clock.local(DESCRIPTOR, caller="operator")


async def reading(client: LocalClient, shard: int) -> pb.PlayTime:
    answer: pb.GetPlayTimeResponse = await client.GetPlayTime(pb.GetPlayTimeRequest(shard=shard))
    return answer.play_time


def test_held_shards_stand_still_from_the_announced_moment_to_the_end(run: Run) -> None:
    async def scenario(site: SmallSite) -> None:
        clock = site.clock()
        await clock.start()
        client = site.watch(clock)
        await asyncio.sleep(2)
        opened_ms = now_ms()
        await site.open("t1", 1, 10_000)
        await site.open("t2", 1, 10_000)
        told = (await operator(clock).HoldShards(order(4_000, 6_000))).hold
        assert (list(told.shards), told.reason) == ([HELD], "a new version")
        assert 3_990 <= told.begins_in_ms <= 4_000
        await asyncio.sleep(3)
        announced = await reading(client, HELD)
        assert announced.running
        assert (announced.hold.reason, list(announced.hold.shards)) == ("a new version", [HELD])
        assert 900 <= announced.hold.begins_in_ms <= 1_000
        assert not (await reading(client, FREE)).HasField("hold")
        await asyncio.sleep(2)
        held, free = await reading(client, HELD), await reading(client, FREE)
        assert (held.running, held.cause) == (False, pb.OUTAGE_CAUSE_HELD)
        assert held.hold.begins_in_ms == 0
        assert 4_900 <= held.hold.ends_in_ms <= 5_000
        assert free.running
        assert site.play_times.held(HELD) == "a new version"
        assert site.play_times.held(FREE) is None
        await asyncio.sleep(6)
        assert not (await reading(client, HELD)).HasField("hold")
        await asyncio.sleep(8)
        fired = {table_id: fired_ms - opened_ms for table_id, _, fired_ms in site.ended}
        assert 10_500 <= fired["t2"] <= 10_500 + PUNCTUAL_MS
        assert 16_500 <= fired["t1"] <= 16_500 + 2 * PERIOD_MS + PUNCTUAL_MS
        [outage] = (await client.ListOutages(pb.ListOutagesRequest())).outages
        assert (outage.cause, list(outage.shards)) == (pb.OUTAGE_CAUSE_HELD, [HELD])
        assert 6_000 <= outage.given_back_ms <= 6_000 + 2 * PERIOD_MS
        await clock.stop()

    run(scenario)


def test_a_hold_outlives_the_replica_and_ends_by_release(run: Run) -> None:
    async def scenario(site: SmallSite) -> None:
        first, second = site.clock(), site.clock()
        await first.start()
        await second.start()
        site.watch(first)
        client = site.watch(second)
        await asyncio.sleep(3)
        everything = order(0, 3_600_000, shards=())
        await operator(first).HoldShards(everything)
        await operator(first).HoldShards(everything)
        await asyncio.sleep(2)
        await first.stop()
        await asyncio.sleep(5)
        readings = [await reading(client, shard) for shard in range(64)]
        assert {(item.running, item.cause) for item in readings} == {(False, pb.OUTAGE_CAUSE_HELD)}
        [listed] = (await operator(second).ListHolds(pb.ListHoldsRequest())).holds
        assert len(listed.shards) == 64
        released = await operator(second).ReleaseShards(pb.ReleaseShardsRequest(shards=[HELD]))
        assert list(released.shards) == [HELD]
        await asyncio.sleep(2)
        assert ((await reading(client, HELD)).running, (await reading(client, FREE)).running) == (True, False)
        await operator(second).ReleaseShards(pb.ReleaseShardsRequest())
        await asyncio.sleep(2)
        assert (await reading(client, FREE)).running
        assert not (await operator(second).ListHolds(pb.ListHoldsRequest())).holds
        assert not (await operator(second).ReleaseShards(pb.ReleaseShardsRequest())).shards
        await second.stop()

    run(scenario)


async def told(client: LocalClient, shard: int) -> tuple[str, int, int] | None:
    """Reason of the hold that is told for a shard, and seconds until its begin and its end."""
    play_time = await reading(client, shard)
    if not play_time.HasField("hold"):
        return None
    hold = play_time.hold
    return hold.reason, round(hold.begins_in_ms / 1000), round(hold.ends_in_ms / 1000)


def test_of_holds_that_follow_each_other_without_a_break_the_last_end_is_told(run: Run) -> None:
    """Given holds of 10 to 60 s, 30 to 120 s (of one shard only), 120 to 130 s and 140 to 150 s, then each
    shard hears the reason of the one that lasts or comes next, and the end up to which it stands still."""

    async def scenario(site: SmallSite) -> None:
        clock = site.clock()
        await clock.start()
        client = site.watch(clock)
        await asyncio.sleep(2)
        book = operator(clock)
        await book.HoldShards(order(120_000, 10_000, hold_id="c", reason="C"))
        await book.HoldShards(order(30_000, 90_000, hold_id="b", reason="B"))
        await book.HoldShards(order(10_000, 50_000, hold_id="a", reason="A", shards=()))
        await book.HoldShards(order(140_000, 10_000, hold_id="d", reason="D"))
        await asyncio.sleep(1)
        assert await told(client, HELD) == ("A", 9, 129)
        assert await told(client, FREE) == ("A", 9, 59)
        await asyncio.sleep(39)
        assert await told(client, HELD) == ("A", 0, 90)
        await asyncio.sleep(30)
        assert (await told(client, HELD), await told(client, FREE)) == (("B", 0, 60), None)
        await asyncio.sleep(55)
        assert await told(client, HELD) == ("C", 0, 5)
        await asyncio.sleep(10)
        assert await told(client, HELD) == ("D", 5, 15)
        await asyncio.sleep(25)
        assert await told(client, HELD) is None
        await clock.stop()

    run(scenario)


def test_holds_of_all_shards_that_overlap_are_told_for_all_at_once(run: Run) -> None:
    """And a shard that is released hears of neither any more."""

    async def scenario(site: SmallSite) -> None:
        clock = site.clock()
        await clock.start()
        client = site.watch(clock)
        await asyncio.sleep(2)
        await operator(clock).HoldShards(order(0, 600_000, shards=()))
        await operator(clock).HoldShards(order(300_000, 900_000, shards=(), hold_id="h2", reason="longer"))
        await asyncio.sleep(10)
        async with client.WatchPlayTime(pb.WatchPlayTimeRequest()) as answers:
            first: pb.WatchPlayTimeResponse = await anext(aiter(answers))
        [only] = first.play_times
        assert (first.same_for_all, only.hold.reason, round(only.hold.ends_in_ms / 1000)) == (
            True,
            "a new version",
            1_190,
        )
        await operator(clock).ReleaseShards(pb.ReleaseShardsRequest(shards=[FREE]))
        await asyncio.sleep(1)
        assert (await told(client, HELD), await told(client, FREE)) == (("a new version", 0, 1_189), None)
        await clock.stop()

    run(scenario)


@pytest.mark.parametrize("dies", [False, True])
def test_a_hold_whose_shards_change_hands_is_one_outage_of_its_own_cause(run: Run, dies: bool) -> None:
    """Given a hold of 90 s, when the clock is replaced after 60 s, then what did not count is one stretch of the
    hold, as long as it was."""

    async def scenario(site: SmallSite) -> None:
        database = MortalDatabase(site.database())
        first = site.clock(database=database)
        await first.start()
        site.watch(first)
        await asyncio.sleep(2)
        await operator(first).HoldShards(order(0, 90_000, shards=()))
        await asyncio.sleep(60)
        given_back_ms = (await reading(first.local(DESCRIPTOR), HELD)).given_back_ms
        database.dead = dies
        await first.stop()
        second = site.clock()
        await second.start()
        client = site.watch(second)
        await asyncio.sleep(10)
        assert (await reading(client, HELD)).cause == pb.OUTAGE_CAUSE_HELD
        [lasting] = (await client.ListOutages(pb.ListOutagesRequest())).outages
        assert (lasting.cause, lasting.to_unix_ms, len(lasting.shards)) == (pb.OUTAGE_CAUSE_HELD, 0, 64)
        await asyncio.sleep(30)
        [outage] = (await client.ListOutages(pb.ListOutagesRequest())).outages
        assert (outage.cause, len(outage.shards)) == (pb.OUTAGE_CAUSE_HELD, 64)
        assert 90_000 <= outage.given_back_ms <= 90_000 + 4 * PERIOD_MS
        after = await reading(client, HELD)
        assert (after.running, after.given_back_ms) == (True, given_back_ms + outage.given_back_ms)
        await second.stop()

    run(scenario)


@pytest.mark.parametrize(
    ("text", "shards"), [("0-3", (0, 1, 2, 3)), ("40,0-1", (0, 1, 40)), ("63", (63,)), ("5-5,6", (5, 6))]
)
def test_shards_are_written_as_ranges(text: str, shards: tuple[int, ...]) -> None:
    assert read_shards(text) == shards
    assert read_shards(write_shards(shards)) == shards


@pytest.mark.parametrize("text", ["", "64", "3-1", "a", "-1", "1-", "1,,2", "0-64"])
def test_what_names_no_shards_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="names no shards; they are written like 0-31,40"):
        read_shards(text)
