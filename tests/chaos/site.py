"""The distributed site of a run: two replicas of every service, as `make play-distributed` has it."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Mapping

from services.site.cluster.process import LocalProcess
from services.site.cluster.servers import free_port
from services.site.cluster.site import SERVICES, LocalSite
from tests.chaos.watching import HEARTBEAT_MS

_SETTINGS = {
    "MAGNATE_LOG_FORMAT": "json",
    "MAGNATE_HEARTBEAT_MS": str(HEARTBEAT_MS),
    "MAGNATE_SHUTDOWN_GRACE_MS": "2000",
    # All clients of a run come from one address, and none of them thinks.
    "MAGNATE_SESSION_RATE": "0",
    "MAGNATE_ADDRESS_RATE": "0",
    "MAGNATE_LIMIT_SESSIONS_BURST": "0",
    "MAGNATE_LIMIT_TABLES_BURST": "0",
    "MAGNATE_LIMIT_SUBMITS_BURST": "0",
}


def make_site(*, defect: str = "", **changes: str) -> LocalSite:
    """A site that is not started yet, with some settings changed; with a defect planted in it if one is named."""
    site = LocalSite(
        port_of=lambda _purpose, _number: free_port(),
        replicas=dict.fromkeys(SERVICES, 2),
        settings={**_SETTINGS, **changes},
    )
    if defect:
        for name, replica in site.replicas.items():
            command = [sys.executable, "-m", "tests.chaos.defects", defect, "up", replica.service]
            site.replicas[name] = dataclasses.replace(replica, process=LocalProcess(command, replica.process.log))
    return site


def replicas_of(site: LocalSite) -> Mapping[str, int]:
    """How many there are of each service."""
    return {replica.service: len(site.of(replica.service)) for replica in site.replicas.values()}
