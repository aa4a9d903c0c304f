"""The simulation finds nothing in the shipped code, repeats itself for a seed, and finds planted defects."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import pytest

from tests.simulation import defects
from tests.simulation.many import run_seeds
from tests.simulation.schedule import play
from tests.support.amount import amount

_TRIES = 12
# From here on the wall clocks of clocks are among those that are set.
_FIRST = 9


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """Hundreds of crashes would fill the report with warnings."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(before)


def test_nothing_is_wrong_in_a_share_of_the_schedules() -> None:
    """Given seeded faults, when games are left to their deadlines, then none fires early, late or twice, none is
    forgotten, and no outage costs a player time or gives back too much."""
    tally = run_seeds(range(amount(12, 400)))
    assert tally.violations == {}
    assert tally.late_ms


def test_a_seed_does_the_same_again() -> None:
    """Given a seed, when its schedule is played twice, then all that happens is the same to the microsecond."""
    first, second = play(7), play(7)
    assert first.trace == second.trace
    assert first.digest == second.digest


@pytest.mark.parametrize(
    ("defect", "kinds", "found"),
    [
        (defects.fires_early, (), {"early"}),
        (defects.forgets, (), {"forgotten", "late"}),
        (defects.fires_twice, (), {"twice"}),
        (defects.counts_outages, ("redis_away", "store_away"), {"ahead", "early"}),
        (defects.steps_with_the_wall_clock, ("clock_step",), {"ahead", "early", "over-credit", "forgotten"}),
    ],
    ids=["fires early", "forgets", "fires twice", "counts an outage", "steps with the wall clock"],
)
def test_a_planted_defect_is_found(
    defect: Callable[[], AbstractContextManager[None]], kinds: tuple[str, ...], found: set[str]
) -> None:
    """Given a mistake in the code, when some schedules are played, then one of them has a violation of its kind."""
    with defect():
        for seed in range(_FIRST, _FIRST + _TRIES):
            kinds_found = {text.split(":")[0] for text in play(seed, kinds=kinds).violations}
            if kinds_found & found:
                return
    pytest.fail(f"{_TRIES} schedules did not notice")
