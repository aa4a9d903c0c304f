"""Watching: one sequence for everybody, resumed anywhere, without gap or repeat."""

from __future__ import annotations

import asyncio
import random

from magnate.gateway.v1 import gateway_service_pb2 as pb
from magnate.table.v1 import table_pb2

from tests.support.gateways import Site, kinds, read_updates, running_site, target, updates_of


async def test_two_clients_see_the_same_sequence(site: Site) -> None:
    """Both get every update, in order, byte for byte as committed."""
    ada, bob = await site.client("Ada"), await site.client("Bob")
    table_id = await site.started_table(ada)
    async with ada.watch(target(table_id, 0)) as first, bob.watch(target(table_id, 0)) as second:
        for _ in range(30):
            await site.submit(ada, table_id)
        held = site.table.held(table_id)
        seen = [await read_updates(stream, held.last_seq) for stream in (first, second)]
    assert updates_of(seen[0]) == held.updates
    assert updates_of(seen[1]) == held.updates


async def test_a_watch_begins_with_the_table_and_a_snapshot(site: Site) -> None:
    """First `opened`, then the table, then a view, then the updates that follow it."""
    ada = await site.client()
    table_id = await site.started_table(ada)
    await site.play(table_id, 5)
    before = site.table.held(table_id).last_seq
    async with ada.watch(target(table_id)) as stream:
        begun = await read_updates(stream, before)
        await site.submit(ada, table_id)
        after = await read_updates(stream, before + 1)
    assert kinds(begun) == ["opened", "table", "snapshot"]
    assert begun[0].opened.contract_version == "1.0"
    assert begun[0].opened.heartbeat_ms == 200
    assert begun[2].snapshot.seq == before
    assert kinds(after) == ["update"]
    assert after[0].update.first_seq == before + 1


async def test_resuming_at_100_random_points_sees_the_same_sequence(site: Site) -> None:
    """A client that drops and resumes after what it has seen sees what one that stayed has seen."""
    draw = random.Random(7)
    ada = await site.client()
    table_id = await site.started_table(ada)
    held = site.table.held(table_id)
    stop = asyncio.Event()

    async def play() -> None:
        while not stop.is_set():
            await site.play(table_id, 1)
            await asyncio.sleep(0.001)

    playing = asyncio.create_task(play())
    seen: list[bytes] = []
    after_seq = 0
    for _ in range(100):
        async with ada.watch(target(table_id, after_seq)) as stream:
            messages = await read_updates(stream, after_seq + draw.randint(1, 12))
        for message in messages:
            if message.WhichOneof("message") == "update":
                assert message.update.first_seq == after_seq + 1
                after_seq = message.update.last_seq
        seen += updates_of(messages)
    stop.set()
    await playing
    assert seen == held.updates[: len(seen)]
    assert len(seen) >= 100


async def test_resuming_inside_an_update_gets_it_whole(site: Site) -> None:
    """Snapshots and resumption exist at command boundaries; a number inside an update brings that update again."""
    ada = await site.client()
    table_id = await site.started_table(ada)
    await site.play(table_id, 6)
    held = site.table.held(table_id)
    index, (first, last) = next((i, pair) for i, pair in enumerate(held.seqs) if pair[1] > pair[0])
    async with ada.watch(target(table_id, first)) as stream:
        inside = await read_updates(stream, held.last_seq)
    async with ada.watch(target(table_id, last)) as stream:
        boundary = await read_updates(stream, held.last_seq)
    assert updates_of(inside) == held.updates[index:]
    assert updates_of(boundary) == held.updates[index + 1 :]


async def test_a_number_ahead_of_the_log_is_refused(site: Site) -> None:
    """The table's part of the watch ends with seq_ahead."""
    ada = await site.client()
    table_id = await site.started_table(ada)
    async with ada.watch(target(table_id, 10_000)) as stream:
        messages = await read_updates(stream, 10_000)
    assert messages[-1].ended == pb.WatchEnded(table_id=table_id, reason="seq_ahead", resume_after_seq=10_000)


