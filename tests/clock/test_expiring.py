"""Due deadlines on their way to the table service."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc
from magnate.table.v1 import table_service_pb2 as pb

from services.clock.__main__ import TABLE
from services.clock.adapters.expiring import StreamedTables
from services.kit.batches import serve_batches
from services.kit.calls import Call, PoolClient, bearer, open_pool
from services.kit.errors import ServiceError
from services.kit.server import Service
from services.kit.telemetry import Telemetry
from services.table.adapters.handler import EXPIRIES
from tests.bench.around_clock import CLOCK_TOKEN, Settings
from tests.bench.hollow import Hollow


class Tables(Hollow):
    """Ends every deadline but number 7; `messages` counts what came over the stream."""

    def __init__(self, *, has_stream: bool = True) -> None:
        self._has_stream = has_stream
        self.messages = 0
        self.one_by_one = 0

    async def ExpireDeadline(self, request: pb.ExpireDeadlineRequest, call: Call) -> pb.ExpireDeadlineResponse:
        self.one_by_one += 1
        return await self._end(request)

    async def ExpireStream(
        self, requests: AsyncIterator[pb.ExpireStreamRequest], call: Call
    ) -> AsyncIterator[pb.ExpireStreamResponse]:
        if not self._has_stream:
            raise ServiceError(grpc.StatusCode.UNIMPLEMENTED, "unknown_method", "of a later release")
        counted = self._counted(requests)
        async for answer in serve_batches(counted, items=EXPIRIES.asked, handle=self._end, wrap=EXPIRIES.answer):
            yield answer

    async def _counted(self, requests: AsyncIterator[Any]) -> AsyncIterator[Any]:
        async for request in requests:
            self.messages += 1
            yield request

    async def _end(self, request: pb.ExpireDeadlineRequest) -> pb.ExpireDeadlineResponse:
        if request.deadline_id == 7:
            raise ServiceError(grpc.StatusCode.FAILED_PRECONDITION, "stale_deadline", "it is closed")
        return pb.ExpireDeadlineResponse(last_seq=request.deadline_id + 1)


async def _asking(tables: Tables, deadline_ids: list[int]) -> list[Any]:
    """The answers, or the failures, for these deadlines, all asked at once."""
    service = Service("table", Settings())
    service.add_handler(TABLE, tables)
    await service.start(0)
    pool = open_pool(
        TABLE,
        f"127.0.0.1:{service.port}",
        service="table",
        tls=None,
        attempt_ms=1_000,
        telemetry=Telemetry.off(),
        shows=bearer(CLOCK_TOKEN),
    )
    await pool.start()
    one_by_one: Any = PoolClient(TABLE, pool, repeatable=("ExpireDeadline",))
    client = StreamedTables(one_by_one, pool)
    try:
        return await asyncio.gather(
            *(
                client.ExpireDeadline(pb.ExpireDeadlineRequest(table_id="t", deadline_id=number), timeout_ms=5_000)
                for number in deadline_ids
            ),
            return_exceptions=True,
        )
    finally:
        await client.close()
        await pool.close()
        await service.stop()


async def test_deadlines_due_together_travel_together_and_each_has_its_answer() -> None:
    tables = Tables()
    answers = await _asking(tables, list(range(1, 51)))
    assert isinstance(answers[6], ServiceError)
    assert answers[6].reason == "stale_deadline"
    assert [answer.last_seq for answer in answers if not isinstance(answer, ServiceError)] == [
        number + 1 for number in range(1, 51) if number != 7
    ]
    assert tables.one_by_one == 0
    assert tables.messages < 25


async def test_a_table_service_of_the_release_before_is_told_one_by_one() -> None:
    tables = Tables(has_stream=False)
    [answer] = await _asking(tables, [3])
    assert answer.last_seq == 4
    assert tables.one_by_one == 1
