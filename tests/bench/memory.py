"""Start-up time and resident memory of the embedded site with some numbers of running tables."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from typing import Any

from tests.bench.processes import Process, rss_kb

TABLES = (0, 100, 1_000)
_SETTLE_S = 2.0


def measure(tables: Sequence[int] = TABLES) -> dict[str, Any]:
    """Figures by number of tables; see docs/bench.md for the keys."""
    found = {str(count): _with_tables(count) for count in tables}
    least, most = str(min(tables)), str(max(tables))
    kb = (found[most]["rss_mb"] - found[least]["rss_mb"]) * 1024 / max(1, int(most) - int(least))
    return {**found, "kb_per_table": round(kb, 1)}


def _with_tables(count: int) -> dict[str, float]:
    """A site that gets so many tables, which are played and watched; then it is started again with them."""
    with tempfile.TemporaryDirectory(prefix="magnate-bench-") as folder:
        with Process("site", ["tests.bench.site", folder]) as site:
            address = site.answer()["address"]
            with Process("crowd", ["tests.bench.crowd", "--address", address]) as crowd:
                crowd.ask(tables=count)
                time.sleep(_SETTLE_S)
                rss_mb = rss_kb(site.pid) / 1024
        with Process("site", ["tests.bench.site", folder]) as site:
            site.answer()
            start_ms = (time.monotonic() - site.began_s) * 1000
            time.sleep(_SETTLE_S)
            return {
                "rss_mb": round(rss_mb, 1),
                "start_ms": round(start_ms),
                "rss_after_restart_mb": round(rss_kb(site.pid) / 1024, 1),
            }
