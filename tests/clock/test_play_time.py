"""The counter of play time, on moments made up by the test."""

from __future__ import annotations

import random

from services.clock.domain.play_time import Cause, Checkpoint, Instant, Outage, PlayTime, Rhythm

RHYTHM = Rhythm(period_ms=250, longest_gap_ms=375)
WALL_MS = 1_700_000_000_000


def at(ms: float, *, wall_step_ms: int = 0) -> Instant:
    """A moment `ms` after the machine's start."""
    return Instant(mono_ns=round(ms * 1_000_000), unix_ms=WALL_MS + int(ms) + wall_step_ms)


def started(*, start: Checkpoint | None = None, epoch: int = 1, ms: float = 0) -> PlayTime:
    """A counter at a moment, before its first probe."""
    return PlayTime(epoch=epoch, start=start or Checkpoint(), rhythm=RHYTHM, now=at(ms))


def probed(play_time: PlayTime, first_ms: int, last_ms: int, *, wall_step_ms: int = 0) -> None:
    """A probe back every 250 ms."""
    for ms in range(first_ms, last_ms + 1, 250):
        play_time.tick(at(ms, wall_step_ms=wall_step_ms))
        play_time.probe_returned(at(ms, wall_step_ms=wall_step_ms))


def test_counts_only_between_probes_that_came_back() -> None:
    assert not started().running
    play_time = started()
    play_time.probe_returned(at(900))
    assert play_time.play_time_ms == 0
    assert play_time.running
    play_time.probe_returned(at(1_150))
    play_time.probe_returned(at(1_400.5))
    assert play_time.play_time_ms == 500


def test_longest_gap_counts_and_a_longer_one_does_not() -> None:
    play_time = started()
    play_time.probe_returned(at(0))
    play_time.probe_returned(at(375))
    assert play_time.play_time_ms == 375
    ended = play_time.probe_returned(at(751))
    assert play_time.play_time_ms == 375
    assert ended is not None
    assert ended.given_back_ms == 376


def test_outage_gives_its_time_back_and_is_on_record() -> None:
    """IND-TIME-04, IND-TIME-17."""
    play_time = started()
    probed(play_time, 0, 10_000)
    assert play_time.play_time_ms == 10_000
    stopped_at = [ms for ms in range(10_250, 100_000, 250) if play_time.tick(at(ms))]
    assert stopped_at == [10_500]
    assert not play_time.running
    open_outage = Outage(
        outage_id=1, from_unix_ms=WALL_MS + 10_000, to_unix_ms=0, cause=Cause.PROBE_LOST, given_back_ms=0
    )
    assert play_time.open_outage == open_outage
    ended = play_time.probe_returned(at(100_000))
    assert ended == Outage(
        outage_id=1,
        from_unix_ms=WALL_MS + 10_000,
        to_unix_ms=WALL_MS + 100_000,
        cause=Cause.PROBE_LOST,
        given_back_ms=90_000,
    )
    assert play_time.play_time_ms == 10_000
    probed(play_time, 100_250, 101_000)
    assert play_time.play_time_ms == 11_000
    assert play_time.given_back_ms == 90_000


def test_clock_that_was_not_running_itself_blames_itself() -> None:
    play_time = started()
    probed(play_time, 0, 1_000)
    ended = play_time.probe_returned(at(61_000))
    assert ended is not None
    assert ended.cause is Cause.CLOCK_AWAY
    assert play_time.play_time_ms == 1_000


def test_steps_of_the_wall_clock_change_nothing() -> None:
    """IND-TIME-17."""
    play_time = started()
    probed(play_time, 0, 5_000)
    probed(play_time, 5_250, 10_000, wall_step_ms=3_600_000)
    probed(play_time, 10_250, 15_000, wall_step_ms=-86_400_000)
    assert play_time.play_time_ms == 15_000
    assert play_time.given_back_ms == 0
    assert play_time.open_outage is None


def test_restart_goes_on_from_the_checkpoint_and_never_ahead() -> None:
    """IND-TIME-20: what passed since the checkpoint is the players'."""
    before = started()
    probed(before, 0, 30_000)
    checkpoint = before.checkpoint(at(30_000))
    probed(before, 30_250, 31_000)
    after = started(start=checkpoint, epoch=2, ms=50_000)
    assert after.play_time_ms == 30_000
    assert after.read(at(50_000)).running is False
    ended = after.probe_returned(at(50_250))
    assert ended == Outage(
        outage_id=1,
        from_unix_ms=WALL_MS + 30_000,
        to_unix_ms=WALL_MS + 50_250,
        cause=Cause.CLOCK_AWAY,
        given_back_ms=20_250,
    )
    probed(after, 50_500, 51_250)
    assert after.play_time_ms == 31_000
    assert after.read(at(51_250)).epoch == 2


