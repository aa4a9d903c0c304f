"""The small pure parts: shards, buckets, play time, seatings."""

from __future__ import annotations

import pytest

from services.table.domain.buckets import Rate
from services.table.domain.play_time import Reading, Track
from services.table.domain.seating import Seating, seating_of
from services.table.domain.shards import is_table_id, shard_of

INDUSTRY = frozenset({Seating.PEOPLE, Seating.SOLO, Seating.BOTS})
OTHERS = frozenset({Seating.MIXED})


def test_a_shard_follows_from_the_id_alone() -> None:
    assert [shard_of(text) for text in ("a", "b", "table")] == [3, 57, 6]
    assert {shard_of(str(number)) for number in range(2_000)} == set(range(64))


@pytest.mark.parametrize("text", ["", "A", "a b", "a-b", "é", "a" * 65, "a\n", "\x00"])
def test_what_cannot_be_an_id_is_not_looked_for(text: str) -> None:
    assert not is_table_id(text)


@pytest.mark.parametrize(
    ("people", "bots", "allowed", "seating"),
    [
        (2, 0, INDUSTRY, Seating.PEOPLE),
        (1, 3, INDUSTRY, Seating.SOLO),
        (0, 4, INDUSTRY, Seating.BOTS),
        (2, 1, INDUSTRY, None),
        (1, 1, OTHERS, Seating.MIXED),
        (3, 2, OTHERS, Seating.MIXED),
        (2, 0, OTHERS, Seating.MIXED),
        (0, 2, OTHERS, Seating.MIXED),
    ],
)
def test_a_seating_follows_from_who_sits(
    people: int, bots: int, allowed: frozenset[Seating], seating: Seating | None
) -> None:
    assert seating_of(people, bots, allowed) == seating


def test_a_bucket_gives_its_burst_and_then_its_rate() -> None:
    rate = Rate(burst=2, per_second=4)
    bucket = rate.full(10.0)
    assert [rate.take(bucket, 10.0) for _ in range(3)] == [None, None, 251]
    assert rate.take(bucket, 10.25) is None
    assert rate.take(bucket, 10.25) == 251
    assert not rate.is_full(bucket, 10.5)
    assert rate.is_full(bucket, 11.0)
    assert Rate(burst=0, per_second=1).take(bucket, 0.0) is None


def _reading(play_time_ms: int, received_s: float, *, epoch: int = 1, running: bool = True) -> Reading:
    return Reading(play_time_ms=play_time_ms, epoch=epoch, running=running, valid_for_ms=250, received_s=received_s)


def test_play_time_is_extrapolated_for_as_long_as_a_reading_is_valid() -> None:
    track = Track()
    assert track.now_ms(5.0) is None
    track.follow(_reading(1_000, 5.0))
    assert [track.now_ms(at) for at in (5.0, 5.125, 5.25, 9.0)] == [1_000, 1_125, 1_250, 1_250]


def test_play_time_never_goes_back() -> None:
    track = Track()
    track.follow(_reading(1_000, 5.0))
    assert track.now_ms(5.2) == 1_200
    track.follow(_reading(1_050, 5.2))
    assert track.now_ms(5.2) == 1_200
    assert track.now_ms(5.4) == 1_250


def test_play_time_that_does_not_run_stands() -> None:
    track = Track()
    track.follow(_reading(1_000, 5.0, running=False))
    assert track.now_ms(5.2) == 1_000


def test_a_reading_of_an_older_lease_is_void() -> None:
    track = Track()
    assert track.follow(_reading(1_000, 5.0, epoch=2))
    assert not track.follow(_reading(9_000, 5.0, epoch=1))
    assert track.now_ms(5.0) == 1_000
    assert track.follow(_reading(1_500, 6.0, epoch=3))
    assert track.now_ms(6.0) == 1_500


def test_a_standstill_has_to_be_heard_again_and_again() -> None:
    """Given a reading that says that play time stands still, when no other one follows, then the clock is not heard."""
    track = Track()
    assert not track.is_heard(10.0)
    track.follow(Reading(play_time_ms=5_000, epoch=1, running=False, valid_for_ms=0, received_s=10.0))
    assert (track.is_heard(10.3), track.is_heard(10.4), track.now_ms(20.0)) == (True, False, 5_000)
