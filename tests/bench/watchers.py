"""One gateway process with many open watches of tables in play: memory for each, and how soon an update arrives."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from tests.bench.percentiles import spread
from tests.bench.processes import Process, cpu_seconds, rss_kb
from tests.bench.sites import Running, distributed

STREAMS = (200, 2_000)
_PROCESSES = 2
_PEOPLE = 4
# Longer than the players wait for what is under way.
_DRAIN_S = 1.0


def measure(
    streams: Sequence[int] = STREAMS,
    *,
    tables: int = 40,
    seconds: float = 20.0,
    per_s: float = 1.0,
    settle_s: float = 3.0,
) -> dict[str, Any]:
    """Figures by number of open watches; see docs/bench.md for the keys."""
    with ExitStack() as stack:
        running = stack.enter_context(distributed())
        addresses = ",".join(running.addresses)
        people = stack.enter_context(Process("people", ["tests.bench.people", "--address", addresses]))
        names = people.ask(tables=tables, clients=tables * _PEOPLE)["tables"]
        command = ["tests.bench.spectators", "--address", addresses]
        spectators = [stack.enter_context(Process("spectators", command)) for _ in range(_PROCESSES)]
        people.ask(seconds=settle_s, per_s=per_s)
        found: dict[str, Any] = {}
        opened = 0
        for count in sorted(streams):
            print(f"  {count:,} watches ...", file=sys.stderr, flush=True)
            before_kb = _gateway_kb(running)
            for process in spectators:
                process.ask(open=(count - opened) // _PROCESSES, tables=names)
            time.sleep(settle_s)
            kb = (_gateway_kb(running) - before_kb) / (count - opened)
            opened = count
            found[str(count)] = {"kb_per_watch": round(kb, 1), **_delivery(running, people, spectators, seconds, per_s)}
    least, most = (found[str(count)] for count in (min(streams), max(streams)))
    found["memory_ratio"] = round(most["kb_per_watch"] / max(0.1, least["kb_per_watch"]), 2)
    return found


def _delivery(
    running: Running, people: Process, spectators: Sequence[Process], seconds: float, per_s: float
) -> dict[str, float]:
    """Tables are played, and everybody notes when he sees what."""
    gateway = running.processes["gateway"]
    cpu_s = cpu_seconds(gateway)
    for process in spectators:
        process.tell(seconds=seconds + _DRAIN_S)
    played = people.ask(seconds=seconds, per_s=per_s)
    seen = [process.answer() for process in spectators]
    cpu_s = cpu_seconds(gateway) - cpu_s
    called = {(table_id, seq): (called_s, answered_s) for table_id, seq, called_s, answered_s in played["journal"]}
    from_call, from_answer = [], []
    for table_id, seq, at_s in (arrival for answer in seen for arrival in answer["arrivals"]):
        if (table_id, seq) in called:
            called_s, answered_s = called[(table_id, seq)]
            from_call.append((at_s - called_s) * 1000)
            from_answer.append((at_s - answered_s) * 1000)
    of_call, of_answer = spread(from_call), spread(from_answer)
    return {
        "commands": len(called),
        "deliveries": len(from_call),
        "lost_watches": sum(answer["ended"] for answer in seen),
        "delivery_p50_ms": of_call.p50,
        "delivery_p99_ms": of_call.p99,
        "after_answer_p50_ms": of_answer.p50,
        "after_answer_p99_ms": of_answer.p99,
        "submit_p50_ms": round(statistics.median(played["submits_ms"] or [0.0]), 2),
        "gateway_cpu_us_per_delivery": round(cpu_s / max(1, len(from_call)) * 1e6, 1),
        "gateway_cpu_share": round(cpu_s / (seconds + _DRAIN_S), 3),
    }


def _gateway_kb(running: Running) -> int:
    return sum(map(rss_kb, running.processes["gateway"]))
