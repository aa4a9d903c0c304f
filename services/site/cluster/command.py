"""`magnate up --distributed`: a distributed site on this machine, whose parts come back when they end."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Mapping

from services.site.cluster.site import SERVICES, LocalSite
from services.site.cluster.supervising import keep_running

#: first port of each purpose; replica N has the Nth after it
_PORTS = {"gateway": 7400, "rules": 7410, "table": 7420, "clock": 7430, "bots": 7440, "web": 7480, "metrics": 7500}
MAX_REPLICAS = 8


async def run_distributed(environ: Mapping[str, str], replicas: int, say: Callable[[str], None]) -> int:
    """Runs until a signal; the exit status. Raises CommandError."""
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ended.set)
    counts = dict.fromkeys(SERVICES, replicas)
    settings = {name: value for name, value in environ.items() if name.startswith("MAGNATE_")}
    site = LocalSite(port_of=lambda purpose, number: _PORTS[purpose] + number, replicas=counts, settings=settings)
    starting = asyncio.create_task(site.start(say))
    stopping = asyncio.create_task(ended.wait())
    try:
        await asyncio.wait({starting, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if starting.done():
            await starting
            _announce(site, say)
            await keep_running(site, ended, say)
    finally:
        say("stopping everything")
        starting.cancel()
        stopping.cancel()
        await asyncio.gather(starting, stopping, return_exceptions=True)
        await site.close()
    return 0


def _announce(site: LocalSite, say: Callable[[str], None]) -> None:
    say("Magnate is up, distributed.")
    for gateway, web in zip(site.gateways, site.web_addresses, strict=True):
        say(f"  gRPC      {gateway}   browsers  {web}")
    for name in site.names:
        say(f"  {name:<10} pid {site.process(name).pid}")
    say(f"  Postgres  {site.settings['MAGNATE_DATABASE_URL']}")
    say(f"  Redis     {site.redis.url}")
    say(f"  logs      {site.folder}{os.sep}*.log")
    say(f"Play here: magnate play --connect {site.gateways[0]}")
    say("A part that is killed is started again. Stop with Ctrl-C; nothing is kept.")
