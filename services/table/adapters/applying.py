"""Commands and probes on their way to the rules: many on one long-lived stream to each replica."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any

import grpc
from google.rpc import status_pb2
from magnate.rules.v1 import rules_service_pb2 as pb

from services.kit.calls import Member, Pool
from services.kit.errors import ServiceError, from_status
from services.kit.spread import SpreadCaller

# So many replicas has one probe vouch for; where there are more, the next one goes through the next ones.
_MOST_WAYS = 8

Asked = pb.ApplyRequest | pb.ProbeRequest
Answer = pb.ApplyResponse | pb.ProbeResponse


class StreamedRules:
    """The `Caller` of the rules: commands of a table go to one replica as long as it serves. What the rules answer
    depends on nothing but the question, so one without an answer is asked again, elsewhere."""

    def __init__(self, pool: Pool, *, probe_ms: int) -> None:
        """`probe_ms`: how long a replica may take for a probe; less than what the callers of this service wait."""
        self._probe_ms = probe_ms
        self._caller = SpreadCaller[Asked, Answer](
            pool,
            open_stream=lambda replica, requests: replica.ApplyStream(requests),
            wrap=wrap,
            unwrap=unwrap,
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
        answers = await asyncio.gather(*map(self._probe, members), return_exceptions=True)
        for error in answers:
            if isinstance(error, BaseException):
                raise error

    async def _probe(self, member: Member) -> None:
        try:
            await self._caller.call_at(member, pb.ProbeRequest(), timeout_ms=self._probe_ms)
        except ServiceError as error:
            if error.code is not grpc.StatusCode.INVALID_ARGUMENT:
                raise
            # A replica of a release before knows no such item.
            await member.client.Probe(pb.ProbeRequest(), timeout_ms=self._probe_ms)


def _key_of(asked: Asked) -> str:
    return asked.state.table_id if isinstance(asked, pb.ApplyRequest) else ""


def wrap(items: Sequence[tuple[int, Asked]]) -> pb.ApplyStreamRequest:
    wrapped = pb.ApplyStreamRequest()
    for call_id, asked in items:
        if isinstance(asked, pb.ProbeRequest):
            wrapped.items.add(call_id=call_id, probe=asked)
        else:
            wrapped.items.add(call_id=call_id, request=asked)
    return wrapped


def unwrap(response: Any) -> Iterable[tuple[int, Answer | ServiceError]]:
    for item in response.items:
        kind = item.WhichOneof("result")
        if kind == "status":
            yield item.call_id, from_status(status_pb2.Status.FromString(item.status))
        elif kind == "probe":
            yield item.call_id, item.probe
        else:
            yield item.call_id, item.response
