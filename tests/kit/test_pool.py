"""Calls to a service with replicas: where they go, and what becomes of them when a replica dies, hangs or drains."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import pytest

from services.kit.batches import serve_batches
from services.kit.calls import Call, Pool, PoolClient, RemoteReplicas, Stream, TlsFiles, open_channel
from services.kit.errors import ServiceError
from services.kit.server import Service, ServiceSettings
from services.kit.spread import SpreadCaller
from tests.support.certificates import Authority
from tests.support.echo import ECHO, EchoRequest, EchoResponse
from tests.support.servers import free_port

SETTINGS = ServiceSettings(shutdown_grace_ms=2_000)


class Answerer:
    """Answers with its own number; while `holds` is set it begins and does not end, while it `is_broken` it does not
    answer, and wishes to be left alone for `wish_ms`."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.holds = False
        self.is_broken = False
        self.wish_ms = 0
        self.begun = asyncio.Event()
        self.go_on = asyncio.Event()

    async def _answer(self, text: str) -> str:
        if text == "refused":
            raise ServiceError(grpc.StatusCode.FAILED_PRECONDITION, "refused", "no")
        if self.is_broken:
            self.begun.set()
            raise ServiceError(grpc.StatusCode.UNAVAILABLE, "unreachable", "broken", retry_after_ms=self.wish_ms)
        if self.holds:
            self.begun.set()
            await self.go_on.wait()
        return f"{self.number}"

    async def Once(self, request: Any, call: Call) -> Any:
        return EchoResponse(text=await self._answer(request.text))

    async def Talk(self, requests: AsyncIterator[Any], call: Call) -> AsyncIterator[Any]:
        async for response in serve_batches(requests, items=_items, handle=self._answer, wrap=_wrap_results):
            yield response

    async def Many(self, request: Any, call: Call) -> AsyncIterator[Any]:
        yield EchoResponse(text=f"{self.number}")

    Join = Once


def _items(request: Any) -> Iterable[tuple[int, str]]:
    for part in request.text.split(";"):
        number, text = part.split(",")
        yield int(number), text


def _wrap_results(results: Sequence[tuple[int, str | ServiceError]]) -> Any:
    return EchoResponse(text=";".join(f"{number},{result}" for number, result in results))


def _wrap_items(items: Sequence[tuple[int, str]]) -> Any:
    return EchoRequest(text=";".join(f"{number},{text}" for number, text in items))


def _unwrap(response: Any) -> Iterable[tuple[int, str | ServiceError]]:
    for part in response.text.split(";"):
        number, answer = part.split(",")
        yield int(number), answer


class NotedReplicas(RemoteReplicas):
    """Finds none of those that are `away`, and notes which connections are made and closed."""

    def __init__(self, addresses: str, tls: TlsFiles | None) -> None:
        super().__init__(ECHO, addresses, connect=lambda address: open_channel(str(address), tls=tls, service="echo"))
        self.away: set[str] = set()
        self.tried: list[str] = []
        self.forgotten: list[str] = []
        self.unwatchable: list[Exception] = []

    async def find(self) -> Collection[str]:
        return [name for name in await super().find() if name not in self.away]

    def client(self, name: str) -> Any:
        self.tried.append(name)
        return super().client(name)

    def serving(self, name: str) -> Stream:
        if self.unwatchable:
            raise self.unwatchable.pop()
        return super().serving(name)

    async def forget(self, name: str) -> None:
        await super().forget(name)
        self.forgotten.append(name)


