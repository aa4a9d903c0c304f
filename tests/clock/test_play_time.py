"""The counter of play time, on moments made up by the test."""

from __future__ import annotations

import random

from services.clock.domain.play_time import Cause, Checkpoint, Instant, PlayTime, Rhythm, Start, Stretch

RHYTHM = Rhythm(period_ms=250, longest_gap_ms=375)
WALL_MS = 1_700_000_000_000
MS = 1_000_000


def at(ms: float, *, wall_step_ms: int = 0) -> Instant:
    """A moment `ms` after the machine's start."""
    return Instant(mono_ns=round(ms * MS), unix_ms=WALL_MS + int(ms) + wall_step_ms)


def stretch(from_ms: int, to_ms: int, cause: Cause) -> Stretch:
    """One that did not count."""
    return Stretch(from_ms * MS, to_ms * MS, cause)


def started(*, start: Start | None = None, epoch: int = 1, ms: float = 0) -> PlayTime:
    """A counter at a moment, before its first probe."""
    return PlayTime(epoch=epoch, start=start or Start(), rhythm=RHYTHM, now=at(ms))


def probed(play_time: PlayTime, first_ms: int, last_ms: int, *, wall_step_ms: int = 0) -> None:
    """A probe back every 250 ms."""
    for ms in range(first_ms, last_ms + 1, 250):
        play_time.tick(at(ms, wall_step_ms=wall_step_ms))
        play_time.probe_returned(at(ms, wall_step_ms=wall_step_ms))


def test_counts_only_between_probes_that_came_back() -> None:
    play_time = started()
    assert (play_time.running, play_time.cause) == (False, Cause.PROBE_LOST)
    play_time.probe_returned(at(900))
    assert play_time.play_time_ms == 0
    assert (play_time.running, play_time.cause) == (True, None)
    play_time.probe_returned(at(1_150))
    play_time.probe_returned(at(1_400.5))
    assert play_time.play_time_ms == 500


def test_longest_gap_counts_and_a_longer_one_does_not() -> None:
    play_time = started()
    play_time.probe_returned(at(10))
    play_time.probe_returned(at(385))
    assert play_time.play_time_ms == 375
    ended = play_time.probe_returned(at(761))
    assert play_time.play_time_ms == 375
    assert ended is not None
    assert ended.given_back_ms == 376


def test_outage_gives_its_time_back_and_is_on_record() -> None:
    """IND-TIME-04, IND-TIME-17."""
    play_time = started()
    probed(play_time, 250, 10_000)
    assert play_time.play_time_ms == 9_750
    for ms in range(10_250, 100_000, 250):
        assert play_time.tick(at(ms)) is None
        assert play_time.running is (ms < 10_500)
    assert play_time.cause is Cause.PROBE_LOST
    assert play_time.probe_returned(at(100_000)) == stretch(10_000, 100_000, Cause.PROBE_LOST)
    assert play_time.play_time_ms == 9_750
    probed(play_time, 100_250, 101_000)
    assert play_time.play_time_ms == 10_750
    assert play_time.given_back_ms == 90_000


def test_clock_that_was_not_running_itself_blames_itself() -> None:
    play_time = started()
    probed(play_time, 250, 1_250)
    ended = play_time.probe_returned(at(61_000))
    assert ended == stretch(1_250, 61_000, Cause.CLOCK_AWAY)
    assert play_time.play_time_ms == 1_000


def test_clock_whose_lease_ran_out_blames_itself() -> None:
    """Nothing counts while another one may hold the shard, though probes come back and it is called in time."""
    play_time = started()
    probed(play_time, 250, 1_250)
    for ms in range(1_500, 5_000, 250):
        play_time.tick(at(ms), lapsed=True)
    assert (play_time.running, play_time.cause) == (False, Cause.CLOCK_AWAY)
    assert play_time.probe_returned(at(5_000)) == stretch(1_250, 5_000, Cause.CLOCK_AWAY)
    assert play_time.play_time_ms == 1_000


