"""The clock's probe: the whole way of a command, up to the event at a watcher."""

from __future__ import annotations

import asyncio

from magnate.gateway.v1 import gateway_service_pb2 as gateway_pb
from magnate.table.v1 import table_service_pb2 as table_pb

from gateway.application import refusals
from gateway.application.ports import ProbeCall, ProbeWays
from services.kit.gathering import all_succeed

_MAX_OPEN = 256
# A part that is silent is to be blamed by who called it, not by who called that one: who is further out waits longer.
_SHARE = 0.95
_TABLE_SHARE = 0.85


class Probes:
    """Sends probes and waits for each to come back over this gateway's own subscription.

    A command goes through one replica of the table service, the next one through another. A probe vouches for all of
    them, so it goes through each, under ids of its own.
    """

    def __init__(self, ways: ProbeWays, *, timeout_ms: int) -> None:
        self._ways = ways
        self._timeout_ms = timeout_ms
        self._open: dict[str, asyncio.Future[None]] = {}

    async def run(self, probe: gateway_pb.ProbeRequest, *, timeout_ms: int | None) -> None:
        """Returns when the probe has come back by every way. ServiceError when it does not by one of them:
        UNAVAILABLE unreachable, if it does not in time."""
        if probe.probe_id in self._open:
            raise refusals.malformed("probe_id", "this probe is under way")
        ways = self._ways()
        if not ways:
            raise refusals.unreachable("no table service is known")
        if len(self._open) + len(ways) > _MAX_OPEN:
            raise refusals.overloaded("too many probes are under way", self._timeout_ms)
        bound_ms = self._timeout_ms if timeout_ms is None else min(self._timeout_ms, timeout_ms)
        shard = probe.shard if probe.HasField("shard") else None
        names = [probe.probe_id, *(f"{probe.probe_id}+{number}" for number in range(1, len(ways)))]
        requests = [table_pb.ProbeRequest(probe_id=name, shard=shard) for name in names]
        await all_succeed(*(self._through(way, request, bound_ms) for way, request in zip(ways, requests, strict=True)))

    async def _through(self, way: ProbeCall, request: table_pb.ProbeRequest, bound_ms: int) -> None:
        seen: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._open[request.probe_id] = seen
        try:
            async with asyncio.timeout(bound_ms * _SHARE / 1000):
                await way(request, int(bound_ms * _TABLE_SHARE))
                await seen
        except TimeoutError:
            raise refusals.unreachable("the probe did not come back") from None
        finally:
            del self._open[request.probe_id]

    def seen(self, probe_id: str) -> None:
        """A probe was seen on the event stream; most are other gateways'."""
        waiting = self._open.get(probe_id)
        if waiting is not None and not waiting.done():
            waiting.set_result(None)