class Replicated:
    """Two replicas on ports of their own, and the ways to call them."""

    def __init__(self, tls: TlsFiles | None = None, *, attempt_ms: int = 300) -> None:
        self.ports = [free_port(), free_port()]
        self.names = [f"127.0.0.1:{port}" for port in self.ports]
        self.answerers = [Answerer(0), Answerer(1)]
        self.services: list[Service | None] = [None, None]
        self.settings = SETTINGS
        if tls is not None:
            self.settings = replace(
                SETTINGS, tls_certificate=tls.certificate, tls_key=tls.key, tls_authorities=tls.authorities
            )
        self.streams_opened = 0
        self.replicas = NotedReplicas(",".join(self.names), tls)
        self.pool = Pool(self.replicas, what="echo", attempt_ms=attempt_ms)
        self.safe: Any = PoolClient(ECHO, self.pool, repeatable=("Once",))
        self.unsafe: Any = PoolClient(ECHO, self.pool)
        self.spread = SpreadCaller[str, str](
            self.pool,
            open_stream=self._open_stream,
            wrap=_wrap_items,
            unwrap=_unwrap,
            key_of=lambda text: text,
            name="talk",
        )

    def _open_stream(self, client: Any, requests: AsyncIterator[Any]) -> Any:
        self.streams_opened += 1
        return client.Talk(requests)

    async def start(self, number: int) -> None:
        service = self.services[number] = Service("echo", self.settings)
        service.add_handler(ECHO, self.answerers[number])
        await service.start(self.ports[number])

    async def open(self, *numbers: int) -> None:
        """Starts these replicas and the pool; returns when it knows them to serve."""
        for number in numbers:
            await self.start(number)
        await self.pool.start()
        await self.serving(*numbers)

    async def serving(self, *numbers: int) -> None:
        """Returns when the pool knows these replicas to serve, and no others."""
        wanted = {self.names[number] for number in numbers}
        async with asyncio.timeout(20):
            while {member.name for member in self.pool.members.values() if member.serves} != wanted:
                await asyncio.sleep(0.01)

    async def say(self, number: int, *, ready: bool) -> None:
        """Has a replica say of itself that it serves, or does not; returns when the pool has heard it."""
        service = self.services[number]
        assert service is not None
        await service._report(ready=ready)
        async with asyncio.timeout(20):
            while self.pool.members[self.names[number]].serves != ready:
                await asyncio.sleep(0.01)

    async def probe(self, number: int) -> int:
        """What a replica answers to one who measures."""
        member = self.pool.members[self.names[number]]
        return await self.pool.ask(member, lambda asked, ms: _once(asked.client, timeout_ms=ms), bound_ms=5_000)

    async def crash(self, number: int) -> None:
        """Closes its connections at once."""
        service = self.services[number]
        assert service is not None
        await service._servers[0].stop(None)

    async def close(self) -> None:
        await self.spread.close()
        await self.pool.close()
        for answerer in self.answerers:
            answerer.go_on.set()
        for service in self.services:
            if service is not None:
                await service.stop()


