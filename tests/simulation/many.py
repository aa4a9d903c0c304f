"""Many schedules in several processes, and what was found in all of them together."""

from __future__ import annotations

import gc
import logging
import multiprocessing
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field

from tests.simulation.schedule import Outcome, play
from tests.simulation.store import open_disk

_CHUNK = 20
_PROGRESS_S = 15.0


@dataclass(slots=True)
class Tally:
    """Of many schedules."""

    schedules: int = 0
    deadlines: int = 0
    fired: int = 0
    faults: int = 0
    over_credit_ms: float = 0.0
    late_ms: list[float] = field(default_factory=list)
    violations: dict[int, list[str]] = field(default_factory=dict)

    def add(self, outcome: Outcome) -> None:
        """Counts one in."""
        findings = outcome.findings
        self.schedules += 1
        self.deadlines += findings.opened
        self.fired += findings.fired
        self.faults += outcome.faults
        self.over_credit_ms = max(self.over_credit_ms, findings.over_credit_ms)
        self.late_ms += findings.late_ms
        if outcome.violations:
            self.violations[outcome.seed] = list(outcome.violations)

    def merge(self, other: Tally) -> None:
        """Counts many in."""
        self.schedules += other.schedules
        self.deadlines += other.deadlines
        self.fired += other.fired
        self.faults += other.faults
        self.over_credit_ms = max(self.over_credit_ms, other.over_credit_ms)
        self.late_ms += other.late_ms
        self.violations.update(other.violations)

    def figures(self) -> dict[str, float]:
        """The last line."""
        late = sorted(self.late_ms)
        return {
            "schedules": self.schedules,
            "violations": sum(len(found) for found in self.violations.values()),
            "over_credit_ms_max": round(self.over_credit_ms, 1),
            "late_ms_p99": round(late[min(len(late) - 1, int(len(late) * 0.99))], 1) if late else 0.0,
        }


def run_seeds(seeds: range) -> Tally:
    """Plays the schedules of some seeds in this process."""
    logging.disable(logging.CRITICAL)
    tally = Tally()
    open_disk()
    # What stays for ever need not be looked through when the rest is collected.
    gc.collect()
    gc.freeze()
    try:
        for seed in seeds:
            tally.add(play(seed))
    finally:
        gc.unfreeze()
    return tally


def run_many(first: int, count: int, jobs: int) -> Tally:
    """Plays many in several processes; progress goes to stderr."""
    tally, begun_s, shown_s = Tally(), time.monotonic(), 0.0
    chunks = [range(low, min(low + _CHUNK, first + count)) for low in range(first, first + count, _CHUNK)]
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        for done in as_completed([pool.submit(run_seeds, chunk) for chunk in chunks]):
            part = done.result()
            tally.merge(part)
            for seed, found in sorted(part.violations.items()):
                for text in first_of_each_kind(found):
                    print(f"seed {seed}: {text}", file=sys.stderr, flush=True)
            passed_s = time.monotonic() - begun_s
            if passed_s - shown_s >= _PROGRESS_S or tally.schedules == count:
                shown_s = passed_s
                left_s = passed_s / tally.schedules * (count - tally.schedules)
                print(
                    f"{tally.schedules} of {count} schedules, {len(tally.violations)} with violations, "
                    f"about {left_s / 60:.0f} min left",
                    file=sys.stderr,
                    flush=True,
                )
    return tally


def first_of_each_kind(found: Iterable[str]) -> list[str]:
    """One violation of each kind."""
    kinds: dict[str, str] = {}
    for text in found:
        kinds.setdefault(text.split(":")[0], text)
    return list(kinds.values())
