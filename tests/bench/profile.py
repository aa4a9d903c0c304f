"""Where the time of the embedded site goes while 16 tables are played: `python -m tests.bench.profile`.

Prints the functions of the loop's thread that take most time of their own, and how the time is spread over the parts.
The profiler itself takes time at every call of a Python function: shares are good, absolute times are not.
"""

from __future__ import annotations

import argparse
import os
import pstats
import signal
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from tests.bench.processes import Process

_ROOT = Path(__file__).parents[2]


def main() -> None:
    """Plays and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--lines", type=int, default=40)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="magnate-bench-") as folder:
        file = Path(folder) / "profile"
        with Process("site", ["tests.bench.site", folder, "--profile", str(file)]) as site:
            address = site.answer()["address"]
            with Process("load", ["tests.bench.load", "--address", address]) as load:
                load.ask(tables=arguments.tables)
                load.ask(seconds=1)
                os.kill(site.pid, signal.SIGUSR1)
                answer = load.ask(seconds=arguments.seconds)
        stats: Any = pstats.Stats(str(file))
    _print(stats.stats, answer["commands"], arguments.lines)


def _print(stats: dict[tuple[str, int, str], Any], commands: int, lines: int) -> None:
    parts: dict[str, float] = defaultdict(float)
    rows = []
    for (file, line, name), (_, calls, own_s, all_s, _) in stats.items():
        parts[_part(file, name)] += own_s
        rows.append((own_s / commands * 1e6, all_s / commands * 1e6, calls / commands, f"{_short(file)}:{line} {name}"))
    print(f"{commands} commands; microseconds and calls for each command, of the loop's thread\n")
    for part, own_s in sorted(parts.items(), key=lambda item: -item[1]):
        if own_s / commands * 1e6 >= 1:
            print(f"  {own_s / commands * 1e6:8.1f}  {part}")
    print("\n       own       all   calls")
    for own, whole, calls, what in sorted(rows, reverse=True)[:lines]:
        print(f"  {own:8.1f}  {whole:8.1f}  {calls:6.2f}  {what}")


def _part(file: str, name: str) -> str:
    path = _short(file)
    if path.startswith(("services/", "gateway/", "gen/")):
        return "/".join(path.split("/")[:3])
    if "grpc" in file or "grpc" in name:
        return "grpc"
    for known in ("sqlalchemy", "opentelemetry", "uvloop", "asyncio"):
        if known in file or known in name:
            return known
    return "built into Python" if file == "~" else Path(file).name


def _short(file: str) -> str:
    return str(Path(file).relative_to(_ROOT)) if file.startswith(str(_ROOT)) and ".venv" not in file else file[-60:]


if __name__ == "__main__":
    main()
