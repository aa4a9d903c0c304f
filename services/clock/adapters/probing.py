"""Probes on their way to the gateways."""

from __future__ import annotations

import grpc
from magnate.gateway.v1 import gateway_service_pb2 as gateway_pb

from services.kit.calls import Member, Pool
from services.kit.errors import ServiceError
from services.kit.gathering import all_succeed

# So many gateways does one probe vouch for; where there are more, the next one goes through the next ones.
_MOST_WAYS = 4


class EveryGateway:
    """See `clients.GatewayClient`. People are at all gateways, so a probe goes through each of them, under an id of its
    own, for gateways hear of each other's; it is back when it is back from all. One that is known to be gone is left by
    its people, and left out here."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def Probe(
        self, request: gateway_pb.ProbeRequest, *, timeout_ms: int, metadata: dict[str, str]
    ) -> gateway_pb.ProbeResponse:
        async def ask(number: int, member: Member) -> None:
            named = gateway_pb.ProbeRequest()
            named.CopyFrom(request)
            named.probe_id = f"{request.probe_id}.{number}"

            async def probe(asked: Member, limit_ms: int) -> object:
                answer: object = await asked.client.Probe(named, timeout_ms=limit_ms, metadata=metadata)
                return answer

            await self._pool.ask(member, probe, bound_ms=timeout_ms)

        members = self._pool.ways(_MOST_WAYS)
        if not members:
            raise ServiceError(grpc.StatusCode.UNAVAILABLE, "unreachable", "no gateway is known")
        await all_succeed(*(ask(number, member) for number, member in enumerate(members)))
        return gateway_pb.ProbeResponse()
