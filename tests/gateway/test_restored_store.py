"""A store that was restored from a backup: whoever has seen more than it holds is told so, and begins anew."""

from __future__ import annotations

import asyncio
from typing import Any

from magnate.gateway.v1 import gateway_service_pb2 as pb
from magnate.table.v1 import table_pb2

from tests.support.gateways import Site, kinds, read_updates, running_site, target, updates_of


async def _end(stream: Any) -> pb.WatchEnded:
    """How a table's part of a watch ends."""
    async with asyncio.timeout(20):
        async for message in stream:
            if message.HasField("ended"):
                ended: pb.WatchEnded = message.ended
                return ended
    raise AssertionError("the watch ended without a word")


async def test_a_client_that_is_ahead_of_a_restored_log_is_told_so(site: Site) -> None:
    """Given a client that has seen event 20, when the log is restored to event 10, it cannot resume at 20."""
    ada = await site.client()
    table_id = await site.started_table(ada)
    await site.play(table_id, 9)
    seen = site.table.held(table_id).last_seq
    site.table.restore(5)
    async with ada.watch(target(table_id, seen)) as stream:
        ended = await _end(stream)
    assert (ended.reason, ended.table_id) == ("seq_ahead", table_id)
    async with ada.watch(target(table_id)) as stream:
        begun = await read_updates(stream, site.table.held(table_id).last_seq)
    assert kinds(begun) == ["opened", "table", "snapshot"]
    assert begun[1].table.history_id == site.table.history_id


async def test_a_number_of_another_history_is_refused_when_the_log_has_grown_past_it(site: Site) -> None:
    """Else the client would go on from events that are no more with events that never followed them."""
    ada = await site.client()
    table_id = await site.started_table(ada)
    await site.play(table_id, 9)
    held = site.table.held(table_id)
    seen, history_id = held.last_seq, held.table.history_id
    site.table.restore(5)
    await site.play(table_id, 30)
    resuming = pb.WatchTarget(table_id=table_id, after_seq=seen, history_id=history_id)
    async with ada.watch(resuming) as stream:
        assert (await _end(stream)).reason == "seq_ahead"
    for after_seq, history in ((0, history_id), (seen, site.table.history_id)):
        accepted = pb.WatchTarget(table_id=table_id, after_seq=after_seq, history_id=history)
        async with ada.watch(accepted) as stream:
            messages = await read_updates(stream, held.last_seq)
        assert updates_of(messages) == [
            data for data, (_, last) in zip(held.updates, held.seqs, strict=True) if last > after_seq
        ]


async def test_what_is_left_on_the_event_stream_from_before_a_restore_reaches_nobody(site: Site) -> None:
    """Given a watcher of the restored store, when updates of the lost future come, he sees those of the log alone."""
    ada = await site.client()
    table_id = await site.started_table(ada)
    held = site.table.held(table_id)
    await site.play(table_id, 8)
    lost = [
        table_pb2.StreamMessage(update=data, history_id=site.table.history_id).SerializeToString()
        for data in held.updates[4:]
    ]
    site.table.restore(4)
    async with ada.watch(target(table_id, 0)) as stream:
        seen = await read_updates(stream, held.last_seq)
        for payload in lost:
            await site.table.publish_bytes(payload)
        await site.play(table_id, 12)
        seen += await read_updates(stream, held.last_seq)
    assert updates_of(seen) == held.updates


async def test_a_gateway_that_was_not_restarted_ends_what_it_has_followed(site: Site) -> None:
    """Given live watchers, when the store is restored under them, they are told at the next update, not misled."""
    ada = await site.client()
    table_id = await site.started_table(ada)
    await site.play(table_id, 9)
    last_seq = site.table.held(table_id).last_seq
    async with ada.watch(target(table_id)) as stream:
        await read_updates(stream, last_seq)
        site.table.restore(5)
        while site.table.held(table_id).last_seq <= last_seq:
            await site.play(table_id, 1)
        ended = await _end(stream)
    assert (ended.reason, ended.resume_after_seq) == ("seq_ahead", last_seq)
    async with ada.watch(target(table_id)) as stream:
        begun = await read_updates(stream, site.table.held(table_id).last_seq)
    assert kinds(begun) == ["opened", "table", "snapshot"]


async def test_a_restore_is_noticed_where_nothing_happens() -> None:
    """Tables without news are compared with the table service; also when the event stream says nothing."""
    async with running_site(reconcile_ms=100) as site:
        ada = await site.client()
        table_id = await site.started_table(ada)
        await site.play(table_id, 9)
        async with ada.watch(target(table_id)) as stream:
            await read_updates(stream, site.table.held(table_id).last_seq)
            site.table.restore(9)
            assert (await _end(stream)).reason == "seq_ahead"
