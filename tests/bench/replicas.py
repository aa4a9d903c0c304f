"""The distributed site with one and with two replicas of each service, in turns on the same machine."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from tests.bench.end_to_end import Sums, Turns, loaded
from tests.bench.processes import rss_kb
from tests.bench.sites import Running, distributed

REPLICAS = (1, 2)


def measure(
    replicas: Sequence[int] = REPLICAS, *, tables: int = 16, turns: int = 7, turn_s: float = 2.0, warm_s: float = 2.0
) -> dict[str, Any]:
    """Figures by number of replicas; see docs/bench.md for the keys."""
    with ExitStack() as stack:
        chains: dict[int, tuple[Running, Turns]] = {}
        for count in replicas:
            print(f"  a site with {count} of each ...", file=sys.stderr, flush=True)
            running = stack.enter_context(distributed(count))
            load, _ = stack.enter_context(loaded(running, tables))
            chains[count] = running, Turns(running, load)
        for _, chain in chains.values():
            chain.play(warm_s)
            chain.sums = Sums()
        for _ in range(turns):
            for _, chain in chains.values():
                chain.play(turn_s)
        found: dict[str, Any] = {
            str(count): {
                **chain.sums.figures(),
                "cpu_us_per_command_by_service": chain.sums.by_service(),
                "rss_mb": round(sum(map(rss_kb, (*running.services, *running.stores))) / 1024, 1),
            }
            for count, (running, chain) in chains.items()
        }
    least, most = (chains[count][1].sums.rates for count in (min(replicas), max(replicas)))
    ratios = [more / fewer for more, fewer in zip(most, least, strict=True)]
    found["rate_ratio"] = round(statistics.median(ratios), 3)
    found["cpu_ratio"] = round(
        found[str(max(replicas))]["cpu_us_per_command"] / found[str(min(replicas))]["cpu_us_per_command"], 3
    )
    return found
