"""Commands on their way to the table service: many on one long-lived stream, or one by one when they are traced."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Iterable, Sequence
from typing import Any, Protocol

import grpc
from google.rpc import status_pb2
from magnate.table.v1 import table_service_pb2 as table_pb

from services.kit.batches import BatchCaller
from services.kit.calls import Stream
from services.kit.errors import ServiceError, from_status
from services.kit.telemetry import current_traceparent

Caller = BatchCaller[table_pb.SubmitRequest, table_pb.SubmitResponse]


class SubmitClient(Protocol):
    """The two ways in which the table service takes commands."""

    def Submit(self, request: table_pb.SubmitRequest) -> Awaitable[table_pb.SubmitResponse]: ...

    def SubmitStream(self, requests: AsyncIterator[table_pb.SubmitStreamRequest]) -> Stream: ...


class StreamedSubmit:
    """Call it with a command. Several streams go to several replicas of the table service."""

    def __init__(self, table: SubmitClient, *, streams: int, timeout_ms: int) -> None:
        self._table = table
        self._callers: list[Caller] = [
            BatchCaller(
                open_stream=table.SubmitStream,
                wrap=_wrap,
                unwrap=_unwrap,
                name="submit",
                timeout_ms=timeout_ms,
            )
            for _ in range(streams)
        ]
        self._next = 0

    async def start(self) -> None:
        """Begins to keep the streams open."""
        for caller in self._callers:
            await caller.start()

    async def close(self) -> None:
        """Ends the streams."""
        for caller in self._callers:
            await caller.close()

    async def __call__(self, request: table_pb.SubmitRequest) -> table_pb.SubmitResponse:
        """The answer. A command whose stream broke is sent once more: its id makes that safe."""
        if current_traceparent():
            return await self._table.Submit(request)
        try:
            return await self._caller().call(request)
        except ServiceError as error:
            if error.code is not grpc.StatusCode.UNAVAILABLE:
                raise
        return await self._caller().call(request)

    def _caller(self) -> Caller:
        self._next = (self._next + 1) % len(self._callers)
        return self._callers[self._next]


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
