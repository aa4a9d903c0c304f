"""A probe through every replica of the table service that commands go through."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import grpc
import pytest
from magnate.gateway.v1 import gateway_service_pb2 as pb
from magnate.table.v1 import table_service_pb2 as table_pb

from gateway.application.probes import Probes
from services.kit.errors import ServiceError


class Replica:
    """One way: commits what it is asked, and has the event stream tell it, unless it is silent or lost."""

    def __init__(self) -> None:
        self.tell: Callable[[str], None] = lambda _: None
        self.asked: list[table_pb.ProbeRequest] = []
        self.refusal: ServiceError | None = None
        self.is_silent = False

    async def commit(self, request: table_pb.ProbeRequest, limit_ms: int) -> None:
        self.asked.append(request)
        if self.refusal is not None:
            raise self.refusal
        if not self.is_silent:
            asyncio.get_running_loop().call_soon(self.tell, request.probe_id)


def between(*replicas: Replica) -> Probes:
    """The probes of a gateway with these replicas behind it."""
    probes = Probes(lambda: [replica.commit for replica in replicas], timeout_ms=200)
    for replica in replicas:
        replica.tell = probes.seen
    return probes


async def test_a_probe_goes_by_every_way_under_names_of_their_own() -> None:
    """Given two replicas, when a probe comes back by both, then the site could be played: one that went to one of them
    alone would say nothing of the commands at the other."""
    replicas = Replica(), Replica()
    await between(*replicas).run(pb.ProbeRequest(probe_id="p", shard=7), timeout_ms=None)
    asked = [request for replica in replicas for request in replica.asked]
    assert asked == [
        table_pb.ProbeRequest(probe_id="p", shard=7),
        table_pb.ProbeRequest(probe_id="p+1", shard=7),
    ]


async def test_one_way_that_does_not_work_is_a_probe_lost() -> None:
    """Also where it is silent; and the next one finds nothing of it left."""
    good, bad = Replica(), Replica()
    probes = between(good, bad)
    bad.refusal = ServiceError(grpc.StatusCode.UNAVAILABLE, "stream_lost", "gone")
    with pytest.raises(ServiceError) as lost:
        await probes.run(pb.ProbeRequest(probe_id="p"), timeout_ms=None)
    assert lost.value.reason == "stream_lost"
    bad.refusal, bad.is_silent = None, True
    with pytest.raises(ServiceError) as silent:
        await probes.run(pb.ProbeRequest(probe_id="p"), timeout_ms=None)
    assert (silent.value.code, silent.value.reason) == (grpc.StatusCode.UNAVAILABLE, "unreachable")
    bad.is_silent = False
    await probes.run(pb.ProbeRequest(probe_id="p"), timeout_ms=None)


async def test_without_a_replica_there_is_no_way() -> None:
    with pytest.raises(ServiceError) as lost:
        await between().run(pb.ProbeRequest(probe_id="p"), timeout_ms=None)
    assert lost.value.reason == "unreachable"
