"""`python -m tests.bench`: measures, prints the figures, and writes them as bench.json (keys: docs/bench.md)."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("GRPC_VERBOSITY", "ERROR")

from tests.bench import clock, core, end_to_end, idle, memory, replicas, restore, tables_of_people, watchers
from tests.bench.report import Demand, demands, print_part

FORM = 2
PARTS: dict[str, Callable[[], dict[str, Any]]] = {
    "core": core.measure,
    "editions": core.measure_editions,
    "e2e": end_to_end.measure,
    "memory": memory.measure,
    "replicas": replicas.measure,
    "watchers": watchers.measure,
    "people": tables_of_people.measure,
    "idle": idle.measure,
    "restore": restore.measure,
    "clock": clock.measure,
}


def main() -> None:
    """Measures the parts asked for, one after the other."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--only", default=",".join(PARTS), help=f"parts with commas between: {', '.join(PARTS)}")
    parser.add_argument("--out", type=Path, default=Path("bench.json"), help="file of the figures (bench.json)")
    arguments = parser.parse_args()
    wanted = [part for part in arguments.only.split(",") if part]
    unknown = sorted(set(wanted) - set(PARTS))
    if unknown:
        parser.error(f"there is no part {', '.join(unknown)}")
    found: dict[str, Any] = {"form": FORM, "machine": _machine()}
    for number, part in enumerate(wanted, 1):
        begun_s = time.monotonic()
        print(f"measuring: {part} ({number} of {len(wanted)}) ...", file=sys.stderr, flush=True)
        found[part] = PARTS[part]()
        print_part(part, found[part], time.monotonic() - begun_s)
    held = demands(found)
    found["demands"] = {demand.name: demand.figures() for demand in held}
    _print_demands(held)
    arguments.out.write_text(json.dumps(found, indent=2) + "\n")
    print(f"written: {arguments.out}")


def _machine() -> dict[str, Any]:
    return {
        "cpus": os.cpu_count(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "load_average_before": [round(load, 2) for load in os.getloadavg()],
        "at_unix_s": int(time.time()),
    }


def _print_demands(held: list[Demand]) -> None:
    print("\ndemands")
    for demand in held:
        print(f"  {'holds ' if demand.holds else 'BROKEN'} {demand}")


if __name__ == "__main__":
    main()
