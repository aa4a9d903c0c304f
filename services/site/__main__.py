"""The program `magnate`: `python -m services.site`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

# gRPC's handlers run in each child between fork and exec; no child of ours goes on without an exec.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")

from services.site.alone import ALONE, run_alone
from services.site.variables import unknown_variables


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command; returns the exit status."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    unknown = unknown_variables(os.environ)
    if unknown:
        print(f"magnate: {unknown}; see: magnate settings", file=sys.stderr)
    if len(given) == 2 and given[0] == "up" and given[1] in ALONE:
        return run_alone(given[1])
    # A service on its own has no use for all of this: half of its memory, and of the time to its start.
    from services.site.program import main as run_program  # noqa: PLC0415

    return run_program(given)


if __name__ == "__main__":
    sys.exit(main())
