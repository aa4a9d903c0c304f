"""`python -m tests.chaos`: the distributed site under load and faults, judged by the journals of its clients.

Tells its progress on standard error; the last line of standard output is one JSON object. The exit status is 0 when
nothing was lost, doubled or missing and every check held.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import sys
import tempfile
from pathlib import Path

from tests.chaos.run import Outcome, Wish, run_chaos
from tests.chaos.schedule import KINDS, draw
from tests.chaos.site import make_site, replicas_of

_TOLD = 40


def main() -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--faults", type=int, default=20 * len(KINDS), help="default: 20 of each kind")
    parser.add_argument("--tables", type=int, default=52, help="default: 44 with bots, 8 without")
    parser.add_argument("--acknowledged", type=int, default=50_000, help="plays on until so many commands are done")
    parser.add_argument("--lanes", type=int, default=3, help="faults that may be in force at a time")
    parser.add_argument("--kind", action="append", choices=KINDS, help="only faults of this kind; may come again")
    parser.add_argument("--defect", default="", help="plants a defect, to see the checks find it")
    parser.add_argument("--most-minutes", type=float, default=60.0, help="gives up waiting for commands after this")
    parser.add_argument("--keep", type=Path, help="folder for journals and logs of the services")
    arguments = parser.parse_args()
    folder = arguments.keep or Path(tempfile.mkdtemp(prefix="magnate-chaos-"))
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        parser.error(f"{folder} holds the journals of another run; name an empty folder")
    outcome = asyncio.run(_run(arguments, folder))
    for trouble in outcome.troubles[:_TOLD]:
        print(f"TROUBLE {trouble.sort} at table {trouble.table_id}: {trouble.what}", file=sys.stderr)
    if not outcome.troubles and not arguments.keep:
        shutil.rmtree(folder)
    else:
        print(f"journals and logs: {folder}", file=sys.stderr)
    print(json.dumps(outcome.figures))
    return 1 if outcome.troubles else 0


async def _run(arguments: argparse.Namespace, folder: Path) -> Outcome:
    site = make_site(defect=arguments.defect)
    faults = draw(arguments.seed, arguments.faults, replicas_of(site), arguments.kind or KINDS)
    wish = Wish(
        seed=arguments.seed,
        tables=arguments.tables,
        faults=faults,
        lanes=arguments.lanes,
        acknowledged=arguments.acknowledged,
        most_s=arguments.most_minutes * 60,
    )
    try:
        return await run_chaos(site, folder, wish, lambda line: print(line, file=sys.stderr, flush=True))
    finally:
        for log in site.folder.glob("*.log"):
            shutil.copy(log, folder / log.name)
        await site.close()


if __name__ == "__main__":
    sys.exit(main())
