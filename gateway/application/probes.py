"""The clock's probe: the whole way of a command, up to the event at a watcher."""

from __future__ import annotations

import asyncio

from magnate.gateway.v1 import gateway_service_pb2 as gateway_pb
from magnate.table.v1 import table_service_pb2 as table_pb

from gateway.application import refusals
from gateway.application.ports import TableCalls

_MAX_OPEN = 64


class Probes:
    """Sends probes and waits for each to come back over this gateway's own subscription."""

    def __init__(self, table: TableCalls, *, timeout_ms: int) -> None:
        self._table = table
        self._timeout_ms = timeout_ms
        self._open: dict[str, asyncio.Future[None]] = {}

    async def run(self, probe: gateway_pb.ProbeRequest, *, timeout_ms: int | None) -> None:
        """Returns when the probe has come back. UNAVAILABLE unreachable when it does not come in time."""
        probe_id = probe.probe_id
        if probe_id in self._open:
            raise refusals.malformed("probe_id", "this probe is under way")
        if len(self._open) >= _MAX_OPEN:
            raise refusals.overloaded("too many probes are under way", self._timeout_ms)
        bound_ms = self._timeout_ms if timeout_ms is None else min(self._timeout_ms, timeout_ms)
        seen: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._open[probe_id] = seen
        shard = probe.shard if probe.HasField("shard") else None
        wanted = table_pb.ProbeRequest(probe_id=probe_id, shard=shard)
        try:
            async with asyncio.timeout(bound_ms / 1000):
                await self._table.Probe(wanted, timeout_ms=bound_ms)
                await seen
        except TimeoutError:
            raise refusals.unreachable("the probe did not come back") from None
        finally:
            del self._open[probe_id]

    def seen(self, probe_id: str) -> None:
        """A probe was seen on the event stream; most are other gateways'."""
        waiting = self._open.get(probe_id)
        if waiting is not None and not waiting.done():
            waiting.set_result(None)
