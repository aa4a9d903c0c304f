"""Each part of the bench that starts processes runs in a tiny form, and tells all that docs/bench.md promises."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from tests.bench import clock, idle, replicas, restore, tables_of_people, watchers
from tests.bench.report import demands, print_part
from tests.bench.sites import Running, distributed

GUIDE = Path(__file__).parents[2] / "docs" / "bench.md"
PARTS = ("rules", "table", "clock", "bots", "gateway", "postgres", "redis")


@pytest.fixture(scope="module")
def site() -> Iterator[Running]:
    """One distributed site for all parts."""
    with distributed() as running:
        yield running


@pytest.fixture
def the_site(site: Running, monkeypatch: pytest.MonkeyPatch) -> Running:
    """Parts that start a site get this one."""

    def given(*_: object) -> AbstractContextManager[Running]:
        return nullcontext(site)

    for part in (idle, replicas, restore, tables_of_people, watchers):
        monkeypatch.setattr(part, "distributed", given)
    return site


def _told(part: str, figures: dict[str, Any]) -> None:
    """Every key that is measured is in the guide and the other way round, and people can read the figures."""
    assert _keys(part, figures) == _promised(part)
    print_part(part, figures, 1.0)
    assert all(isinstance(demand.holds, bool) for demand in demands({part: figures}))


def _keys(name: str, value: Any) -> set[str]:
    """Names of all figures as the guide writes them: what they were measured with is a word in capitals."""
    if not isinstance(value, dict):
        return {name}
    return {found for key, inner in value.items() for found in _keys(f"{name}.{_word(key)}", inner)}


def _word(key: str) -> str:
    if key.isdecimal():
        return "N"
    return "MODE" if key in tables_of_people.MODES else "PART" if key in PARTS else key


def _promised(part: str) -> set[str]:
    return {name for name in re.findall(r"`([a-zA-Z_0-9.]+)`", GUIDE.read_text()) if name.startswith(f"{part}.")}


def test_replicas(the_site: Running) -> None:
    figures = replicas.measure((1,), tables=1, turns=1, turn_s=0.3, warm_s=0.3)
    _told("replicas", figures)
    assert figures["1"]["commands"] > 0
    assert figures["1"]["failed"] == 0
    assert (figures["rate_ratio"], figures["cpu_ratio"]) == (1.0, 1.0)
    assert set(figures["1"]["cpu_us_per_command_by_service"]) == {"rules", "table", "clock", "bots", "gateway"}


def test_watchers(the_site: Running) -> None:
    figures = watchers.measure((2, 6), tables=2, seconds=1.0, per_s=4.0, settle_s=0.3)
    _told("watchers", figures)
    assert figures["6"]["lost_watches"] == 0
    assert figures["6"]["deliveries"] == 3 * figures["6"]["commands"] > 0


def test_tables_of_people(the_site: Running) -> None:
    figures = tables_of_people.measure(("distributed",), tables=2, clients=5, seconds=1.0, per_s=4.0, warm_s=0.3)
    _told("people", figures)
    found = figures["distributed"]
    assert found["failed"] == 0
    # One table has three people, the other two.
    assert found["actions"] <= found["deliveries"] <= 2 * found["actions"]


def test_idle_tables(the_site: Running) -> None:
    figures = idle.measure((20,), tables=1, turns=1, turn_s=0.3, rest_s=0.5, settle_s=0, warm_s=0.3)
    _told("idle", figures)
    assert figures["20"]["failed"] == 0


def test_restoring(the_site: Running) -> None:
    figures = restore.measure((20, 60), repeats=2)
    _told("restore", figures)
    assert figures["20"]["events"] >= 20
    assert figures["60"]["events"] >= 60


def test_clock() -> None:
    figures = clock.measure((50, 2_000), rate=100, seconds=1, outages=1, outage_s=1.0, stream=500, rest_s=0.5)
    _told("clock", figures)
    assert [figures[count]["fired"] for count in ("50", "2000")] == [100, 100]
    assert [figures[count]["not_fired"] for count in ("50", "2000")] == [0, 0]
