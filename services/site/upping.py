"""`magnate up`: the whole site in this process."""

from __future__ import annotations

from collections.abc import Callable

from services.kit.server import run_services
from services.site.embedded import Settings, compose, held
from services.site.settings import SiteSettings


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
