"""The clock's probes through every gateway that people are at, over the network."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import grpc
import pytest
from magnate.gateway.v1 import gateway_service_pb2 as pb

from gateway.settings import GatewaySettings
from services.clock.adapters.probing import EveryGateway
from services.kit.calls import Call, Pool, RemoteReplicas, bearer, open_channel
from services.kit.errors import ServiceError
from services.kit.server import Service
from tests.support.servers import free_port

GATEWAY = pb.DESCRIPTOR.services_by_name["GatewayService"]
TOKEN = "probes"


class Edge:
    """A gateway that answers probes and nothing else; it may hang."""

    def __init__(self) -> None:
        self.probes: list[str] = []
        self.hangs = False

    async def Probe(self, request: pb.ProbeRequest, call: Call) -> pb.ProbeResponse:
        self.probes.append(request.probe_id)
        if self.hangs:
            await asyncio.sleep(10)
        return pb.ProbeResponse()

    def __getattr__(self, name: str) -> Callable[..., object]:
        if not name[0].isupper():
            raise AttributeError(name)
        return lambda request, call: None


class Edges:
    """Two gateways, and the clock's way to them."""

    def __init__(self) -> None:
        self.edges = [Edge(), Edge()]
        self.ports = [free_port(), free_port()]
        settings = GatewaySettings(clock_token=TOKEN, shutdown_grace_ms=20)
        self.services = [Service("gateway", settings) for _ in self.ports]
        for service, edge in zip(self.services, self.edges, strict=True):
            service.add_handler(GATEWAY, edge)
        addresses = ",".join(f"127.0.0.1:{port}" for port in self.ports)
        replicas = RemoteReplicas(GATEWAY, addresses, connect=lambda address: open_channel(str(address)))
        self.pool = Pool(replicas, what="gateway")

    async def serving(self, count: int) -> None:
        """Returns when the clock knows so many of them to serve."""
        async with asyncio.timeout(20):
            while sum(member.serves for member in self.pool.members.values()) != count:
                await asyncio.sleep(0.01)

    async def probe(self, name: str) -> None:
        """One probe of the clock."""
        await EveryGateway(self.pool).Probe(pb.ProbeRequest(probe_id=name), timeout_ms=300, metadata=bearer(TOKEN))


@pytest.fixture
async def site() -> AsyncIterator[Edges]:
    edges = Edges()
    for service, port in zip(edges.services, edges.ports, strict=True):
        await service.start(port)
    await edges.pool.start()
    await edges.serving(2)
    yield edges
    await edges.pool.close()
    for service in edges.services:
        await service.stop()


async def test_a_probe_goes_through_every_gateway(site: Edges) -> None:
    """Given people at two gateways, when a probe leaves, then it passes both, under an id for each."""
    await site.probe("c-1")
    assert sorted(name for edge in site.edges for name in edge.probes) == ["c-1.0", "c-1.1"]
    assert {len(edge.probes) for edge in site.edges} == {1}


async def test_a_gateway_that_hangs_is_a_probe_lost_and_is_then_left_out(site: Edges) -> None:
    """Time stands still for as long as people may not have noticed; then they are at the other one."""
    site.edges[0].hangs = True
    with pytest.raises(ServiceError) as lost:
        await site.probe("c-1")
    assert lost.value.code is grpc.StatusCode.DEADLINE_EXCEEDED
    await site.probe("c-2")
    assert [len(edge.probes) for edge in site.edges] == [1, 2]


async def test_a_gateway_that_is_gone_is_left_out_at_once(site: Edges) -> None:
    stopping: Any = site.services[0]._servers[0]
    await stopping.stop(None)
    await site.serving(1)
    await site.probe("c-1")
    assert [len(edge.probes) for edge in site.edges] == [0, 1]
    await site.services[1]._servers[0].stop(None)
    await site.serving(0)
    with pytest.raises(ServiceError) as lost:
        await site.probe("c-2")
    assert lost.value.code is grpc.StatusCode.UNAVAILABLE
