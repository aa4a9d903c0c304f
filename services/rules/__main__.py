"""The rules in a process of their own: `python -m services.rules`."""

import os
import sys

from services.kit.server import run, run_services
from services.kit.settings import SettingsError
from services.rules.editions.loader import EditionError
from services.rules.main import build
from services.rules.settings import RulesSettings


async def serve(settings: RulesSettings) -> int:
    """Runs the rules until a signal; returns the exit status."""
    service = build(settings, telemetry=settings.telemetry("rules"))
    return await run_services([(service, settings.port)])


def main() -> int:
    """Reads settings and editions and serves; 2 when one of them is not allowed."""
    try:
        settings = RulesSettings.load(os.environ)
        settings.configure_logs("rules")
        return run(serve(settings))
    except (SettingsError, EditionError) as error:
        print(f"magnate: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