async def test_a_long_log_is_read_in_pages(site: Site) -> None:
    """More updates than one page, and than the queue holds, arrive whole."""
    ada = await site.client()
    table_id = await site.started_table(ada)
    await site.play(table_id, 1_500)
    held = site.table.held(table_id)
    async with ada.watch(target(table_id, 0)) as stream:
        messages = await read_updates(stream, held.last_seq)
    assert updates_of(messages) == held.updates


async def test_what_the_event_stream_repeats_comes_once(site: Site) -> None:
    """Delivery is at least once; a watcher gets each update once."""
    ada = await site.client()
    table_id = await site.started_table(ada)
    site.table.repeating = True
    async with ada.watch(target(table_id, 0)) as stream:
        await read_updates(stream, 1)
        await site.play(table_id, 20)
        held = site.table.held(table_id)
        messages = await read_updates(stream, held.last_seq)
    assert updates_of(messages) == held.updates[1:]


async def test_a_gap_of_the_event_stream_is_filled_from_the_table_service(site: Site) -> None:
    """What was lost is read once for all watchers, and nobody notices more than a delay."""
    ada = await site.client()
    table_id = await site.started_table(ada)
    held = site.table.held(table_id)
    streams = [ada.watch(target(table_id, 0)) for _ in range(3)]
    for stream in streams:
        await read_updates(stream, 1)
    await site.play(table_id, 3)
    site.table.losing = True
    await site.play(table_id, 10)
    site.table.losing = False
    site.table.calls.clear()
    await site.play(table_id, 2)
    for stream in streams:
        assert updates_of(await read_updates(stream, held.last_seq)) == held.updates[1:]
        stream.cancel()
    assert len(site.table.calls) <= 2


async def test_a_lagging_event_stream_is_caught_up_with() -> None:
    """When the stream keeps less than was published meanwhile, the rest is read from the table service at once."""
    async with running_site(kept_entries=4, reconcile_ms=60_000) as site:
        ada = await site.client()
        table_id = await site.started_table(ada)
        async with ada.watch(target(table_id, 0)) as stream:
            await read_updates(stream, 1)
            await site.play(table_id, 100)
            held = site.table.held(table_id)
            assert updates_of(await read_updates(stream, held.last_seq)) == held.updates[1:]


async def test_a_silent_loss_is_found(site: Site) -> None:
    """When the last updates are lost and nothing follows, the gateway asks by itself."""
    ada = await site.client()
    table_id = await site.started_table(ada)
    async with ada.watch(target(table_id, 0)) as stream:
        await read_updates(stream, 1)
        site.table.losing = True
        await site.play(table_id, 4)
        held = site.table.held(table_id)
        assert updates_of(await read_updates(stream, held.last_seq)) == held.updates[1:]


async def test_a_table_that_changed_in_silence_is_found() -> None:
    """Given a running game, when the event stream loses what became of its table and nothing follows, then the next
    comparison asks for the table, once, and its watchers are told."""
    async with running_site(reconcile_ms=50) as site:
        ada = await site.client()
        table_id = await site.started_table(ada)
        held = site.table.held(table_id)
        async with ada.watch(target(table_id, 0)) as stream:
            await read_updates(stream, 1)
            site.table.calls.clear()
            await _stop_unheard(site, table_id)
            assert [message.table for message in await _tables(stream, 1)] == [held.table]
            held.table.stopped = held.table.paused = False
            held.table.held_ms = 600_000
            await _lose_table(site, table_id)
            assert [message.table for message in await _tables(stream, 1)] == [held.table]
            await _asked(site, site.table.calls.count("ReadUpdates") + 2)
        assert site.table.calls.count("DescribeTable") == 2


