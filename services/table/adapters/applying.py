"""Commands and probes on their way to the rules: many on one long-lived stream to each replica."""

from __future__ import annotations

import grpc
from magnate.rules.v1 import rules_service_pb2 as pb

from services.kit.calls import Pool
from services.kit.envelopes import Envelopes
from services.kit.errors import ServiceError
from services.kit.gathering import all_succeed
from services.kit.spread import SpreadCaller

# So many replicas has one probe vouch for; where there are more, the next one goes through the next ones.
_MOST_WAYS = 8

_RULES = pb.DESCRIPTOR.services_by_name["RulesService"]
APPLY_ENVELOPES = Envelopes(_RULES.methods_by_name["ApplyStream"])


class StreamedRules:
    """The `Caller` of the rules: commands of a table go to one replica as long as it serves. What the rules answer
    depends on nothing but the question, so one without an answer is asked again, elsewhere."""

    def __init__(self, pool: Pool, *, probe_ms: int) -> None:
        """`probe_ms`: how long a replica may take for a probe; less than what the callers of this service wait."""
        self._probe_ms = probe_ms
        self._caller = SpreadCaller[pb.ApplyRequest | pb.ProbeRequest, pb.ApplyResponse | pb.ProbeResponse](
            pool,
            open_stream=lambda replica, requests: replica.ApplyStream(requests),
            wrap=APPLY_ENVELOPES.ask,
            unwrap=APPLY_ENVELOPES.answered,
            key_of=_key_of,
            name="apply",
        )

    async def start(self) -> None:
        """Starts the pool."""
        await self._caller.start()

    async def close(self) -> None:
        """Ends the streams."""
        await self._caller.close()

    async def call(self, item: pb.ApplyRequest, *, timeout_ms: int | None = None) -> pb.ApplyResponse:
        """What the rules say; ServiceError when none of them does."""
        answer = await self._caller.call(item, timeout_ms=timeout_ms)
        assert isinstance(answer, pb.ApplyResponse)
        return answer

    async def probe(self) -> None:
        """Returns when every replica through which commands go has answered; ServiceError if one does not."""
        members = self._caller.ways(_MOST_WAYS)
        if not members:
            raise ServiceError(grpc.StatusCode.UNAVAILABLE, "unreachable", "no rules service is known")
        probe = pb.ProbeRequest()
        await all_succeed(*(self._caller.probe_at(member, probe, timeout_ms=self._probe_ms) for member in members))


def _key_of(asked: pb.ApplyRequest | pb.ProbeRequest) -> str:
    return asked.state.table_id if isinstance(asked, pb.ApplyRequest) else ""
