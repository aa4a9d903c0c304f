"""`magnate up`: the whole site in this process, or one service of a distributed site."""

from __future__ import annotations

from collections.abc import Callable

import gateway.__main__
import services.bots.__main__
import services.clock.__main__
import services.rules.__main__
import services.table.__main__
from services.kit.server import run_services
from services.site.embedded import Settings, compose, held
from services.site.settings import SiteSettings

#: what runs one service, with its settings from the environment
ALONE: dict[str, Callable[[], int]] = {
    "rules": services.rules.__main__.main,
    "table": services.table.__main__.main,
    "clock": services.clock.__main__.main,
    "bots": services.bots.__main__.main,
    "gateway": gateway.__main__.main,
}


async def run_site(settings: Settings, site_settings: SiteSettings, say: Callable[[str], None]) -> int:
    """Runs everything until a signal; the exit status. Raises CommandError, ServiceError."""
    folder = site_settings.folder()
    with held(folder):
        site = await compose(settings, folder)

        def announce() -> None:
            say("Magnate is up.")
            say(f"  gRPC      {site.address}")
            say(f"  browsers  {site.web_address}")
            say(f"  data      {folder}")
            say(f"Play here: magnate play --connect {site.address}")
            say("Stop with Ctrl-C.")

        return await run_services(site.services, started=announce)
