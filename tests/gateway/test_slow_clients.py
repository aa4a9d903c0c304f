"""A slow client never slows others; it gets a clear end and a way to resume."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import grpc
import pytest
from magnate.gateway.v1 import gateway_service_pb2 as pb

from gateway.application.frames import Frame
from gateway.application.hub import Wish
from gateway.application.watch import Watch, WatchLimits
from services.kit.errors import ServiceError
from tests.support.gateways import Client, Site, read_updates, running_site, target, updates_of

BULK = 20_000


async def test_a_slow_client_is_cut_and_resumes_while_others_are_not_delayed() -> None:
    """The one who reads sees each update at once; the other finds its end and the number to go on from."""
    async with running_site(queue_frames=64, slow_ms=20_000) as site:
        ada = await site.client("Ada")
        table_id = await site.started_table(ada)
        site.table.padding = BULK
        held = site.table.held(table_id)
        slow = (await _on_own_connection(site, "Slow")).watch(target(table_id, 0))
        async with (await _on_own_connection(site, "Fast")).watch(target(table_id, 0)) as fast:
            await read_updates(fast, 1)
            await slow.__anext__()
            worst_s = 0.0
            while not site.gateway.hub.slow_cuts:
                began = time.perf_counter()
                await site.play(table_id, 1)
                await read_updates(fast, held.last_seq)
                worst_s = max(worst_s, time.perf_counter() - began)
                assert len(held.updates) < 5_000
        assert worst_s < 5.0
        messages = await _to_the_end(slow)
        ended = [message.ended for message in messages if message.WhichOneof("message") == "ended"]
        got = updates_of(messages)
        last = messages[-3].update.last_seq
        assert ended == [
            pb.WatchEnded(table_id=table_id, reason="slow_client", resume_after_seq=last),
            pb.WatchEnded(reason="slow_client"),
        ]
        async with ada.watch(target(table_id, last)) as resumed:
            got += updates_of(await read_updates(resumed, held.last_seq))
        assert got == held.updates


async def test_a_client_that_never_reads_loses_its_connection() -> None:
    """After its time is over nothing of it stays in the gateway."""
    async with running_site(queue_frames=16, slow_ms=200) as site:
        ada = await site.client("Ada")
        table_id = await site.started_table(ada)
        site.table.padding = 5 * BULK
        stuck = (await _on_own_connection(site, "Stuck")).watch(target(table_id, 0))
        await stuck.__anext__()
        while not site.gateway.hub.slow_cuts:
            # Slowly enough that it is the client who does not take them.
            await site.play(table_id, 1)
            await asyncio.sleep(0.003)
        async with asyncio.timeout(5):
            while site.gateway.hub.watches:
                await asyncio.sleep(0.05)
        assert not site.gateway.hub.feeds
        assert site.gateway.service.gate.open_streams == 0
        # Who reads on after all is told.
        with pytest.raises(ServiceError) as ended:
            await _to_the_end(stuck)
        assert (ended.value.code, ended.value.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "slow_client")


async def test_a_slow_client_that_catches_up_is_not_cut() -> None:
    """Reading a long log with pauses only slows its own reading."""
    async with running_site(queue_frames=32, slow_ms=5_000) as site:
        ada = await site.client("Ada")
        table_id = await site.started_table(ada)
        site.table.padding = 2_000
        await site.play(table_id, 600)
        held = site.table.held(table_id)
        got: list[bytes] = []
        async with ada.watch(target(table_id, 0)) as stream:
            for stop in range(200, held.last_seq + 200, 200):
                got += updates_of(await read_updates(stream, min(stop, held.last_seq)))
                await asyncio.sleep(0.05)
        assert got == held.updates
        assert site.gateway.hub.slow_cuts == 0


async def test_a_table_that_is_taken_off_makes_room() -> None:
    """Given a queue that is more than half full of one table, when that is taken off, then another one joins."""
    limits = WatchLimits(slow_ms=60_000)
    watch = Watch(
        watch_id="w", session_id="s", token="t", expires_at_unix_ms=0, limits=limits, on_overflow=lambda _: None
    )
    for seq in range(1, limits.queue_frames // 2 + 2):
        watch.put(Frame(b"x", table_id="b", last_seq=seq))
    joining = asyncio.create_task(watch.room())
    await asyncio.sleep(0)
    watch.forget("b")
    async with asyncio.timeout(1):
        assert await joining


async def test_a_thousand_watchers_get_the_same_bytes_object() -> None:
    """An update is framed once, whatever the number of its watchers, and each has its own bounded queue."""
    async with running_site(watches_per_session=2_000, heartbeat_ms=60_000) as site:
        ada = await site.client("Ada")
        table_id = await site.started_table(ada)
        hub = site.gateway.hub
        watches = [hub.open(session=ada.session, token=ada.token, wishes=[Wish(table_id, 0)]) for _ in range(1_000)]
        for watch in watches:
            assert await watch.next() is not None  # the table
            assert await watch.next() is not None  # the first update
        await asyncio.sleep(0.05)
        began = time.perf_counter()
        await site.play(table_id, 1)
        received = [await watch.next() for watch in watches]
        assert time.perf_counter() - began < 5.0
        assert all(data is received[0] for data in received)
        for watch in watches:
            hub.close(watch)


async def _on_own_connection(site: Site, name: str) -> Client:
    return await site.client(name)


async def _to_the_end(stream: Any) -> list[pb.WatchResponse]:
    async with asyncio.timeout(20):
        return [message async for message in stream if message.WhichOneof("message") in ("update", "ended")]
