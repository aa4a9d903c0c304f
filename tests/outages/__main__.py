"""Outages of real processes under live games: `python -m tests.outages [--seed N] [--only PARTS]`.

Prints how it goes, a table with a row for each fault, and as the last line one JSON object; writes the table into
docs/outages.md. Exit status 1 when a player lost something.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
import time
from dataclasses import replace
from pathlib import Path

from services.site.cluster.site import SERVICES
from tests.outages.faults import LONG_S, NOTHING, plan, shares
from tests.outages.judging import Row
from tests.outages.session import REST_S, Outcome, Plan, outages

PAGE = Path(__file__).parents[2] / "docs" / "outages.md"
_SITES = 2
_BEGIN, _END = "<!-- outages: begin -->", "<!-- outages: end -->"
_HEAD = (
    "| part | what | seconds | unplayable, ms | counted in it, ms | runs again after, ms | deadlines | lost, ms "
    "| over-credit, ms | answers refused | not once |"
)


def main(arguments: list[str]) -> int:
    """Runs all faults; the exit status."""
    parser = argparse.ArgumentParser(prog="outages", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=1, help="draws lengths and order of the faults")
    parser.add_argument("--only", default="", help="only faults of parts whose names begin so; several with commas")
    parser.add_argument("--longest", type=float, default=LONG_S[1], help="no fault lasts longer, in seconds")
    parser.add_argument("--sites", type=int, default=_SITES, help="so many sites side by side")
    options = parser.parse_args(arguments)
    faults = [
        replace(fault, seconds=min(fault.seconds, options.longest))
        for fault in plan(options.seed, [f"{service}-1" for service in SERVICES])
        if fault.part.startswith((NOTHING, *options.only.split(",")))
    ]
    began_s = time.monotonic()
    found = asyncio.run(
        _side_by_side([Plan(faults=share) for share in shares(faults, options.sites, REST_S, options.seed) if share])
    )
    rows = sorted((row for outcome in found for row in outcome.rows), key=_order)
    table = "\n".join([_HEAD, "|---|---|" + "---:|" * 9, *(_line(row) for row in rows)])
    print(table)
    if not options.only:
        text = PAGE.read_text(encoding="utf-8")
        between = re.compile(f"{_BEGIN}.*{_END}", re.DOTALL)
        PAGE.write_text(between.sub(f"{_BEGIN}\n{table}\n{_END}", text), encoding="utf-8")
    for outcome in found:
        for what in (*outcome.refused, *outcome.forgotten):
            print(what)
    summary = _summary(rows, found, round(time.monotonic() - began_s))
    print(json.dumps(summary))
    return 0 if summary["fair"] else 1


async def _side_by_side(plans: list[Plan]) -> list[Outcome]:
    began_s = time.monotonic()

    async def one(number: int, one_plan: Plan) -> Outcome:
        def say(what: str) -> None:
            print(f"{time.monotonic() - began_s:6.0f} s  site {number + 1}  {what}", flush=True)

        return await outages(one_plan, say)

    return await asyncio.gather(*(one(number, one_plan) for number, one_plan in enumerate(plans)))


def _summary(rows: list[Row], found: list[Outcome], seconds: int) -> dict[str, object]:
    forgotten = sum(len(outcome.forgotten) for outcome in found)
    return {
        "faults": len(rows),
        "deadlines": sum(outcome.deadlines for outcome in found),
        "late_answers": sum(outcome.answered for outcome in found),
        "lost_ms_max": max((row.lost_ms for row in rows), default=0),
        "over_credit_ms_max": max((row.over_credit_ms for row in rows), default=0),
        "answers_refused": sum(len(outcome.refused) for outcome in found),
        "not_once": sum(row.not_once for row in rows),
        "forgotten": forgotten,
        "seconds": seconds,
        "fair": not forgotten and all(row.is_fair for row in rows),
        "rows": [row.as_json() for row in rows],
    }


def _order(row: Row) -> tuple[str, str, float]:
    return row.part, row.action, row.seconds


def _line(row: Row) -> str:
    values = row.as_json()
    return "| " + " | ".join(f"{value:,}" if isinstance(value, int) else str(value) for value in values.values()) + " |"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