async def test_a_lost_change_of_the_table_comes_with_the_next_gap() -> None:
    """Whoever fills a gap of the game is told that the table has changed too."""
    async with running_site(reconcile_ms=60_000) as site:
        ada = await site.client()
        table_id = await site.started_table(ada)
        held = site.table.held(table_id)
        async with ada.watch(target(table_id, 0)) as stream:
            await read_updates(stream, 1)
            await _stop_unheard(site, table_id)
            await _lose(site, table_id)
            await site.play(table_id, 1)
            messages = await read_updates(stream, held.last_seq)
            if not (told := [message.table for message in messages if message.HasField("table")]):
                told = [message.table for message in await _tables(stream, 1)]
        assert updates_of(messages) == held.updates[1:]
        assert [(table.stopped, table.lobby_version) for table in told] == [(True, held.table.lobby_version)]


async def test_a_table_that_has_not_changed_is_not_asked_for() -> None:
    """A comparison of a running game reads its log and no more."""
    async with running_site(reconcile_ms=50) as site:
        ada = await site.client()
        table_id = await site.started_table(ada)
        async with ada.watch(target(table_id, 0)) as stream:
            await read_updates(stream, 1)
            site.table.calls.clear()
            await _asked(site, 3)
        assert set(site.table.calls) == {"ReadUpdates"}


async def test_news_do_not_wait_for_a_slow_comparison() -> None:
    """While the table service takes long to say what may have been lost, what comes next is shown at once."""
    async with running_site(reconcile_ms=60_000) as site:
        ada = await site.client()
        table_id = await site.started_table(ada)
        held = site.table.held(table_id)
        async with ada.watch(target(table_id, 0)) as stream:
            await read_updates(stream, 1)
            site.table.reads_leave.clear()
            site.gateway.hub.on_lagged(None)
            await site.play(table_id, 3)
            seen = updates_of(await read_updates(stream, held.last_seq))
            assert seen == held.updates[1:]
            await site.play(table_id, 1)
            site.table.reads_leave.set()
            assert updates_of(await read_updates(stream, held.last_seq)) == held.updates[4:]


async def test_a_loss_during_a_comparison_is_found_by_another_one() -> None:
    """What the table service was asked before the loss does not tell of it."""
    async with running_site(reconcile_ms=60_000) as site:
        ada = await site.client()
        table_id = await site.started_table(ada)
        held = site.table.held(table_id)
        async with ada.watch(target(table_id, 0)) as stream:
            await read_updates(stream, 1)
            site.table.reads_leave.clear()
            site.gateway.hub.on_lagged(None)
            await _asked(site, 2)
            await _lose(site, table_id)
            site.gateway.hub.on_lagged(None)
            site.table.reads_leave.set()
            assert updates_of(await read_updates(stream, held.last_seq)) == held.updates[1:]


async def test_a_loss_while_a_watch_begins_is_found() -> None:
    """The same before anything is known of the table: a watch that is let in meanwhile is brought up to date."""
    async with running_site(reconcile_ms=60_000) as site:
        ada = await site.client()
        table_id = await site.started_table(ada)
        held = site.table.held(table_id)
        site.table.reads_leave.clear()
        async with ada.watch(target(table_id, 0)) as stream:
            reading = asyncio.create_task(read_updates(stream, held.last_seq + 1))
            await _asked(site, 1)
            await _lose(site, table_id)
            site.gateway.hub.on_lagged(None)
            site.table.reads_leave.set()
            assert updates_of(await reading) == held.updates


async def _asked(site: Site, times: int) -> None:
    """Waits until the log has been asked for so often."""
    async with asyncio.timeout(5):
        while site.table.calls.count("ReadUpdates") < times:
            await asyncio.sleep(0.01)
    await asyncio.sleep(0.01)


async def _lose(site: Site, table_id: str) -> None:
    """A command that the event stream never has."""
    site.table.losing = True
    await site.play(table_id, 1)
    site.table.losing = False


async def _lose_table(site: Site, table_id: str) -> None:
    """A change of the table that the event stream never has."""
    site.table.losing = True
    await site.table.publish_table(site.table.held(table_id))
    site.table.losing = False


