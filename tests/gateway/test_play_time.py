"""Play time as clients are told of it: it never falls, and never outruns real time."""

from __future__ import annotations

import asyncio
import random
from itertools import pairwise

from magnate.clock.v1 import clock_service_pb2 as clock_pb

from gateway.application.play_time import PlayTimes


class SetTime:
    """Seconds that the test sets."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def hear(
    times: PlayTimes,
    play_time_ms: int,
    *,
    shard: int = 3,
    epoch: int = 1,
    running: bool = True,
    given_back_ms: int = 0,
    shown_up_to_ms: int = 0,
) -> None:
    reading = clock_pb.PlayTime(
        shard=shard,
        play_time_ms=play_time_ms,
        epoch=epoch,
        running=running,
        valid_for_ms=250 if running else 0,
        given_back_ms=given_back_ms,
        shown_up_to_ms=shown_up_to_ms,
    )
    times.hear(clock_pb.WatchPlayTimeResponse(play_times=[reading]))


def shown_ms(times: PlayTimes, shard: int = 3) -> int:
    reading = times.at(shard)
    assert reading is not None
    return reading.play_time_ms


def test_each_shard_has_its_own_and_void_readings_change_nothing() -> None:
    times = PlayTimes(SetTime())
    hear(times, 5_000, shard=3, epoch=2)
    hear(times, 9_000, shard=3, epoch=1)
    hear(times, 700, shard=4)
    assert (shown_ms(times, 3), shown_ms(times, 4), times.at(5)) == (5_000, 700, None)


def test_a_late_reading_does_not_let_it_flicker() -> None:
    """Given readings that come a tenth of a second late, play time runs on as if they had been in time."""
    clock = SetTime()
    times = PlayTimes(clock)
    hear(times, 5_000)
    for step in range(1, 36):
        clock.now_s = 100 + step / 100
        assert abs(shown_ms(times) - (5_000 + step * 10)) <= 1
        assert times.at(3).running  # type: ignore[union-attr]
    hear(times, 5_250)
    assert abs(shown_ms(times) - 5_350) <= 1


def test_readings_that_were_long_in_coming_let_no_countdown_jump() -> None:
    """Given readings that come 400 ms late for a while, later than they are good for, when they are quick again, then
    what was shown as running has never run faster than real time, and is no further behind than before."""
    clock = SetTime()
    times = PlayTimes(clock)
    hear(times, 10_000)
    shown: list[float] = []
    for step in range(1, 60):
        clock.now_s = 100 + step / 20
        if step % 5 == 0:
            late_ms = 400 if step <= 30 else 0
            hear(times, 10_000 + step * 50 - late_ms)
        reading = times.at(3)
        assert reading is not None
        if reading.running:
            shown.append(reading.play_time_ms - step * 50)
    assert len(shown) >= 25
    assert all(later <= before + 1 for before, later in pairwise(shown))
    assert shown[-1] >= 10_000 - 1


def test_who_begins_with_a_late_reading_stays_behind_until_play_time_stands_still() -> None:
    clock = SetTime()
    times = PlayTimes(clock)
    hear(times, 9_600)
    assert shown_ms(times) == 9_600
    clock.now_s += 0.25
    hear(times, 10_250)
    assert shown_ms(times) == 9_850
    hear(times, 10_250, running=False)
    clock.now_s += 1.0
    hear(times, 10_300, given_back_ms=950)
    assert shown_ms(times) == 10_300


def test_what_piled_up_in_a_silence_is_not_taken_for_the_present() -> None:
    clock = SetTime()
    times = PlayTimes(clock)
    hear(times, 5_000)
    clock.now_s += 5
    hear(times, 5_250)
    old = times.at(3)
    hear(times, 10_000)
    clock.now_s += 0.1
    new = times.at(3)
    assert old is not None
    assert new is not None
    assert not old.running
    assert new.running
    assert abs(new.play_time_ms - 10_100) <= 1


def test_who_was_not_asked_shows_what_another_gateway_has_shown() -> None:
    """Given two gateways of which only one was asked while a reading was late, when play time turns out to stand still,
    then who goes from this one to the other one does not see his time grow."""
    clock = SetTime()
    asked, other = PlayTimes(clock), PlayTimes(clock)
    for times in (asked, other):
        hear(times, 5_000)
    clock.now_s += 0.4
    seen_ms = shown_ms(asked)
    hear(other, 5_000, running=False)
    assert shown_ms(other) == seen_ms


def test_silence_is_a_standstill_and_its_end_brings_the_truth() -> None:
    clock = SetTime()
    times = PlayTimes(clock)
    hear(times, 5_000)
    clock.now_s += 5
    silent = times.at(3)
    assert silent is not None
    assert (silent.play_time_ms, silent.running, silent.cause) == (5_375, False, clock_pb.OUTAGE_CAUSE_CLOCK_AWAY)
    hear(times, 10_000)
    assert shown_ms(times) == 10_000


def test_never_falls_and_never_outruns_real_time() -> None:
    """Over readings that come late and out of order, from replicas that take over; whenever it is said to run."""
    for seed in range(200):
        draw, clock = random.Random(seed), SetTime()
        times = PlayTimes(clock)
        true_ms, epoch = 10_000.0, 1
        hear(times, 10_000)
        before_ms, least_lead_ms = shown_ms(times), float("inf")
        for _ in range(200):
            step_s = draw.uniform(0.01, 0.12)
            clock.now_s += step_s
            true_ms += step_s * 1000
            hear(times, int(true_ms - draw.uniform(0, 100)), epoch=epoch)
            if draw.random() < 0.02:
                epoch += 1
                true_ms -= 200
            reading = times.at(3)
            assert reading is not None
            assert reading.play_time_ms >= before_ms
            before_ms = reading.play_time_ms
            if reading.running:
                lead_ms = before_ms - clock.now_s * 1000
                assert lead_ms <= least_lead_ms + 1
                least_lead_ms = min(least_lead_ms, lead_ms)


def test_play_time_is_shown_no_further_than_may_still_count() -> None:
    """Given a clock that falls silent, then its last reading is shown on up to the longest gap that counts, as running
    until then and not after it."""
    clock = SetTime()
    times = PlayTimes(clock)
    hear(times, 5_000)
    clock.now_s += 0.37
    last = times.at(3)
    clock.now_s += 0.01
    over = times.at(3)
    assert last is not None
    assert over is not None
    assert (last.play_time_ms, last.running) == (5_370, True)
    assert (over.play_time_ms, over.running) == (5_375, False)


def test_who_missed_a_reading_shows_what_others_have_shown_after_it() -> None:
    """Given two gateways of which one missed the last reading before a standstill, when both hear that it stands, then
    both show the same, and wait there until play time comes by."""
    clock = SetTime()
    heard, missed = PlayTimes(clock), PlayTimes(clock)
    for times in (heard, missed):
        hear(times, 5_000)
    clock.now_s += 0.25
    hear(heard, 5_250)
    clock.now_s += 1.0
    for times in (heard, missed):
        hear(times, 5_250, running=False, shown_up_to_ms=5_625)
    assert shown_ms(heard) == shown_ms(missed) == 5_625
    for times in (heard, missed):
        hear(times, 5_250, given_back_ms=1_000, shown_up_to_ms=5_625)
    clock.now_s += 0.25
    for times in (heard, missed):
        hear(times, 5_500, given_back_ms=1_000, shown_up_to_ms=5_625)
    clock.now_s += 0.2
    assert abs(shown_ms(heard) - 5_700) <= 1
    assert shown_ms(missed) == shown_ms(heard)


def test_the_first_reading_after_an_outage_may_be_late() -> None:
    """Given an outage, when the first reading after it is 90 ms late, then play time is where it would be had it come
    in time, for what counted and what was given back make up real time."""
    clock = SetTime()
    times = PlayTimes(clock)
    hear(times, 5_000)
    clock.now_s += 1.0
    hear(times, 5_000, running=False)
    clock.now_s += 0.09
    hear(times, 5_400, given_back_ms=600)
    assert abs(shown_ms(times) - 5_490) <= 1


def test_a_successor_whose_first_reading_seems_late_is_believed_when_another_one_agrees() -> None:
    """Given a new epoch whose first reading is 200 ms late, then play time is not said to be running until two readings
    say the same, and then it is where they say."""
    clock = SetTime()
    times = PlayTimes(clock)
    hear(times, 5_000)
    seen: list[tuple[bool, int]] = []
    for late_ms in (200, 90, 0, 1):
        clock.now_s += 0.25
        hear(times, round((clock.now_s - 100) * 1000) + 5_000 - late_ms, epoch=2)
        reading = times.at(3)
        assert reading is not None
        seen.append((reading.running, reading.play_time_ms))
    assert [running for running, _ in seen] == [False, False, False, True]
    assert abs(seen[-1][1] - 6_000) <= 1
    assert times.standings()[3] == (True, clock_pb.OUTAGE_CAUSE_UNSPECIFIED, None)


async def test_who_was_stopped_waits_for_a_new_reading() -> None:
    """Given a gateway that was stopped, when somebody asks, then he is told what the clock says by now."""
    clock = SetTime()
    times = PlayTimes(clock)
    hear(times, 5_000)
    clock.now_s += 2.0
    asked = asyncio.create_task(times.settle(3))
    await asyncio.sleep(0.01)
    assert not asked.done()
    hear(times, 7_000)
    await asked
    assert shown_ms(times) == 7_000
