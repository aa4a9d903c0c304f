"""Commands and probes on their way to the table service: many on one long-lived stream; traced commands one by one."""

from __future__ import annotations

from collections.abc import Awaitable
from functools import partial
from typing import Protocol

from magnate.table.v1 import table_service_pb2 as table_pb

from gateway.application.ports import ProbeCall
from services.kit.calls import Member, Pool
from services.kit.envelopes import Envelopes
from services.kit.spread import SpreadCaller
from services.kit.telemetry import current_traceparent

# So many replicas has one probe vouch for; where there are more, the next one goes through the next ones.
_MOST_WAYS = 8

_TABLE = table_pb.DESCRIPTOR.services_by_name["TableService"]
_ENVELOPES = Envelopes(_TABLE.methods_by_name["SubmitStream"])


class SubmitClient(Protocol):
    """The way in which the table service takes a single command."""

    def Submit(self, request: table_pb.SubmitRequest) -> Awaitable[table_pb.SubmitResponse]: ...


class StreamedSubmit:
    """Call it with a command: those of a table go to one replica of the table service as long as it serves. A command
    without an answer is sent again, elsewhere: its id makes that safe. A probe takes the same streams; it measures what
    is, and is not sent again."""

    def __init__(self, table: SubmitClient, pool: Pool, *, timeout_ms: int) -> None:
        self._table = table
        self._caller = SpreadCaller[
            table_pb.SubmitRequest | table_pb.ProbeRequest, table_pb.SubmitResponse | table_pb.ProbeResponse
        ](
            pool,
            open_stream=lambda client, requests: client.SubmitStream(requests),
            wrap=_ENVELOPES.ask,
            unwrap=_ENVELOPES.answered,
            key_of=_key_of,
            name="submit",
            timeout_ms=timeout_ms,
        )

    async def close(self) -> None:
        """Ends the streams."""
        await self._caller.close()

    async def __call__(self, request: table_pb.SubmitRequest) -> table_pb.SubmitResponse:
        """The answer; ServiceError when there is none."""
        if current_traceparent():
            return await self._table.Submit(request)
        answer = await self._caller.call(request)
        assert isinstance(answer, table_pb.SubmitResponse)
        return answer

    def probe_ways(self) -> list[ProbeCall]:
        """See `ports.ProbeWays`."""
        return [partial(self._probe, member) for member in self._caller.ways(_MOST_WAYS)]

    async def _probe(self, member: Member, request: table_pb.ProbeRequest, limit_ms: int) -> None:
        await self._caller.probe_at(member, request, timeout_ms=limit_ms)


def _key_of(asked: table_pb.SubmitRequest | table_pb.ProbeRequest) -> str:
    return asked.table_id if isinstance(asked, table_pb.SubmitRequest) else ""
