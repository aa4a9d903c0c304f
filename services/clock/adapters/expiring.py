"""Deadlines on their way to the table service: many on one long-lived stream to each of its replicas."""

from __future__ import annotations

import grpc
from magnate.table.v1 import table_service_pb2 as table_pb

from services.clock.adapters.clients import TableClient
from services.kit.calls import Pool
from services.kit.envelopes import Envelopes
from services.kit.errors import ServiceError
from services.kit.spread import SpreadCaller

_TABLE = table_pb.DESCRIPTOR.services_by_name["TableService"]
_ENVELOPES = Envelopes(_TABLE.methods_by_name["ExpireStream"])


class StreamedTables:
    """A client of the table service whose expiries travel together. Those of a table go to one replica as long as it
    serves; one without an answer is sent again, elsewhere: the table ends a deadline once."""

    def __init__(self, client: TableClient, pool: Pool) -> None:
        self._client = client
        self._expiries = SpreadCaller[table_pb.ExpireDeadlineRequest, table_pb.ExpireDeadlineResponse](
            pool,
            open_stream=lambda replica, requests: replica.ExpireStream(requests),
            wrap=_ENVELOPES.ask,
            unwrap=_ENVELOPES.answered,
            key_of=lambda request: request.table_id,
            name="expire",
        )

    async def ListDeadlines(
        self, request: table_pb.ListDeadlinesRequest, *, timeout_ms: int
    ) -> table_pb.ListDeadlinesResponse:
        return await self._client.ListDeadlines(request, timeout_ms=timeout_ms)

    async def ExpireDeadline(
        self, request: table_pb.ExpireDeadlineRequest, *, timeout_ms: int
    ) -> table_pb.ExpireDeadlineResponse:
        try:
            return await self._expiries.call(request, timeout_ms=timeout_ms)
        except ServiceError as error:
            if error.code is not grpc.StatusCode.UNAVAILABLE:
                raise
            # A replica of a release before knows no such stream.
            return await self._client.ExpireDeadline(request, timeout_ms=timeout_ms)

    async def close(self) -> None:
        """Ends the streams."""
        await self._expiries.close()