def test_steps_of_the_wall_clock_change_nothing() -> None:
    """IND-TIME-17."""
    play_time = started()
    probed(play_time, 250, 5_000)
    probed(play_time, 5_250, 10_000, wall_step_ms=3_600_000)
    probed(play_time, 10_250, 15_250, wall_step_ms=-86_400_000)
    assert play_time.play_time_ms == 15_000
    assert play_time.given_back_ms == 0


def test_successor_goes_on_from_the_checkpoint_and_never_ahead() -> None:
    """IND-TIME-20: what passed since the checkpoint is the players'."""
    before = started()
    probed(before, 250, 30_250)
    checkpoint = before.checkpoint(at(30_300))
    assert checkpoint == Checkpoint(play_time_ms=30_000, given_back_ms=0, uncounted_ms=50, cause=None)
    start = Start(play_time_ms=30_000, given_back_ms=0, away_ms=19_750)
    after = started(start=start, epoch=2, ms=50_000)
    assert after.play_time_ms == 30_000
    reading = after.read(at(50_000))
    assert (reading.running, reading.cause) == (False, Cause.CLOCK_AWAY)
    assert after.probe_returned(at(50_250)) == stretch(30_250, 50_250, Cause.CLOCK_AWAY)
    probed(after, 50_500, 51_250)
    assert after.play_time_ms == 31_000
    assert after.given_back_ms == 20_000
    assert after.read(at(51_250)).epoch == 2


def test_outage_that_lasts_is_not_lost_by_a_change_of_hands() -> None:
    before = started()
    probed(before, 250, 1_250)
    before.tick(at(1_500))
    before.tick(at(1_750))
    checkpoint = before.checkpoint(at(9_000))
    assert checkpoint == Checkpoint(play_time_ms=1_000, given_back_ms=0, uncounted_ms=7_750, cause=Cause.PROBE_LOST)
    start = Start(play_time_ms=1_000, away_ms=7_750 + 11_000, cause=Cause.PROBE_LOST)
    after = started(start=start, epoch=2, ms=20_000)
    assert after.cause is Cause.PROBE_LOST
    assert after.probe_returned(at(20_250)) == stretch(1_250, 20_250, Cause.PROBE_LOST)
    assert after.given_back_ms == 19_000


def test_hold_that_lasts_is_one_stretch_over_a_change_of_hands() -> None:
    """Given a hold from 1,250 ms on, when another one takes over, finds the hold and lets go at its end, then all of
    it is one stretch, and is given back."""
    before = started()
    probed(before, 250, 1_250)
    before.hold(at(1_250))
    checkpoint = before.checkpoint(at(600_000))
    assert (checkpoint.uncounted_ms, checkpoint.cause) == (598_750, Cause.HELD)
    start = Start(play_time_ms=1_000, away_ms=598_750 + 2_000, cause=Cause.HELD)
    after = started(start=start, epoch=2, ms=602_000)
    assert after.hold(at(602_000)) is None
    assert after.tick(at(700_000)) is None
    assert (after.held, after.cause) == (True, Cause.HELD)
    after.release(at(900_000))
    assert after.probe_returned(at(900_250)) == stretch(1_250, 900_250, Cause.HELD)
    assert (after.play_time_ms, after.given_back_ms) == (1_000, 899_000)


def test_hold_that_ended_before_a_change_of_hands_blames_the_probes_for_what_follows() -> None:
    start = Start(play_time_ms=1_000, away_ms=10_000, cause=Cause.HELD)
    after = started(start=start, epoch=2, ms=20_000)
    assert after.tick(at(20_300)) is None
    assert after.tick(at(20_500)) == stretch(10_000, 20_000, Cause.HELD)
    assert after.probe_returned(at(30_000)) == stretch(20_000, 30_000, Cause.PROBE_LOST)


def test_counter_that_never_ran_has_nothing_to_give_back() -> None:
    play_time = started()
    assert play_time.checkpoint(at(5_000)).uncounted_ms is None
    play_time.tick(at(60_000))
    assert play_time.probe_returned(at(60_000)) is None
    assert play_time.given_back_ms == 0