async def _stop_unheard(site: Site, table_id: str) -> None:
    """The site stops the table, and the event stream never has it."""
    table = site.table.held(table_id).table
    table.stopped = table.paused = True
    await _lose_table(site, table_id)


async def test_a_gap_survives_an_absent_table_service(site: Site) -> None:
    """While the table service does not answer the watch waits, and goes on whole."""
    ada = await site.client()
    table_id = await site.started_table(ada)
    async with ada.watch(target(table_id, 0)) as stream:
        await read_updates(stream, 1)
        site.table.losing = True
        await site.play(table_id, 3)
        site.table.losing, site.table.unreachable = False, True
        await site.play(table_id, 1)
        await asyncio.sleep(0.3)
        site.table.unreachable = False
        held = site.table.held(table_id)
        assert updates_of(await read_updates(stream, held.last_seq)) == held.updates[1:]


async def test_a_lobby_is_watched_into_its_game(site: Site) -> None:
    """Seats taken are pushed, and the first events follow without a snapshot."""
    ada, bob = await site.client("Ada"), await site.client("Bob")
    wanted = table_pb2.TableSettings(edition="industry", seats=2)
    created = await ada.call("CreateTable", pb.CreateTableRequest(settings=wanted, command_id="c"))
    table_id = created.table.table_id
    async with ada.watch(target(table_id)) as stream:
        assert [len(m.table.seats) for m in await _tables(stream, 1)] == [1]
        await bob.call("JoinTable", pb.JoinTableRequest(table_id=table_id))
        assert [len(m.table.seats) for m in await _tables(stream, 1)] == [2]
        await ada.call("StartGame", pb.StartGameRequest(table_id=table_id))
        messages = await read_updates(stream, 1)
    assert kinds(messages)[-1] == "update"
    assert messages[-1].update.first_seq == 1


async def test_many_tables_on_one_watch(site: Site) -> None:
    """Tables are added to an open watch and taken off; each keeps its own sequence."""
    ada = await site.client()
    tables = [await site.started_table(ada) for _ in range(3)]
    async with ada.watch(target(tables[0], 0)) as stream:
        opened = (await read_updates(stream, 1))[0].opened
        change = pb.ChangeWatchRequest(
            watch_id=opened.watch_id, add=[target(tables[1], 0), target(tables[2], 0)], remove=[tables[0]]
        )
        await ada.call("ChangeWatch", change)
        await site.play(tables[0], 2)
        for table_id in tables[1:]:
            await site.play(table_id, 2)
        got: dict[str, list[int]] = {}
        async with asyncio.timeout(5):
            async for message in stream:
                if message.WhichOneof("message") == "update":
                    got.setdefault(message.update.table_id, []).append(message.update.last_seq)
                if all(len(got.get(table_id, [])) == 3 for table_id in tables[1:]):
                    break
    assert got == {table_id: [1, 3, 6] for table_id in tables[1:]}


async def test_a_table_added_again_begins_anew(site: Site) -> None:
    """A client whose state hash does not match asks for a snapshot so."""
    ada = await site.client()
    table_id = await site.started_table(ada)
    await site.play(table_id, 3)
    last_seq = site.table.held(table_id).last_seq
    async with ada.watch(target(table_id, 0)) as stream:
        opened = (await read_updates(stream, last_seq))[0].opened
        await ada.call("ChangeWatch", pb.ChangeWatchRequest(watch_id=opened.watch_id, add=[target(table_id)]))
        again = await read_updates(stream, last_seq)
        await site.play(table_id, 1)
        more = await read_updates(stream, last_seq + 1)
    assert kinds(again) == ["table", "snapshot"]
    assert kinds(more) == ["update"]


async def _tables(stream: object, count: int) -> list[pb.WatchResponse]:
    got: list[pb.WatchResponse] = []
    async with asyncio.timeout(5):
        async for message in stream:  # type: ignore[attr-defined]
            if message.WhichOneof("message") == "table":
                got.append(message)
                if len(got) == count:
                    break
    return got