@pytest.fixture
async def site() -> AsyncIterator[Replicated]:
    replicated = Replicated()
    await replicated.open(0, 1)
    yield replicated
    await replicated.close()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replicas are looked for all the time, and let go soon after they have left."""
    monkeypatch.setattr("services.kit.calls.pool._LOOK_S", 0.05)
    monkeypatch.setattr("services.kit.calls.pool._RETIRE_S", 0.2)


async def _once(client: Any, text: str = "x", **how: Any) -> int:
    return int((await client.Once(EchoRequest(text=text), **how)).text)


async def test_calls_go_to_all_and_those_of_one_key_to_one(site: Replicated) -> None:
    busy = await asyncio.gather(*(_once(site.safe) for _ in range(40)))
    assert min(Counter(busy).values()) >= 10
    homes = {key: await site.spread.call(key) for key in "abcdefghijklmnop"}
    assert set(homes.values()) == {"0", "1"}
    assert {key: await site.spread.call(key) for key in homes} == homes


async def test_a_refusal_is_an_answer(site: Replicated) -> None:
    """It is not asked again anywhere."""
    with pytest.raises(ServiceError) as refused:
        await _once(site.safe, "refused")
    assert refused.value.reason == "refused"


async def test_a_replica_that_dies_costs_a_repeat(site: Replicated) -> None:
    """What was begun there is done at the other one, if it may be done twice; else the caller hears of it."""
    for answerer in site.answerers:
        answerer.holds = True
    calls = [asyncio.create_task(_once(site.safe, timeout_ms=10_000)) for _ in range(2)]
    unsafe = [asyncio.create_task(_once(site.unsafe, timeout_ms=10_000)) for _ in range(2)]
    for answerer in site.answerers:
        await answerer.begun.wait()
    site.answerers[1].holds = False
    site.answerers[1].go_on.set()
    await site.crash(0)
    assert await asyncio.gather(*calls) == [1, 1]
    heard = await asyncio.gather(*unsafe, return_exceptions=True)
    assert sorted(str(one.code.name) if isinstance(one, ServiceError) else str(one) for one in heard) == [
        "1",
        "UNAVAILABLE",
    ]
    await site.serving(1)
    assert {await _once(site.unsafe) for _ in range(10)} == {1}


async def test_a_replica_that_hangs_costs_an_attempt_and_is_left_alone(site: Replicated) -> None:
    site.answerers[0].holds = True
    assert await asyncio.gather(*(_once(site.safe) for _ in range(8))) == [1] * 8
    site.answerers[0].begun.clear()
    assert {await _once(site.safe) for _ in range(10)} == {1}
    assert not site.answerers[0].begun.is_set()


async def test_items_move_from_a_dead_replica_to_a_living_one(site: Replicated) -> None:
    """And back when it lives again."""
    homes = {key: await site.spread.call(key) for key in "abcdefgh"}
    mine = next(key for key, home in homes.items() if home == "0")
    site.answerers[0].holds = True
    asked = asyncio.create_task(site.spread.call(mine))
    await site.answerers[0].begun.wait()
    await site.crash(0)
    assert await asked == "1"
    site.answerers[0].holds = False
    await site.serving(1)
    await site.start(0)
    await site.serving(0, 1)
    async with asyncio.timeout(20):
        while await site.spread.call(mine) != "0":
            await asyncio.sleep(0.01)


async def test_items_of_a_replica_that_hangs_are_answered_by_another(site: Replicated) -> None:
    site.answerers[0].holds = True
    assert {await site.spread.call(key) for key in "abcdefgh"} == {"1"}


async def test_a_replica_that_ends_in_order_costs_no_call(site: Replicated) -> None:
    """Not even those that may not be sent twice, from before its end to after."""
    service = site.services[0]
    assert service is not None
    stopped = asyncio.create_task(service.stop())
    heard: list[int] = []
    while not stopped.done():
        heard += await asyncio.gather(*(_once(site.unsafe) for _ in range(4)))
        heard.append(int(await site.spread.call("a")))
        await asyncio.sleep(0.002)
    assert {await _once(site.unsafe) for _ in range(10)} == {1}
    assert heard


async def _asked_by_every_way(site: Replicated) -> list[str]:
    return [await site.spread.call_at(member, "x", timeout_ms=300) for member in site.spread.ways(4)]


async def test_every_way_of_items_can_be_asked(site: Replicated) -> None:
    """Given two replicas, when one hangs, then it is asked once more and left out as it is by items; one that dies is
    left out at once, and asked again when it lives again."""
    assert sorted(await _asked_by_every_way(site)) == ["0", "1"]
    site.answerers[0].holds = True
    with pytest.raises(ServiceError) as late:
        await _asked_by_every_way(site)
    assert late.value.code is grpc.StatusCode.DEADLINE_EXCEEDED
    assert await _asked_by_every_way(site) == ["1"]
    await site.crash(1)
    await site.serving(0)
    site.answerers[0].holds = False
    assert await _asked_by_every_way(site) == ["0"]
    await site.start(1)
    await site.serving(0, 1)
    async with asyncio.timeout(20):
        while (answers := await _answers_of_ways(site)) == ["0"]:
            await asyncio.sleep(0.02)
    assert answers == ["0", "1"]


async def _answers_of_ways(site: Replicated) -> list[str]:
    """Who answers; the stream to one that has just begun may not stand yet."""
    asked = (site.spread.call_at(member, "x", timeout_ms=300) for member in site.spread.ways(4))
    answers = await asyncio.gather(*asked, return_exceptions=True)
    return sorted(answer for answer in answers if isinstance(answer, str))


async def test_ways_are_taken_in_turn_where_there_are_many(site: Replicated) -> None:
    assert sorted(member.name for _ in range(4) for member in site.spread.ways(1)) == sorted([*site.pool.members] * 2)


@pytest.fixture
async def patient() -> AsyncIterator[Replicated]:
    """One replica, whose callers would wait for it for an hour."""
    replicated = Replicated(attempt_ms=3_600_000)
    await replicated.open(0)
    yield replicated
    await replicated.close()


@pytest.fixture
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """What failed would be tried again after half an hour at the soonest."""
    monkeypatch.setattr("services.kit.calls.pool._FIRST_PAUSE_S", 3_600)
    monkeypatch.setattr("services.kit.calls.pool._LAST_PAUSE_S", 3_600)


@pytest.mark.usefixtures("unhurried")
async def test_what_waits_to_be_tried_again_follows_a_probe(patient: Replicated) -> None:
    """Given a call that failed and waits, when a probe gets through, then it is tried again at once; one that fails
    helps nobody."""
    patient.answerers[0].is_broken = True
    asked = asyncio.create_task(_once(patient.safe, timeout_ms=36_000_000))
    await patient.answerers[0].begun.wait()
    with pytest.raises(ServiceError, match="broken"):
        await patient.probe(0)
    patient.answerers[0].is_broken = False
    assert await _still_waits(asked)
    assert await patient.probe(0) == 0
    async with asyncio.timeout(5):
        assert await asked == 0


async def _still_waits(asked: asyncio.Task[int]) -> bool:
    done, _ = await asyncio.wait([asked], timeout=0.3)
    return not done


async def test_who_was_told_to_wait_for_long_does_so(patient: Replicated) -> None:
    """Given a replica that wishes to be left alone for an hour, as in maintenance, when probes get through, then the
    call is not tried again all the time."""
    patient.answerers[0].is_broken, patient.answerers[0].wish_ms = True, 3_600_000
    asked = asyncio.create_task(_once(patient.safe, timeout_ms=36_000_000))
    await patient.answerers[0].begun.wait()
    patient.answerers[0].is_broken = False
    assert await patient.probe(0) == 0
    assert await _still_waits(asked)
    asked.cancel()


async def test_who_answers_a_probe_is_asked_though_he_says_that_he_does_not_serve(patient: Replicated) -> None:
    """Given a replica that says that it does not serve, when a probe that left after it said so comes back, then calls
    go to it, those that wait and others; until one is not answered."""
    await patient.say(0, ready=False)
    asked = asyncio.create_task(_once(patient.safe, timeout_ms=36_000_000))
    assert await _still_waits(asked)
    assert await patient.probe(0) == 0
    async with asyncio.timeout(5):
        assert await asked == 0
        assert await _once(patient.unsafe, timeout_ms=36_000_000) == 0
    patient.answerers[0].is_broken = True
    with pytest.raises(ServiceError, match="broken"):
        await _once(patient.unsafe)
    patient.answerers[0].is_broken = False
    asked = asyncio.create_task(_once(patient.safe, timeout_ms=36_000_000))
    assert await _still_waits(asked)
    await patient.say(0, ready=True)
    async with asyncio.timeout(5):
        assert await asked == 0


async def test_a_probe_from_before_says_nothing_of_who_does_not_serve(patient: Replicated) -> None:
    """Given a probe that is under way, when its replica says that it does not serve (it may be about to end), then its
    answer sends nobody there."""
    patient.answerers[0].holds = True
    probe = asyncio.create_task(patient.probe(0))
    await patient.answerers[0].begun.wait()
    await patient.say(0, ready=False)
    patient.answerers[0].holds = False
    patient.answerers[0].go_on.set()
    assert await probe == 0
    asked = asyncio.create_task(_once(patient.safe, timeout_ms=36_000_000))
    assert await _still_waits(asked)
    await patient.say(0, ready=True)
    async with asyncio.timeout(5):
        assert await asked == 0


async def test_a_stream_is_opened_at_one_that_serves(site: Replicated) -> None:
    await site.crash(0)
    await site.serving(1)
    for _ in range(4):
        async with site.safe.Many(EchoRequest(text="x")) as answers:
            assert [answer.text async for answer in answers] == ["1"]


@pytest.mark.usefixtures("quick")
async def test_a_replica_that_is_gone_takes_its_stream_with_it(site: Replicated) -> None:
    """Given a replica that is gone for good, when it has been let go, then nobody tries to open its stream any more,
    though no other one has come; whoever still asks it hears so."""
    gone = site.pool.members[site.names[0]]
    assert sorted(await _asked_by_every_way(site)) == ["0", "1"]
    await site.crash(0)
    site.replicas.away.add(site.names[0])
    async with asyncio.timeout(20):
        while site.replicas.forgotten != site.names[:1]:
            await asyncio.sleep(0.01)
    opened = site.streams_opened
    await asyncio.sleep(0.6)
    assert site.streams_opened == opened
    for _ in range(2):
        with pytest.raises(ServiceError) as refused:
            await site.spread.call_at(gone, "x", timeout_ms=300)
        assert (refused.value.code, refused.value.reason) == (grpc.StatusCode.UNAVAILABLE, "unreachable")
    assert site.streams_opened == opened
    assert {await site.spread.call(key) for key in "abcdefgh"} == {"1"}
    assert await _asked_by_every_way(site) == ["1"]


@pytest.mark.usefixtures("quick")
async def test_a_replica_that_comes_back_is_found_anew(site: Replicated) -> None:
    """Under the name that it had, after all of it was let go."""
    assert sorted(await _asked_by_every_way(site)) == ["0", "1"]
    site.replicas.away.add(site.names[0])
    async with asyncio.timeout(20):
        while site.replicas.forgotten != site.names[:1]:
            await asyncio.sleep(0.01)
    site.replicas.away.clear()
    await site.serving(0, 1)
    assert sorted(await _asked_by_every_way(site)) == ["0", "1"]


@pytest.mark.usefixtures("quick")
async def test_a_certificate_that_is_missing_for_a_moment_ends_no_search(tmp_path: Path) -> None:
    """Given a key that is away while a new replica appears, when it is there again, then the replica is found, and so
    is what becomes of the others."""
    files = Authority(tmp_path).issue("echo")
    site = Replicated(files)
    for number in (0, 1):
        await site.start(number)
    site.replicas.away.add(site.names[1])
    await site.pool.start()
    await site.serving(0)
    key, put_aside = Path(files.key), tmp_path / "aside"
    _move(key, put_aside)
    site.replicas.away.clear()
    async with asyncio.timeout(20):
        while site.replicas.tried != site.names:
            await asyncio.sleep(0.01)
    assert {await _once(site.unsafe) for _ in range(4)} == {0}
    _move(put_aside, key)
    await site.serving(0, 1)
    site.replicas.away.add(site.names[0])
    await site.serving(1)
    assert {await _once(site.unsafe) for _ in range(4)} == {1}
    await site.close()


def _move(file: Path, to: Path) -> None:
    file.rename(to)


@pytest.mark.parametrize("error", [FileNotFoundError("tls.key"), ZeroDivisionError("a fault")])
async def test_a_replica_that_cannot_be_watched_is_watched_again(error: Exception) -> None:
    site = Replicated()
    await site.start(0)
    site.replicas.unwatchable.append(error)
    await site.pool.start()
    await site.serving(0)
    assert site.replicas.unwatchable == []
    await site.close()


async def test_nobody_there_is_reported_in_time() -> None:
    replicas = RemoteReplicas(ECHO, f"127.0.0.1:{free_port()}", connect=lambda address: open_channel(str(address)))
    pool = Pool(replicas, what="echo", attempt_ms=50)
    await pool.start()
    client: Any = PoolClient(ECHO, pool, repeatable=("Once",))
    with pytest.raises(ServiceError) as refused:
        await _once(client, timeout_ms=2_000)
    assert refused.value.code is grpc.StatusCode.UNAVAILABLE
    await pool.close()


def test_what_may_be_repeated_is_in_the_contract() -> None:
    replicas = RemoteReplicas(ECHO, "127.0.0.1:1", connect=lambda address: open_channel(str(address)))
    with pytest.raises(ValueError, match="has no methods Twice"):
        PoolClient(ECHO, Pool(replicas, what="echo"), repeatable=("Twice",))


async def test_whoever_was_met_once_stays_met() -> None:
    """So that a loss that all replicas of a caller have alike takes none of them out of service."""
    site = Replicated()
    await site.pool.start()
    met = asyncio.create_task(site.pool.met())
    await asyncio.sleep(0.05)
    assert not met.done()
    await site.start(0)
    async with asyncio.timeout(20):
        await met
    await site.crash(0)
    await site.serving()
    await site.pool.met()
    await site.close()
