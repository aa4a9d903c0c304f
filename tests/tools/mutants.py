"""Do the rule tests mean it? Changes the rules in small ways, one at a time, and sees whether a test notices.

    python -m tests.tools.mutants [--sample 120] [--seed 1] [--workers 2] [--all]

Each change is made in a copy of the tree; of the rule tests only those that name a fitting statement are run: one that
the changed place names, or one of the same area. The change is caught when such a test fails. Prints one line for each
change, and ends with one JSON line. Exit status 1 if fewer than 95 in 100 are caught.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

from tests.tools.ledgers import ROOT, area_of, left_out_ids
from tests.tools.mutations import Mutation, core_mutations, parameter_mutations
from tests.tools.rules_coverage import tests_by_statement

COPIED = ("services", "tests", "docs", "pyproject.toml")
EDITIONS = ROOT / "services" / "rules" / "editions"
#: edition file -> prefix of its ledger
LEDGERS = {
    "industry": "IND",
    "metro": "MET",
    "metro-speed": "MET",
    "brands": "BRA",
    "brands-fast": "BRA",
    "brands-brawl": "BRA",
    "brands-teams": "BRA",
    "tabletop": "TAB",
    "tabletop-short": "TAB",
    "tabletop-timed": "TAB",
    "online-classic": "TAB",
    "rent-tax": "TAB",
}
SHARE_OF_PARAMETERS = 3
LEAST_CAUGHT = 0.95
TEST_TIMEOUT_S = 120


def fitting_tests(mutation: Mutation, tests: dict[str, list[str]]) -> tuple[list[str], list[str]]:
    """Tests of the rules that name one of the mutation's statements, and those that name one of the same areas."""
    areas = {ledger_area(one) for one in mutation.statements}
    exact = {test for one in mutation.statements for test in tests.get(one, [])}
    near = {test for one, named in tests.items() if ledger_area(one) in areas for test in named}
    return sorted(exact), sorted(near - exact)


def ledger_area(statement: str) -> tuple[str, str]:
    """The ledger's prefix and the area of a statement."""
    return statement[:3], area_of(statement)


def caught(copy: Path, mutation: Mutation, groups: Sequence[list[str]]) -> bool:
    """Whether one of the tests fails with the change made."""
    target = copy / mutation.path.relative_to(ROOT)
    before = target.read_text(encoding="utf-8")
    target.write_text(mutation.apply(before), encoding="utf-8")
    try:
        return any(_fails(copy, tests) for tests in groups if tests)
    finally:
        target.write_text(before, encoding="utf-8")


def _fails(copy: Path, tests: list[str]) -> bool:
    command = [sys.executable, "-B", "-m", "pytest", "-x", "-q", "--no-header", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(copy)}
    try:
        done = subprocess.run(
            command, cwd=copy, env=environment, capture_output=True, timeout=TEST_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return True
    if done.returncode in (0, 1):
        return done.returncode == 1
    # A change that keeps the rules from being loaded is noticed by every test; what else pytest says is our own fault.
    if b"error" in done.stdout.lower():
        return True
    raise RuntimeError(f"pytest could not run: {done.stdout.decode()[-800:]}")


def copy_tree(folder: Path) -> Path:
    """A copy of what the rule tests need."""
    copy = Path(tempfile.mkdtemp(dir=folder))
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, copy / name)
    (copy / "gen").symlink_to(ROOT / "gen")
    return copy


def chosen(sample: int, seed: int, *, everything: bool) -> list[Mutation]:
    """The changes to try: a seeded sample, a third of it parameters."""
    left_out = left_out_ids()
    core = [one for one in core_mutations() if not one.statements <= set(left_out)]
    parameters = [
        one
        for name, prefix in LEDGERS.items()
        for one in parameter_mutations(EDITIONS / f"{name}.toml", prefix)
        if not one.statements <= set(left_out)
    ]
    if everything:
        return [*core, *parameters]
    draw = random.Random(seed)
    share = min(sample // SHARE_OF_PARAMETERS, len(parameters))
    return [*draw.sample(parameters, share), *draw.sample(core, min(sample - share, len(core)))]


def run(mutations: list[Mutation], workers: int) -> list[Mutation]:
    """Tries all changes and says how each went; gives those that nobody caught."""
    tests = {
        one: [test for test in named if test.startswith("tests/rules/")]
        for one, named in tests_by_statement(ROOT / "tests").items()
    }
    survivors: list[Mutation] = []
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(workers) as pool:
        copies: SimpleQueue[Path] = SimpleQueue()
        for _ in range(workers):
            copies.put(copy_tree(Path(folder)))

        def attempt(mutation: Mutation) -> bool:
            copy = copies.get()
            try:
                return caught(copy, mutation, fitting_tests(mutation, tests))
            finally:
                copies.put(copy)

        for number, (mutation, noticed) in enumerate(zip(mutations, pool.map(attempt, mutations), strict=True), 1):
            print(
                f"[{number}/{len(mutations)}] {'caught' if noticed else 'SURVIVED'}  {mutation.describe()}", flush=True
            )
            if not noticed:
                survivors.append(mutation)
    return survivors


def main(arguments: list[str]) -> int:
    """Run the tool; returns its exit status."""
    parser = argparse.ArgumentParser(prog="mutants", description="Whether the rule tests notice changed rules.")
    parser.add_argument("--sample", type=int, default=120, help="how many changes (default 120)")
    parser.add_argument("--seed", type=int, default=1, help="which ones (default 1)")
    parser.add_argument("--workers", type=int, default=2, help="processes at once (default 2)")
    parser.add_argument("--all", action="store_true", help="every change that the tool knows")
    options = parser.parse_args(arguments)
    mutations = chosen(options.sample, options.seed, everything=options.all)
    survivors = run(mutations, options.workers)
    share = 1 - len(survivors) / len(mutations)
    for mutation in survivors:
        print(f"survived: {mutation.describe()}")
    print(json.dumps({"changes": len(mutations), "caught": len(mutations) - len(survivors), "share": round(share, 4)}))
    return 0 if share >= LEAST_CAUGHT else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
