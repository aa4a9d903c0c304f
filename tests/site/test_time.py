"""What a player sees of play time: the countdown, that it stands still and why, and maintenance."""

from __future__ import annotations

from dataclasses import replace

import pytest
from magnate.gateway.v1 import gateway_service_pb2 as pb

from services.rules.domain.state import Deadline, Decision, State
from services.rules.domain.view import view
from services.site.terminal.texts import load_texts
from services.site.terminal.time_left import TimeLeft
from services.site.terminal.time_news import TimeNews
from tests.support.bot_games import flat_edition, new_bot_game


class Watch:
    """A clock in the hand of the client."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def open_turn() -> tuple[State, Decision]:
    """A turn of 60 s that was opened when play time was 10 s."""
    state = view(new_bot_game(flat_edition(), seats=3, seed=1))
    assert state.decision is not None
    state.deadlines = (Deadline(4, "turn", 60_000, 10_000),)
    return state, replace(state.decision, deadline_id=4)


def test_a_countdown_stands_still_with_play_time(watch: Watch, open_turn: tuple[State, Decision]) -> None:
    """What is left is counted from the last reading, and only while play time runs; a snapshot does not start it."""
    left = TimeLeft(watch)
    left.heard(20_000, running=True)
    watch.now_s += 5
    assert left.left_s(*open_turn) == 45
    left.heard(25_000, running=False)
    watch.now_s += 5
    assert left.left_s(*open_turn) == 45
    left.heard(26_000)
    watch.now_s += 5
    assert left.left_s(*open_turn) == 44
    left.heard(26_000, running=True)
    watch.now_s += 5
    assert left.left_s(*open_turn) == 39


def test_a_countdown_waits_for_a_site_that_is_not_heard(watch: Watch, open_turn: tuple[State, Decision]) -> None:
    """Given no sign of life for as long as one is promised, nothing more is counted down."""
    left = TimeLeft(watch)
    left.opened(2_000)
    left.heard(20_000, running=True)
    watch.now_s += 30
    assert left.left_s(*open_turn) == 48


def test_a_table_that_stood_still_is_behind(watch: Watch, open_turn: tuple[State, Decision]) -> None:
    """Given a stop of 300 s, while it lasts there is no countdown, and then it goes on with what was left."""
    left = TimeLeft(watch)
    left.heard(20_000, running=True)
    left.table(0, paused=True)
    assert left.left_s(*open_turn) is None
    left.heard(320_000, running=True)
    left.table(300_000, paused=False)
    assert left.left_s(*open_turn) == 50


def test_no_countdown_without_a_deadline(watch: Watch, open_turn: tuple[State, Decision]) -> None:
    """A decision may wait for ever."""
    state, decision = open_turn
    assert TimeLeft(watch).left_s(state, replace(decision, deadline_id=5)) is None


def _beat(
    *, running: bool = True, given_back_ms: int = 0, cause: pb.Standstill.ValueType = pb.STANDSTILL_UNSPECIFIED
) -> pb.Heartbeat:
    return pb.Heartbeat(running=running, given_back_ms=given_back_ms, standstill=cause)


def test_an_outage_is_told_with_its_cause_and_what_was_given_back(watch: Watch) -> None:
    """Told once it lasts, and once more when time goes on, with the time of this outage alone."""
    news = TimeNews(load_texts("en"), watch)
    assert news.heard(_beat(given_back_ms=7_000)) == []
    assert news.heard(_beat(running=False, given_back_ms=7_000, cause=pb.STANDSTILL_CLOCK_AWAY)) == []
    assert news.why == "its clock is being replaced"
    watch.now_s += 2
    told = news.heard(_beat(running=False, given_back_ms=7_000, cause=pb.STANDSTILL_PROBE_LOST))
    assert told == ["Play time stands still: the site cannot be played just now. No countdown goes on meanwhile."]
    watch.now_s += 2
    assert news.heard(_beat(running=False, given_back_ms=7_000, cause=pb.STANDSTILL_PROBE_LOST)) == []
    assert news.heard(_beat(given_back_ms=11_200)) == ["Play time goes on; 4 s were given back."]
    assert news.why == ""
    assert news.heard(_beat(given_back_ms=11_200)) == []


def test_a_cause_that_is_not_known_is_told_in_general(watch: Watch) -> None:
    """A server of a later release may have one more."""
    news = TimeNews(load_texts("en"), watch)
    beat = pb.Heartbeat.FromString(b"\x28\x63")
    assert (beat.standstill, news.heard(beat)) == (99, [])
    assert news.why == "the site cannot be played just now"


def test_a_standstill_of_a_moment_is_not_told(watch: Watch) -> None:
    """It is to be seen in the line that says who is waited for, no more."""
    news = TimeNews(load_texts("en"), watch)
    assert news.heard(_beat(running=False, cause=pb.STANDSTILL_PROBE_LOST)) == []
    watch.now_s += 1.9
    assert news.heard(_beat(given_back_ms=1_900)) == []
    assert news.why == ""


def test_maintenance_is_announced_once_with_its_reason(watch: Watch) -> None:
    """Before it begins, or to whom comes while it lasts; again if its end is moved."""
    news = TimeNews(load_texts("en"), watch)

    def announced(begins_in_ms: int, ends_in_ms: int, ends_at: int) -> list[str]:
        coming = pb.Maintenance(
            begins_in_ms=begins_in_ms, ends_in_ms=ends_in_ms, ends_at_unix_ms=ends_at, reason="new disks"
        )
        return news.heard(pb.Heartbeat(running=True, maintenance=coming))

    assert announced(90_000, 690_000, 5) == ["Maintenance begins in 1:30 and lasts for 10:00 (minutes): new disks"]
    assert announced(89_000, 689_000, 5) == []
    assert announced(0, 65_000, 6) == ["Maintenance has begun; 1:05 left (minutes): new disks"]
