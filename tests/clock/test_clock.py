"""The whole clock on virtual time: hours pass in no time, and every moment is exact."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from magnate.clock.v1 import clock_service_pb2 as pb

from tests.clock.small_site import MortalDatabase, SmallSite
from tests.clock.virtual_time import now_ms

Scenario = Callable[[SmallSite], Awaitable[None]]
Run = Callable[[Scenario], None]

PERIOD_MS = 250
PUNCTUAL_MS = 200


async def pause(seconds: float) -> None:
    await asyncio.sleep(seconds)


def test_deadline_fires_when_its_budget_is_over(run: Run) -> None:
    """Not a moment early, and within a fifth of a second."""

    async def scenario(site: SmallSite) -> None:
        clock = site.clock()
        await clock.start()
        site.watch(clock)
        await pause(2)
        opened_ms: dict[str, float] = {}
        for number in range(40):
            opened_ms[f"t{number}"] = now_ms()
            await site.open(f"t{number}", 1, 60_000)
            await pause(0.937)
        await pause(120)
        assert sorted(site.asked) == sorted((table_id, 1) for table_id in opened_ms)
        assert [table_id for table_id, _, _ in site.ended] == list(opened_ms)
        for table_id, _, fired_ms in site.ended:
            assert 60_500 <= fired_ms - opened_ms[table_id] <= 60_500 + PUNCTUAL_MS
        await clock.stop()

    run(scenario)


def test_outage_gives_its_time_back(run: Run) -> None:
    """IND-TIME-04, IND-TIME-17: whatever was left before the outage is left after it, and none fires in between."""

    async def scenario(site: SmallSite) -> None:
        clock = site.clock()
        await clock.start()
        client = site.watch(clock)
        await pause(2)
        opened_ms = now_ms()
        await site.open("turn", 1, 120_000)
        await site.open("trade", 1, 60_000)
        await pause(20)
        before = await client.GetRemaining(pb.GetRemainingRequest(table_id="trade"))
        site.down = True
        await pause(600)
        assert site.asked == []
        during = await client.GetPlayTime(pb.GetPlayTimeRequest(shard=9))
        assert (during.play_time.shard, during.play_time.running) == (9, False)
        site.down = False
        await pause(0.3)
        after = await client.GetRemaining(pb.GetRemainingRequest(table_id="trade"))
        assert before.remaining[0].left_ms - 300 <= after.remaining[0].left_ms <= before.remaining[0].left_ms
        await pause(140)
        fired = {table_id: fired_ms - opened_ms for table_id, _, fired_ms in site.ended}
        for table_id, budget_ms in (("trade", 60_000), ("turn", 120_000)):
            least_ms = budget_ms + 500 + 600_000
            assert least_ms <= fired[table_id] <= least_ms + 2 * PERIOD_MS + PUNCTUAL_MS
        assert site.asked == [("trade", 1), ("turn", 1)]
        outages = (await client.ListOutages(pb.ListOutagesRequest())).outages
        assert [item.cause for item in outages] == [pb.OUTAGE_CAUSE_PROBE_LOST]
        assert 600_000 - PERIOD_MS <= outages[0].given_back_ms <= 600_000 + 2 * PERIOD_MS
        assert outages[0].to_unix_ms - outages[0].from_unix_ms == pytest.approx(outages[0].given_back_ms, abs=2)
        await clock.stop()

    run(scenario)


def test_the_first_probe_after_an_outage_of_the_store_has_the_leases_renewed(run: Run) -> None:
    """Given a store that is away until all leases have lapsed, when it is back, then play time runs after one period,
    not only after the next checkpoint."""

    async def scenario(site: SmallSite) -> None:
        database = MortalDatabase(site.database())
        clock = site.clock(database=database)
        await clock.start()
        client = site.watch(clock)
        await pause(2)
        for away_s in (5.0, 5.3, 5.6, 5.9):
            before = await client.GetPlayTime(pb.GetPlayTimeRequest(shard=9))
            site.down = database.dead = True
            await pause(away_s)
            site.down = database.dead = False
            await pause((PERIOD_MS + 30) / 1000)
            after = await client.GetPlayTime(pb.GetPlayTimeRequest(shard=9))
            assert after.play_time.running
            given_back_ms = after.play_time.given_back_ms - before.play_time.given_back_ms
            assert away_s * 1000 <= given_back_ms <= away_s * 1000 + 2 * PERIOD_MS
            await pause(2)
        await clock.stop()

    run(scenario)


def test_hanging_site_is_an_outage_too(run: Run) -> None:
    """IND-TIME-17: probes that neither come back nor fail."""

    async def scenario(site: SmallSite) -> None:
        clock = site.clock()
        await clock.start()
        site.watch(clock)
        await pause(2)
        opened_ms = now_ms()
        await site.open("t1", 1, 60_000)
        site.hanging = True
        await pause(90)
        assert site.asked == []
        site.hanging = False
        await pause(100)
        assert 60_500 + 90_000 <= site.ended[0][2] - opened_ms <= 60_500 + 90_000 + 2 * PERIOD_MS + PUNCTUAL_MS
        await clock.stop()

    run(scenario)


def test_a_site_that_hung_counts_again_within_half_a_period(run: Run) -> None:
    """Whenever it goes on: while play time stands two probes a period look for that, though those before still hang."""

    async def scenario(site: SmallSite) -> None:
        clock = site.clock()
        await clock.start()
        site.watch(clock)
        await pause(2)
        for number in range(12):
            site.hanging = True
            await pause(3 + number * 0.021)
            site.hanging = False
            stood_ms, back_ms = site.play_time_ms(), now_ms()
            while site.play_time_ms() == stood_ms:
                await pause(0.001)
            assert now_ms() - back_ms <= PERIOD_MS / 2 + 10
        await clock.stop()

    run(scenario)


def test_slow_site_is_playable(run: Run) -> None:
    """Probes that all take long overlap; time goes on."""

    async def scenario(site: SmallSite) -> None:
        clock = site.clock()
        site.probe_ms = 800
        await clock.start()
        site.watch(clock)
        await pause(5)
        before_ms = site.play_time_ms()
        await pause(60)
        assert site.play_time_ms() - before_ms == pytest.approx(60_000, abs=PERIOD_MS)
        await clock.stop()

    run(scenario)


def test_killed_clock_goes_on_with_what_was_left(run: Run) -> None:
    """IND-TIME-20: deadlines are rebuilt from the tables; the players gain what was not stored."""

    async def scenario(site: SmallSite) -> None:
        database = MortalDatabase(site.database())
        first = site.clock(database=database)
        await first.start()
        site.watch(first)
        await pause(2)
        opened_ms = now_ms()
        await site.open("t1", 1, 300_000)
        await site.open("t2", 1, 300_000)
        await site.open("t3", 1, 60_000)
        await pause(30.9)
        database.dead = True
        await first.stop()
        second = site.clock()
        await pause(45)
        await second.start()
        client = site.watch(second)
        await pause(2.5)
        left = (await client.GetRemaining(pb.GetRemainingRequest(table_id="t1"))).remaining
        assert [item.deadline_id for item in left] == [1]
        assert 268_000 <= left[0].left_ms <= 270_500
        await pause(400)
        fired = {table_id: fired_ms - opened_ms for table_id, _, fired_ms in site.ended}
        for table_id, budget_ms in (("t1", 300_000), ("t2", 300_000), ("t3", 60_000)):
            least_ms = budget_ms + 500 + 45_000
            assert least_ms <= fired[table_id] <= least_ms + 3_000 + 2 * PERIOD_MS + PUNCTUAL_MS
        assert len(site.ended) == 3
        outages = (await client.ListOutages(pb.ListOutagesRequest())).outages
        assert [item.cause for item in outages] == [pb.OUTAGE_CAUSE_CLOCK_AWAY]
        await second.stop()

    run(scenario)


def test_steps_of_the_wall_clock_do_not_matter(run: Run) -> None:
    """IND-TIME-17."""

    async def scenario(site: SmallSite) -> None:
        clock = site.clock()
        await clock.start()
        client = site.watch(clock)
        await pause(2)
        opened_ms = now_ms()
        await site.open("t1", 1, 60_000)
        await pause(10)
        site.timepiece.wall_step_ms = 86_400_000
        await pause(10)
        site.timepiece.wall_step_ms = -86_400_000
        await pause(60)
        assert 60_500 <= site.ended[0][2] - opened_ms <= 60_500 + PUNCTUAL_MS
        assert list((await client.ListOutages(pb.ListOutagesRequest())).outages) == []
        await clock.stop()

    run(scenario)


def test_two_clocks_end_a_deadline_once(run: Run) -> None:
    """IND-TIME-16: both say that time is up; the second one is ignored."""

    async def scenario(site: SmallSite) -> None:
        # With databases of their own they do not know of each other: worse than any slow hand-over.
        clocks = [site.clock("one"), site.clock("two")]
        for clock in clocks:
            await clock.start()
        site.watch(clocks[0])
        await pause(2)
        await site.open("t1", 1, 60_000)
        await pause(100)
        assert site.asked.count(("t1", 1)) >= 2
        assert [(table_id, deadline_id) for table_id, deadline_id, _ in site.ended] == [("t1", 1)]
        for clock in clocks:
            await clock.stop()

    run(scenario)


def test_met_deadline_never_fires(run: Run) -> None:
    """IND-TIME-16."""

    async def scenario(site: SmallSite) -> None:
        clock = site.clock()
        await clock.start()
        site.watch(clock)
        await pause(2)
        await site.open("t1", 1, 60_000)
        await pause(59)
        await site.open("t1", 2, 60_000)
        await pause(59)
        assert site.asked == []
        site.tables["t1"] = {}
        await site.publish("t1")
        await pause(100)
        assert site.asked == []
        await clock.stop()

    run(scenario)


def test_lost_update_is_found_in_the_list(run: Run) -> None:
    """A deadline is never forgotten, and one that was met without our knowing does not fire."""

    async def scenario(site: SmallSite) -> None:
        clock = site.clock(relist_ms=10_000)
        await clock.start()
        site.watch(clock)
        await pause(2)
        await site.open("met", 1, 60_000)
        await pause(1)
        site.mute = True
        opened_ms = now_ms()
        await site.open("lost", 1, 60_000)
        site.tables["met"] = {}
        site.seqs["met"] += 1
        await pause(70)
        [(table_id, _, fired_ms)] = site.ended
        assert table_id == "lost"
        assert site.asked == [("lost", 1)]
        assert 60_500 <= fired_ms - opened_ms <= 60_500 + PUNCTUAL_MS
        await clock.stop()

    run(scenario)


def test_stale_deadline_is_told_once(run: Run) -> None:
    """IND-TIME-16: the table says that it was met, and that is the end of it."""

    async def scenario(site: SmallSite) -> None:
        clock = site.clock(relist_ms=3_600_000)
        await clock.start()
        site.watch(clock)
        await pause(2)
        await site.open("t1", 1, 60_000)
        site.mute = True
        await site.open("t1", 2, 60_000)
        await pause(200)
        assert site.asked == [("t1", 1)]
        assert site.ended == []
        await clock.stop()

    run(scenario)


def test_reader_that_lagged_reads_the_list(run: Run) -> None:
    async def scenario(site: SmallSite) -> None:
        clock = site.clock(relist_ms=3_600_000)
        await clock.start()
        site.watch(clock)
        await pause(2)
        lists = site.lists
        opened_ms = now_ms()
        await site.open("early", 1, 60_000)
        for _ in range(1_200):
            await site.open("busy", 2, 300_000)
        # Less than the time after which some shard's list would be read anyhow.
        await pause(40)
        assert site.lists == lists + 1
        await pause(30)
        assert [item[0] for item in site.ended] == ["early"]
        assert 60_500 <= site.ended[0][2] - opened_ms <= 60_500 + PUNCTUAL_MS
        await clock.stop()

    run(scenario)


def test_table_that_does_not_answer_is_told_again(run: Run) -> None:
    async def scenario(site: SmallSite) -> None:
        clock = site.clock()
        await clock.start()
        site.watch(clock)
        await pause(2)
        await site.open("t1", 1, 10_000)
        site.expire_down = True
        await pause(60)
        assert 40 <= len(site.asked) <= 60
        site.expire_down = False
        await pause(2)
        assert len(site.ended) == 1
        asked = len(site.asked)
        await pause(60)
        assert len(site.asked) == asked
        await clock.stop()

    run(scenario)


def test_many_due_at_once_all_end(run: Run) -> None:
    async def scenario(site: SmallSite) -> None:
        clock = site.clock(max_expiries=8)
        await clock.start()
        site.watch(clock)
        await pause(2)
        for number in range(500):
            await site.open(f"t{number}", 1, 60_000)
        await pause(65)
        assert len(site.ended) == 500
        assert len(site.asked) == 500
        await clock.stop()

    run(scenario)


def test_play_time_waits_for_the_site_at_the_start(run: Run) -> None:
    async def scenario(site: SmallSite) -> None:
        site.down = True
        clock = site.clock()
        await clock.start()
        client = site.watch(clock)
        await pause(30)
        assert not (await client.GetPlayTime(pb.GetPlayTimeRequest())).play_time.running
        site.down = False
        await pause(10)
        reading = (await client.GetPlayTime(pb.GetPlayTimeRequest())).play_time
        assert reading.running
        assert 10_000 - PERIOD_MS <= reading.play_time_ms <= 10_000
        await clock.stop()

    run(scenario)
