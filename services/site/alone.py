"""One service of a distributed site, by its name: nothing of the others is loaded into its process."""

from __future__ import annotations

import importlib

#: the module that runs each service, with its settings from the environment
ALONE = {
    "rules": "services.rules.__main__",
    "table": "services.table.__main__",
    "clock": "services.clock.__main__",
    "bots": "services.bots.__main__",
    "gateway": "gateway.__main__",
}


def run_alone(name: str) -> int:
    """Runs the service until a signal; the exit status."""
    return int(importlib.import_module(ALONE[name]).main())