def test_moment_of_storing_in_the_future_gives_nothing_back() -> None:
    """The store's clock was set back meanwhile."""
    play_time = started(start=Start(play_time_ms=500, away_ms=-3_600_000), ms=1_000)
    ended = play_time.probe_returned(at(1_100))
    assert ended == stretch(1_000, 1_100, Cause.CLOCK_AWAY)


def test_held_time_stands_still_though_probes_come_back() -> None:
    play_time = started()
    probed(play_time, 250, 1_250)
    assert play_time.hold(at(1_300)) is None
    probed(play_time, 1_500, 60_000)
    assert (play_time.running, play_time.cause, play_time.play_time_ms) == (False, Cause.HELD, 1_000)
    assert play_time.hold(at(60_010)) is None
    play_time.release(at(60_100))
    assert play_time.probe_returned(at(60_250)) == stretch(1_250, 60_250, Cause.HELD)
    probed(play_time, 60_500, 61_250)
    assert (play_time.play_time_ms, play_time.given_back_ms) == (2_000, 59_000)


def test_hold_that_begins_in_an_outage_is_a_stretch_of_its_own() -> None:
    play_time = started()
    probed(play_time, 250, 1_250)
    play_time.tick(at(1_500))
    play_time.tick(at(1_750))
    assert play_time.hold(at(10_000)) == stretch(1_250, 10_000, Cause.PROBE_LOST)
    play_time.release(at(20_000))
    assert play_time.probe_returned(at(20_100)) == stretch(10_000, 20_100, Cause.HELD)
    assert play_time.given_back_ms == 18_850


def test_site_that_is_down_when_its_hold_ends_is_an_outage_from_then_on() -> None:
    play_time = started()
    probed(play_time, 250, 1_250)
    play_time.hold(at(1_300))
    play_time.release(at(20_000))
    assert play_time.tick(at(20_300)) is None
    assert play_time.cause is Cause.HELD
    assert play_time.tick(at(20_500)) == stretch(1_250, 20_000, Cause.HELD)
    assert play_time.read(at(21_000)).cause is Cause.PROBE_LOST
    assert play_time.probe_returned(at(30_000)) == stretch(20_000, 30_000, Cause.PROBE_LOST)


def test_reading_may_be_extrapolated_for_one_period_only() -> None:
    play_time = started()
    probed(play_time, 250, 1_250)
    reading = play_time.read(at(1_350))
    assert (reading.play_time_ms, reading.valid_for_ms, reading.running) == (1_100, 150, True)
    reading = play_time.read(at(1_600))
    assert (reading.play_time_ms, reading.valid_for_ms) == (1_350, 0)
    play_time.tick(at(1_550))
    play_time.tick(at(1_750))
    reading = play_time.read(at(5_000))
    assert (reading.play_time_ms, reading.valid_for_ms, reading.running) == (1_350, 0, False)
    play_time.probe_returned(at(6_000))
    reading = play_time.read(at(6_000))
    # What was said stays said; nobody may go further until the counter has caught up.
    assert (reading.play_time_ms, reading.valid_for_ms, reading.running) == (1_350, 0, True)
    assert play_time.play_time_ms == 1_000


def test_expected_moment_of_a_play_time() -> None:
    play_time = started()
    assert play_time.expected_ns(5) is None
    probed(play_time, 250, 1_250)
    assert play_time.expected_ns(1_100) == 1_350 * MS
    play_time.tick(at(1_251))
    play_time.tick(at(1_626))
    assert play_time.expected_ns(1_100) is None


def test_probe_that_comes_from_the_past_is_ignored() -> None:
    play_time = started()
    probed(play_time, 250, 1_250)
    assert play_time.probe_returned(at(1_250)) is None
    assert play_time.probe_returned(at(400)) is None
    assert play_time.play_time_ms == 1_000