def test_outage_that_lasts_is_not_lost_by_a_restart() -> None:
    before = started()
    probed(before, 0, 1_000)
    before.tick(at(1_500))
    checkpoint = before.checkpoint(at(9_000))
    assert checkpoint == Checkpoint(
        play_time_ms=1_000, given_back_ms=0, last_outage_id=0, saved_at_unix_ms=WALL_MS + 1_000
    )
    after = started(start=checkpoint, epoch=2, ms=20_000)
    ended = after.probe_returned(at(20_000))
    assert ended is not None
    assert (ended.outage_id, ended.from_unix_ms, ended.given_back_ms) == (1, WALL_MS + 1_000, 19_000)


def test_reading_extrapolates_for_one_period_only() -> None:
    play_time = started()
    probed(play_time, 0, 1_000)
    reading = play_time.read(at(1_100))
    assert (reading.play_time_ms, reading.valid_for_ms, reading.running) == (1_100, 150, True)
    reading = play_time.read(at(1_300))
    assert (reading.play_time_ms, reading.valid_for_ms) == (1_250, 0)
    play_time.tick(at(1_300))
    play_time.tick(at(1_500))
    reading = play_time.read(at(5_000))
    assert (reading.play_time_ms, reading.valid_for_ms, reading.running) == (1_250, 0, False)
    play_time.probe_returned(at(6_000))
    reading = play_time.read(at(6_000))
    # What was said stays said; nobody may go further until the counter has caught up.
    assert (reading.play_time_ms, reading.valid_for_ms, reading.running) == (1_250, 0, True)
    assert play_time.play_time_ms == 1_000


def test_expected_moment_of_a_play_time() -> None:
    play_time = started()
    assert play_time.expected_ns(5) is None
    probed(play_time, 0, 1_000)
    assert play_time.expected_ns(1_100) == 1_100_000_000
    play_time.tick(at(1_001))
    play_time.tick(at(1_376))
    assert play_time.expected_ns(1_100) is None


def test_probe_that_comes_from_the_past_is_ignored() -> None:
    play_time = started()
    probed(play_time, 0, 1_000)
    assert play_time.probe_returned(at(1_000)) is None
    assert play_time.probe_returned(at(400)) is None
    assert play_time.play_time_ms == 1_000


def _check_run(seed: int) -> None:
    draw = random.Random(seed)
    play_time, now_ms, first_ms, last_return_ms = started(), 0.0, -1.0, -1.0
    shown_ms, shown_at_ms, counted_ms = 0, 0.0, 0
    for _ in range(400):
        now_ms += draw.choice((1, 40, 249, 250, 251, 375, 376, 3_000)) * draw.uniform(0.5, 1)
        now = at(now_ms, wall_step_ms=draw.choice((0, 0, -5_000, 5_000)))
        match draw.choice(("tick", "read", "back", "back", "restart" if draw.random() < 0.05 else "back")):
            case "tick":
                play_time.tick(now)
            case "back":
                play_time.probe_returned(now)
                first_ms = now_ms if first_ms < 0 else first_ms
                last_return_ms = now_ms
            case "restart":
                checkpoint = play_time.checkpoint(now)
                assert checkpoint.play_time_ms <= play_time.play_time_ms
                play_time = PlayTime(epoch=play_time.epoch + 1, start=checkpoint, rhythm=RHYTHM, now=now)
                shown_ms = min(shown_ms, checkpoint.play_time_ms)
        reading = play_time.read(now)
        assert play_time.play_time_ms >= counted_ms
        assert play_time.play_time_ms <= max(0.0, last_return_ms - first_ms)
        assert shown_ms <= reading.play_time_ms <= shown_ms + (now_ms - shown_at_ms) + 251
        assert reading.play_time_ms + reading.valid_for_ms <= play_time.play_time_ms + 251
        counted_ms, shown_ms, shown_at_ms = play_time.play_time_ms, reading.play_time_ms, now_ms


def test_never_falls_and_never_outruns_real_time() -> None:
    """IND-TIME-17, over made-up runs with lost probes, wall-clock steps and restarts."""
    for seed in range(300):
        _check_run(seed)
