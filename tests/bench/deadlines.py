"""The clock's deadlines alone, so many of them: `python -m tests.bench.deadlines COUNT` prints what one costs."""

from __future__ import annotations

import gc
import json
import os
import sys
import time
import tracemalloc
from collections.abc import Callable

from services.clock.domain.deadlines import Deadline, Deadlines
from tests.bench.around_clock import GRACE_MS, table_ids
from tests.bench.processes import rss_kb

_TRACED = 100_000
_SPREAD_MS = 300_000


def measure(count: int) -> dict[str, float]:
    """Microseconds of CPU and bytes for each; see docs/bench.md for the keys."""
    traced = _traced_bytes(min(count, _TRACED))
    # As in a service, what lives long is not searched for garbage.
    gc.collect()
    gc.freeze()
    before_kb = rss_kb(os.getpid())
    names = table_ids(0, count)
    deadlines = Deadlines()
    arm_us = _us_each(count, lambda: _arm(deadlines, names, 1))
    resident = (rss_kb(os.getpid()) - before_kb) * 1024 / count
    gc.collect()
    begun_s = time.process_time()
    gc.collect()
    collection_ms = (time.process_time() - begun_s) * 1000
    again_us = _us_each(count, lambda: _arm(deadlines, names, 2))
    cancel_us = _us_each(count, lambda: _cancel(deadlines, names))
    return {
        "arm_us": round(arm_us, 2),
        "arm_again_us": round(again_us, 2),
        "cancel_us": round(cancel_us, 2),
        "traced_bytes": round(traced),
        "resident_bytes": round(resident),
        "collection_ms": round(collection_ms, 1),
    }


def _traced_bytes(count: int) -> float:
    """What Python has handed out for each, the name of its table included."""
    tracemalloc.start()
    deadlines = Deadlines()
    before, _ = tracemalloc.get_traced_memory()
    names = table_ids(0, count)
    _arm(deadlines, names, 1)
    names.clear()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return (after - before) / count


def _arm(deadlines: Deadlines, names: list[str], seq: int) -> None:
    for number, table_id in enumerate(names):
        opened_ms = seq * 1_000 + number * _SPREAD_MS // len(names)
        deadlines.arm(table_id, seq, [Deadline(seq, opened_ms, 60_000)], GRACE_MS)


def _cancel(deadlines: Deadlines, names: list[str]) -> None:
    for table_id in names:
        deadlines.arm(table_id, 3, [], GRACE_MS)


def _us_each(count: int, work: Callable[[], None]) -> float:
    begun_s = time.process_time()
    work()
    return (time.process_time() - begun_s) / count * 1e6


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]))))
