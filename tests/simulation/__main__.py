"""`python -m tests.simulation`: plays many schedules, or with --seed one of them with everything that happens in it."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter

from tests.simulation.many import Tally, run_many
from tests.simulation.schedule import play
from tests.simulation.tracing import traced

_SHOWN = 20


def report(tally: Tally) -> int:
    """Prints what was found; the exit status."""
    kinds = Counter(text.split(":")[0] for found in tally.violations.values() for text in found)
    for seed, found in sorted(tally.violations.items())[:_SHOWN]:
        print(f"make simulate SEED={seed}   # {found[0]}")
    for kind, number in kinds.most_common():
        print(f"{number} times {kind}")
    print(
        f"{tally.faults} faults, {tally.deadlines} deadlines of which {tally.fired} ran out; "
        f"{len(tally.late_ms)} ran out in stretches without a fault"
    )
    print(json.dumps(tally.figures()))
    return 1 if tally.violations else 0


def replay(seed: int) -> int:
    """Plays one schedule and prints its trace."""
    with traced():
        outcome = play(seed)
    for line in outcome.trace:
        print(line)
    tally = Tally()
    tally.add(outcome)
    for text in outcome.violations:
        print(f"VIOLATION {text}")
    print(f"digest of the trace: {outcome.digest}")
    print(json.dumps(tally.figures()))
    return 1 if outcome.violations else 0


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(prog="tests.simulation", description=__doc__)
    parser.add_argument("--schedules", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seed", type=int, default=None, help="replay this one")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    chosen = parser.parse_args()
    if chosen.seed is not None:
        return replay(chosen.seed)
    return report(run_many(chosen.first, chosen.schedules, chosen.jobs))


if __name__ == "__main__":
    if os.environ.get("PYTHONHASHSEED") != "0":
        # Hashes of texts must not depend on chance.
        command = [sys.executable, "-m", "tests.simulation", *sys.argv[1:]]
        os.execve(sys.executable, command, {**os.environ, "PYTHONHASHSEED": "0"})
    sys.exit(main())