def _check_run(seed: int) -> None:
    draw = random.Random(seed)
    play_time, now_ms, first_ms, last_return_ms = started(), 0.0, -1.0, -1.0
    shown_ms, shown_at_ms, counted_ms = 0, 0.0, 0
    for _ in range(400):
        now_ms += draw.choice((1, 40, 249, 250, 251, 375, 376, 3_000)) * draw.uniform(0.5, 1)
        now = at(now_ms, wall_step_ms=draw.choice((0, 0, -5_000, 5_000)))
        match draw.choice(("tick", "read", "hold", "back", "restart" if draw.random() < 0.05 else "back", "back")):
            case "tick":
                play_time.tick(now)
            case "hold" if draw.random() < 0.1:
                play_time.hold(now)
            case "back":
                play_time.release(now)
                play_time.probe_returned(now)
                first_ms = now_ms if first_ms < 0 else first_ms
                last_return_ms = now_ms
            case "restart":
                kept = play_time.checkpoint(now)
                assert kept.play_time_ms <= play_time.play_time_ms
                start = Start(
                    play_time_ms=kept.play_time_ms,
                    given_back_ms=kept.given_back_ms,
                    away_ms=kept.uncounted_ms,
                    cause=kept.cause,
                )
                play_time = PlayTime(epoch=play_time.epoch + 1, start=start, rhythm=RHYTHM, now=now)
                shown_ms = min(shown_ms, kept.play_time_ms)
        reading = play_time.read(now)
        assert play_time.play_time_ms >= counted_ms
        assert play_time.play_time_ms + play_time.given_back_ms <= max(0.0, last_return_ms - first_ms, now_ms)
        assert play_time.play_time_ms <= max(0.0, last_return_ms - first_ms)
        assert shown_ms <= reading.play_time_ms <= shown_ms + (now_ms - shown_at_ms) + 1
        assert reading.play_time_ms + reading.valid_for_ms <= play_time.play_time_ms + 376
        counted_ms, shown_ms, shown_at_ms = play_time.play_time_ms, reading.play_time_ms, now_ms


def test_never_falls_and_never_outruns_real_time() -> None:
    """IND-TIME-17, over made-up runs with lost probes, holds, wall-clock steps and changes of hands."""
    for seed in range(300):
        _check_run(seed)


def test_a_standstill_says_what_may_have_been_shown_meanwhile() -> None:
    """Given that no probe comes back, then readers have shown play time up to the longest gap, and are told so, until
    it has come by; what counts is not moved by it."""
    play_time = started()
    probed(play_time, 10, 1_010)
    assert play_time.read(at(1_010)).shown_up_to_ms == 1_000
    assert play_time.read(at(1_210)).shown_up_to_ms == 1_200
    play_time.tick(at(1_510))
    stands = play_time.read(at(1_510))
    assert (stands.running, stands.play_time_ms, stands.shown_up_to_ms) == (False, 1_200, 1_375)
    play_time.probe_returned(at(2_010))
    play_time.probe_returned(at(2_260))
    assert (play_time.play_time_ms, play_time.read(at(2_260)).shown_up_to_ms) == (1_250, 1_375)
    play_time.probe_returned(at(2_510))
    assert (play_time.play_time_ms, play_time.read(at(2_510)).shown_up_to_ms) == (1_500, 1_500)


def test_a_successor_knows_what_the_one_before_may_have_let_be_shown() -> None:
    """A period that was not stored and the longest gap after it, but no more than the time that passed."""
    soon = started(start=Start(play_time_ms=5_000, away_ms=300), epoch=2)
    late = started(start=Start(play_time_ms=5_000, away_ms=9_000), epoch=2)
    assert (soon.read(at(0)).play_time_ms, soon.read(at(0)).shown_up_to_ms) == (5_000, 5_300)
    assert (late.read(at(0)).play_time_ms, late.read(at(0)).shown_up_to_ms) == (5_000, 5_625)


def test_what_counted_and_what_was_given_back_make_up_real_time() -> None:
    """To the millisecond, after however many outages of broken lengths."""
    play_time, ms = started(), 1.0
    play_time.probe_returned(at(ms))
    for _ in range(50):
        ms += 400.9
        play_time.probe_returned(at(ms))
        ms += 250.3
        play_time.probe_returned(at(ms))
    assert 0 <= ms - 1.0 - play_time.play_time_ms - play_time.given_back_ms < 2
