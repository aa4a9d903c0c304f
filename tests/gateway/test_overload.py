"""More commands than the site can do: some are refused at once with a time to wait, and nothing else happens."""

from __future__ import annotations

import asyncio
from collections import Counter

import grpc
from magnate.game.v1 import command_pb2
from magnate.gateway.v1 import gateway_service_pb2 as pb

from services.kit.errors import ServiceError
from tests.support.gateways import Client, running_site


async def _insist(client: Client, table_id: str, number: int, refused: Counter[str]) -> tuple[int, int]:
    request = pb.SubmitRequest(
        table_id=table_id, command=command_pb2.Command(command_id=f"o{number}", roll=command_pb2.Roll())
    )
    while True:
        try:
            done = await client.call("Submit", request)
        except ServiceError as error:
            if error.code is not grpc.StatusCode.RESOURCE_EXHAUSTED or not 50 <= (error.retry_after_ms or 0) <= 7_500:
                raise
            refused[error.reason] += 1
            await asyncio.sleep(0.01)
        else:
            assert not done.repeated
            return done.first_seq, done.last_seq


async def test_an_overload_is_refused_with_a_delay_and_without_effect() -> None:
    """With a target that nothing meets: of many at once most are refused. Sent again each is done once, none was done
    when it was refused, and calls that are no commands are answered."""
    async with running_site(submit_target_ms=1) as site:
        ada = await site.client()
        table_id = await site.started_table(ada)
        site.table.pause_s = 0.02
        refused: Counter[str] = Counter()
        numbers: list[tuple[int, int]] = []
        async with asyncio.timeout(60):
            while refused["overloaded"] < 100:
                wave = range(len(numbers), len(numbers) + 40)
                numbers += await asyncio.gather(*(_insist(ada, table_id, number, refused) for number in wave))
        await ada.call("SyncTime", pb.SyncTimeRequest())
        held = site.table.held(table_id)
    assert len(set(numbers)) == len(numbers)
    assert sorted(numbers) == sorted(held.seqs[1:])
