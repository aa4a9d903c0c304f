"""A short run of `make chaos`: two replicas of everything, faults of every target, and nothing lost."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.chaos.run import Outcome, Wish, run_chaos
from tests.chaos.schedule import ACTIONS, TARGETS, draw
from tests.chaos.site import make_site, replicas_of
from tests.support.amount import amount

_TABLES = 8
_FAULTS = amount(12, 48)
#: every target once, and every action
_SPREAD = [f"{ACTIONS[number % len(ACTIONS)]}:{target}" for number, target in enumerate(TARGETS)]


def _say(line: str) -> None:
    print(line, file=sys.stderr)


async def _run(
    folder: Path, seed: int, kinds: Sequence[str], faults: int, *, calm_s: float = 0, defect: str = ""
) -> Outcome:
    site = make_site(defect=defect)
    drawn = draw(seed, faults, replicas_of(site), kinds)
    try:
        return await run_chaos(site, folder, Wish(seed=seed, tables=_TABLES, faults=drawn, calm_s=calm_s), _say)
    finally:
        await site.close()


async def test_nothing_acknowledged_is_lost_whatever_is_killed(tmp_path: Path) -> None:
    """Given tables with bots, players and watchers, when each part is killed, stopped or restarted, then every
    acknowledged command is in the log once and in order, every log decides again to what is stored, every watcher
    saw it without gap or repeat, and every game goes on."""
    outcome = await _run(tmp_path, 11, _SPREAD, _FAULTS)
    assert outcome.troubles == []
    figures = outcome.figures
    assert (figures["lost"], figures["doubled"], figures["gaps"]) == (0, 0, 0)
    assert figures["faults"] == _FAULTS
    assert {kind.split(":")[1] for kind in figures["by_kind"]} == set(TARGETS)
    assert figures["acknowledged"] > 100


@pytest.mark.parametrize(
    ("defect", "sort", "faults", "calm_s"),
    [
        ("repeat_to_watchers", "doubled", 2, 8.0),
        pytest.param("acknowledge_before_commit", "lost", 2, 2.0, marks=pytest.mark.full),
        pytest.param("skip_in_relay", "late", 0, 30.0, marks=pytest.mark.full),
    ],
)
async def test_a_planted_defect_is_found(tmp_path: Path, defect: str, sort: str, faults: int, calm_s: float) -> None:
    """Given a site with a defect planted in its processes, when it is judged after the same kind of run, then it
    fails, and by the check that is meant for such a defect."""
    outcome = await _run(tmp_path, 3, ["kill:table"], faults, calm_s=calm_s, defect=defect)
    assert sort in {trouble.sort for trouble in outcome.troubles}
