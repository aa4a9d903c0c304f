"""Many tables of people at a person's pace, in both modes: how long an action takes, and until the others see it."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from tests.bench.percentiles import spread
from tests.bench.processes import Process, cpu_seconds
from tests.bench.sites import Running, distributed, embedded

MODES = ("embedded", "distributed")


def measure(
    modes: Sequence[str] = MODES,
    *,
    tables: int = 90,
    clients: int = 390,
    seconds: float = 30.0,
    per_s: float = 1.0,
    warm_s: float = 5.0,
) -> dict[str, Any]:
    """Figures by mode; see docs/bench.md for the keys."""
    found: dict[str, Any] = {"tables": tables, "clients": clients, "actions_per_s": tables * per_s}
    with tempfile.TemporaryDirectory(prefix="magnate-bench-") as folder:
        for mode in modes:
            print(f"  {clients} people at {tables} tables, {mode} ...", file=sys.stderr, flush=True)
            with _site(mode, Path(folder)) as running:
                found[mode] = _play(running, tables, clients, (warm_s, seconds), per_s)
    return found


def _site(mode: str, folder: Path) -> AbstractContextManager[Running]:
    return embedded(folder / "people") if mode == "embedded" else distributed()


def _play(running: Running, tables: int, clients: int, times_s: tuple[float, float], per_s: float) -> dict[str, float]:
    warm_s, seconds = times_s
    with Process("people", ["tests.bench.people", "--address", ",".join(running.addresses)]) as people:
        people.ask(tables=tables, clients=clients)
        people.ask(seconds=warm_s, per_s=per_s)
        pids = (*running.services, *running.stores)
        cpu_s = cpu_seconds(pids)
        played = people.ask(seconds=seconds, per_s=per_s)
        cpu_s = cpu_seconds(pids) - cpu_s
    submits, deliveries = spread(played["submits_ms"]), spread(played["deliveries_ms"])
    return {
        "actions": len(played["submits_ms"]),
        "failed": played["failed"],
        "shed": played["shed"],
        "deliveries": len(played["deliveries_ms"]),
        "submit_p50_ms": submits.p50,
        "submit_p95_ms": submits.p95,
        "delivery_p50_ms": deliveries.p50,
        "delivery_p95_ms": deliveries.p95,
        "cpu_share": round(cpu_s / seconds, 3),
    }
