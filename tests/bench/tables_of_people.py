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
_WARM_S = 3.0


def measure(
    modes: Sequence[str] = MODES, *, tables: int = 90, clients: int = 390, seconds: float = 30.0, per_s: float = 1.0
) -> dict[str, Any]:
    """Figures by mode; see docs/bench.md for the keys."""
    found: dict[str, Any] = {"tables": tables, "clients": clients, "actions_per_s": tables * per_s}
    with tempfile.TemporaryDirectory(prefix="magnate-bench-") as folder:
        for mode in modes:
            print(f"  {clients} people at {tables} tables, {mode} ...", file=sys.stderr, flush=True)
            with _site(mode, Path(folder)) as running:
                found[mode] = _play(running, tables, clients, seconds, per_s)
    return found


def _site(mode: str, folder: Path) -> AbstractContextManager[Running]:
    return embedded(folder / "people") if mode == "embedded" else distributed()


def _play(running: Running, tables: int, clients: int, seconds: float, per_s: float) -> dict[str, float]:
    with Process("people", ["tests.bench.people", "--address", ",".join(running.addresses)]) as people:
        people.ask(tables=tables, clients=clients)
        people.ask(seconds=_WARM_S, per_s=per_s)
        pids = (*running.services, *running.stores)
        cpu_s = cpu_seconds(pids)
        played = people.ask(seconds=seconds, per_s=per_s)
        cpu_s = cpu_seconds(pids) - cpu_s
    submits, deliveries = sorted(played["submits_ms"]), sorted(played["deliveries_ms"])
    return {
        "actions": len(submits),
        "failed": played["failed"],
        "deliveries": len(deliveries),
        "submit_p50_ms": spread(submits).p50,
        "submit_p95_ms": _p95(submits),
        "delivery_p50_ms": spread(deliveries).p50,
        "delivery_p95_ms": _p95(deliveries),
        "cpu_share": round(cpu_s / seconds, 3),
    }


def _p95(ordered: Sequence[float]) -> float:
    return ordered[min(len(ordered) - 1, len(ordered) * 95 // 100)] if ordered else 0.0
