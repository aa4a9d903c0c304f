"""Two distributed sites that play alike; one has few idle tables in its store, the other very many."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from tests.bench.end_to_end import Sums, Turns, loaded
from tests.bench.idle_tables import add_idle_tables
from tests.bench.processes import cpu_seconds, rss_kb
from tests.bench.sites import Running, distributed

IDLE = (1_000, 100_000)
_MINUTE_S = 60.0
# A replica that has just started looks once through all games with bots, so many in a second.
_FIRST_LOOK_PER_S = 2_000


def measure(
    idle: Sequence[int] = IDLE,
    *,
    tables: int = 16,
    turns: int = 7,
    turn_s: float = 2.0,
    rest_s: float = 65.0,
    settle_s: float = 20.0,
    warm_s: float = 2.0,
) -> dict[str, Any]:
    """Figures by number of idle tables; see docs/bench.md for the keys."""
    with ExitStack() as stack:
        sites: dict[int, tuple[Running, Turns]] = {}
        for count in idle:
            print(f"  a site with {count:,} idle tables ...", file=sys.stderr, flush=True)
            running = stack.enter_context(distributed())
            add_idle_tables(running.addresses[0], running.database_url, 0, count)
            load, _ = stack.enter_context(loaded(running, tables))
            sites[count] = running, Turns(running, load)
        time.sleep(settle_s + max(idle) / _FIRST_LOOK_PER_S)
        for _, chain in sites.values():
            chain.play(warm_s)
            chain.sums = Sums()
        for _ in range(turns):
            for _, chain in sites.values():
                chain.play(turn_s)
        print(f"  at rest for {rest_s:.0f} s ...", file=sys.stderr, flush=True)
        before = {count: _cpu(running) for count, (running, _) in sites.items()}
        time.sleep(rest_s)
        found: dict[str, Any] = {}
        for count, (running, chain) in sites.items():
            rest = {name: (used_s - before[count][name]) / rest_s for name, used_s in _cpu(running).items()}
            found[str(count)] = {
                **chain.sums.figures(),
                "rest_cpu_share": round(sum(rest.values()), 4),
                "rest_cpu_share_by_part": {name: round(share, 4) for name, share in rest.items()},
                "rss_mb_by_part": _rss_mb(running),
            }
        rates = [chain.sums.rates for _, chain in sites.values()]
    few, many = (found[str(count)] for count in (min(idle), max(idle)))
    more = max(1, max(idle) - min(idle))
    found["rate_ratio"] = round(statistics.median([b / a for a, b in zip(rates[0], rates[-1], strict=True)]), 3)
    found["cpu_us_per_table_minute"] = round(
        (many["rest_cpu_share"] - few["rest_cpu_share"]) * _MINUTE_S / more * 1e6, 2
    )
    found["memory_bytes_per_table"] = round(
        (sum(many["rss_mb_by_part"].values()) - sum(few["rss_mb_by_part"].values())) * 1024 * 1024 / more
    )
    return found


def _cpu(running: Running) -> dict[str, float]:
    parts = {**running.processes, "postgres": running.stores[:1], "redis": running.stores[1:]}
    return {name: cpu_seconds(pids) for name, pids in parts.items()}


def _rss_mb(running: Running) -> dict[str, float]:
    """Postgres is left out: it keeps what it reads in memory that its processes share."""
    return {name: round(sum(map(rss_kb, pids)) / 1024, 1) for name, pids in running.processes.items()}
