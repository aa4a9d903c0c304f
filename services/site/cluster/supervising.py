"""Starts again what has ended by itself."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from services.site.cluster.site import LocalSite
from services.site.errors import CommandError

_LOOK_S = 0.2
_PAUSE_S = 1.0


async def keep_running(site: LocalSite, ended: asyncio.Event, say: Callable[[str], None]) -> None:
    """Looks after all parts until `ended` is set."""
    restarts: dict[str, asyncio.Task[None]] = {}
    while not ended.is_set():
        for name in site.names:
            running = restarts.get(name)
            if not site.process(name).is_alive and (running is None or running.done()):
                restarts[name] = asyncio.create_task(_restart(site, name, say))
        with suppress(TimeoutError):
            await asyncio.wait_for(ended.wait(), _LOOK_S)
    for task in restarts.values():
        task.cancel()
    await asyncio.gather(*restarts.values(), return_exceptions=True)


async def _restart(site: LocalSite, name: str, say: Callable[[str], None]) -> None:
    say(f"{name} has ended (status {site.process(name).status}); starting it again")
    await asyncio.sleep(_PAUSE_S)
    site.launch(name)
    try:
        await site.ready(name)
    except CommandError as error:
        say(str(error))
    else:
        say(f"{name} is ready again, pid {site.process(name).pid}")
