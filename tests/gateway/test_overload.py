"""More commands than the site can do: some are refused at once with a time to wait, and nothing else happens."""

from __future__ import annotations

import asyncio
from collections import Counter
from statistics import mean

import grpc
from magnate.game.v1 import command_pb2
from magnate.gateway.v1 import gateway_service_pb2 as pb

from services.kit.admission import Admission
from services.kit.errors import ServiceError
from tests.support.gateways import Client, running_site


def _second(admission: Admission, start_s: float, *, took_s: float, offered: int) -> tuple[int, list[int]]:
    """One second in which so many want in every 10 ms and each takes so long: how many got in, and the waits."""
    leaving: list[float] = []
    entered, waits = 0, []
    for step in range(100):
        now_s = start_s + step / 100
        for ends_s in [ends_s for ends_s in leaving if ends_s <= now_s]:
            leaving.remove(ends_s)
            admission.leave(now_s, took_s)
        for _ in range(offered):
            wait_ms = admission.enter(now_s)
            if wait_ms:
                waits.append(wait_ms)
            else:
                entered += 1
                leaving.append(now_s + took_s)
    for _ in leaving:
        admission.leave(start_s + 1, took_s)
    return entered, waits


def test_quick_answers_admit_all() -> None:
    admission = Admission(target_ms=100)
    assert _second(admission, 0, took_s=0.05, offered=20) == (2_000, [])


def test_slow_answers_lower_the_bound_to_its_least_and_quick_ones_raise_it() -> None:
    """Refused are told to wait, the longer the more of them there are, and not all equally long."""
    admission = Admission(target_ms=100, least=8)
    _second(admission, 0, took_s=0.3, offered=3)
    entered, waits = _second(admission, 1, took_s=0.3, offered=3)
    assert admission.limit < 40
    _second(admission, 2, took_s=0.3, offered=3)
    entered, waits = _second(admission, 3, took_s=0.3, offered=3)
    assert admission.limit == 8
    assert entered + len(waits) == 300
    assert min(waits) >= 125
    assert len(set(waits[-16:])) == 16
    assert mean(_second(admission, 4, took_s=0.3, offered=40)[1]) > mean(waits)
    for second in range(5, 25):
        entered, waits = _second(admission, second, took_s=0.05, offered=20)
    assert (entered, waits) == (2_000, [])


def test_one_slow_answer_among_many_is_no_queue() -> None:
    admission = Admission(target_ms=100)
    for number in range(1_000):
        assert admission.enter(number / 100) == 0
        admission.leave(number / 100, 0.5 if number % 20 == 0 else 0.01)
    assert admission.limit == 1_000


def test_a_target_of_nought_admits_all() -> None:
    admission = Admission(target_ms=0)
    assert _second(admission, 0, took_s=0.9, offered=50) == (5_000, [])


async def _insist(client: Client, table_id: str, number: int, refused: Counter[str]) -> tuple[int, int]:
    request = pb.SubmitRequest(
        table_id=table_id, command=command_pb2.Command(command_id=f"o{number}", roll=command_pb2.Roll())
    )
    while True:
        try:
            done = await client.call("Submit", request)
        except ServiceError as error:
            if error.code is not grpc.StatusCode.RESOURCE_EXHAUSTED or not 125 <= (error.retry_after_ms or 0) <= 7_500:
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
