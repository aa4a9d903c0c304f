"""Faults come from the seed alone, each kind equally often."""

from __future__ import annotations

from collections import Counter

from tests.chaos.schedule import KINDS, draw

_REPLICAS = {"rules": 2, "table": 2, "clock": 2, "bots": 2, "gateway": 2}


def test_a_full_run_has_every_kind_twenty_times() -> None:
    """Given 480 faults, then each action is done to each target 20 times, and to every replica of it."""
    faults = draw(1, 480, _REPLICAS)
    assert Counter(fault.kind for fault in faults) == dict.fromkeys(KINDS, 20)
    assert len(KINDS) == 24
    assert {fault.replica for fault in faults if fault.target in ("relay", "table", "clock")} == {0, 1}
    assert {fault.replica for fault in faults if fault.target in ("redis", "postgres")} == {0}


def test_a_seed_is_a_schedule() -> None:
    """The same seed gives the same faults, another one others."""
    assert draw(3, 100, _REPLICAS) == draw(3, 100, _REPLICAS)
    assert draw(3, 100, _REPLICAS) != draw(4, 100, _REPLICAS)


def test_a_short_run_spreads_its_faults() -> None:
    """Given fewer faults than kinds, no kind comes twice."""
    assert max(Counter(fault.kind for fault in draw(5, 16, _REPLICAS)).values()) == 1
