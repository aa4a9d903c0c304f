"""Commands on their way to the table service: many on one long-lived stream, or one by one when they are traced."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Sequence
from typing import Any, Protocol

from google.rpc import status_pb2
from magnate.table.v1 import table_service_pb2 as table_pb

from services.kit.calls import Pool
from services.kit.errors import ServiceError, from_status
from services.kit.spread import SpreadCaller
from services.kit.telemetry import current_traceparent


class SubmitClient(Protocol):
    """The way in which the table service takes a single command."""

    def Submit(self, request: table_pb.SubmitRequest) -> Awaitable[table_pb.SubmitResponse]: ...


class StreamedSubmit:
    """Call it with a command: those of a table go to one replica of the table service as long as it serves. A command
    without an answer is sent again, elsewhere: its id makes that safe."""

    def __init__(self, table: SubmitClient, pool: Pool, *, timeout_ms: int) -> None:
        self._table = table
        self._caller = SpreadCaller[table_pb.SubmitRequest, table_pb.SubmitResponse](
            pool,
            open_stream=lambda client, requests: client.SubmitStream(requests),
            wrap=_wrap,
            unwrap=_unwrap,
            key_of=lambda request: request.table_id,
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
        return await self._caller.call(request)


def _wrap(items: Sequence[tuple[int, table_pb.SubmitRequest]]) -> table_pb.SubmitStreamRequest:
    wrapped = table_pb.SubmitStreamRequest()
    for call_id, request in items:
        wrapped.items.add(call_id=call_id, request=request)
    return wrapped


def _unwrap(response: Any) -> Iterable[tuple[int, table_pb.SubmitResponse | ServiceError]]:
    for item in response.items:
        if item.WhichOneof("result") == "response":
            yield item.call_id, item.response
        else:
            yield item.call_id, from_status(status_pb2.Status.FromString(item.status))
