"""Heartbeats, who may watch, and how a watch ends."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from magnate.clock.v1 import clock_service_pb2 as clock_pb
from magnate.gateway.v1 import gateway_service_pb2 as pb
from magnate.table.v1 import table_pb2

from services.kit.errors import ServiceError
from tests.support.gateways import Site, kinds, read_updates, running_site, target


async def first(stream: Any, kind: str) -> pb.WatchResponse:
    """The next message of this kind."""
    async with asyncio.timeout(5):
        async for message in stream:
            if message.WhichOneof("message") == kind:
                found: pb.WatchResponse = message
                return found
    raise AssertionError("the watch ended")


async def test_heartbeats_carry_play_time(site: Site) -> None:
    """They come at least as often as announced, with the clock's play time, extrapolated while it runs."""
    ada = await site.client()
    async with ada.watch() as stream:
        opened = await first(stream, "opened")
        beats = []
        began = time.perf_counter()
        for _ in range(4):
            beats.append((await first(stream, "heartbeat")).heartbeat)
        took_ms = (time.perf_counter() - began) * 1000
    assert opened.opened.heartbeat_ms == 200
    assert took_ms < 4 * 200 + 1_000
    assert all(beat.running and 5_000 <= beat.play_time_ms <= 5_250 for beat in beats)


async def test_a_standing_clock_is_told(site: Site) -> None:
    """When play time stands still the heartbeat says so."""
    site.clock.play_time = clock_pb.PlayTime(play_time_ms=9_000, running=False, epoch=2)
    ada = await site.client()
    await asyncio.sleep(0.1)
    async with ada.watch() as stream:
        beat = (await first(stream, "heartbeat")).heartbeat
    assert beat == pb.Heartbeat(play_time_ms=9_000, running=False)


async def test_a_change_of_time_is_told_at_once() -> None:
    """Given a watch, when play time stops, then it hears why and how much was given back before any heartbeat is due;
    the same when maintenance is announced."""
    async with running_site(heartbeat_ms=60_000) as quiet:
        ada = await quiet.client()
        table_id = await quiet.started_table(ada)
        async with ada.watch(target(table_id)) as stream:
            await first(stream, "snapshot")
            await asyncio.sleep(0.3)
            hold = clock_pb.Hold(hold_id="h", reason="a new version", begins_in_ms=60_000, ends_in_ms=660_000)
            quiet.clock.play_time = clock_pb.PlayTime(
                play_time_ms=9_000, running=True, epoch=2, valid_for_ms=250, hold=hold
            )
            announced = (await first(stream, "heartbeat")).heartbeat
            assert announced.running
            assert announced.maintenance.reason == "a new version"
            assert 55_000 <= announced.maintenance.begins_in_ms <= 60_000
            quiet.clock.play_time = clock_pb.PlayTime(
                play_time_ms=9_000, epoch=2, given_back_ms=5, cause=clock_pb.OUTAGE_CAUSE_HELD, hold=hold
            )
            stopped = (await first(stream, "heartbeat")).heartbeat
        assert (stopped.running, stopped.standstill, stopped.given_back_ms) == (False, pb.STANDSTILL_HELD, 5)
        assert 9_000 <= stopped.play_time_ms <= 10_000
        synced = await ada.call("SyncTime", pb.SyncTimeRequest(table_id=table_id))
        assert (synced.running, synced.standstill) == (False, pb.STANDSTILL_HELD)
        assert synced.maintenance.reason == "a new version"


async def test_spectators_only_where_the_creator_allows_them(site: Site) -> None:
    """A stranger's part of the watch ends with no_spectators, and carries nothing of the game."""
    ada, eve = await site.client("Ada"), await site.client("Eve")
    closed = await site.started_table(ada, spectators=False)
    opened = await site.started_table(ada, spectators=True)
    for after_seq in (None, 0):
        async with eve.watch(target(closed, after_seq)) as stream:
            messages = await read_updates(stream, 1)
        assert messages[-1].ended.reason == "no_spectators"
        assert not {"snapshot", "update"} & set(kinds(messages))
    async with eve.watch(target(opened)) as stream:
        assert kinds(await read_updates(stream, 1))[-1] == "snapshot"
    async with ada.watch(target(closed)) as stream:
        assert kinds(await read_updates(stream, 1))[-1] == "snapshot"


async def test_a_lobby_watcher_without_a_seat_is_left_out_at_the_start(site: Site) -> None:
    """Who may not be a spectator sees the lobby, but no event of the game."""
    ada, eve = await site.client("Ada"), await site.client("Eve")
    wanted = table_pb2.TableSettings(edition="industry", seats=2)
    created = await ada.call("CreateTable", pb.CreateTableRequest(settings=wanted, command_id="c"))
    table_id = created.table.table_id
    async with eve.watch(target(table_id)) as stream:
        await first(stream, "table")
        await ada.call("StartGame", pb.StartGameRequest(table_id=table_id))
        messages = await read_updates(stream, 1)
    assert messages[-1].ended == pb.WatchEnded(table_id=table_id, reason="no_spectators")
    assert "update" not in kinds(messages)


async def test_who_loses_his_seat_sees_no_more(site: Site) -> None:
    """After a seat is taken over with its secret the session before is not shown the game any longer."""
    ada, bob = await site.client("Ada"), await site.client("Bob")
    wanted = table_pb2.TableSettings(edition="industry", seats=2)
    created = await ada.call("CreateTable", pb.CreateTableRequest(settings=wanted, command_id="c"))
    table_id = created.table.table_id
    await bob.call("JoinTable", pb.JoinTableRequest(table_id=table_id))
    await ada.call("StartGame", pb.StartGameRequest(table_id=table_id))
    carl = await site.client("Carl")
    async with bob.watch(target(table_id)) as stream:
        await read_updates(stream, 1)
        reclaim = pb.ReclaimSeatRequest(table_id=table_id, seat=1, seat_secret="secret-of-seat-1")
        await carl.call("ReclaimSeat", reclaim)
        ended = await first(stream, "ended")
    assert ended.ended == pb.WatchEnded(table_id=table_id, reason="no_spectators", resume_after_seq=1)


async def test_a_table_that_does_not_exist(site: Site) -> None:
    """Its part ends with no_table; the watch stays open for others."""
    ada = await site.client()
    table_id = await site.started_table(ada)
    async with ada.watch(target("nowhere"), target(table_id)) as stream:
        ended = await first(stream, "ended")
        assert ended.ended == pb.WatchEnded(table_id="nowhere", reason="no_table")
        assert (await first(stream, "snapshot")).snapshot.table_id == table_id


async def test_the_messages_between_services_never_reach_a_client(site: Site) -> None:
    """A bot's turn and a probe travel on the same topic; a watcher gets neither, nor bytes that nobody knows."""
    ada = await site.client()
    table_id = await site.started_table(ada)
    async with ada.watch(target(table_id, 0)) as stream:
        await read_updates(stream, 1)
        turn = table_pb2.BotTurn(table_id=table_id, seat=1, decision_id=1, seq=1)
        await site.table.publish_bytes(table_pb2.StreamMessage(bot_turn=turn).SerializeToString())
        await site.table.publish_bytes(b"\x0a\xff\xff\xff\xff")
        await site.table.publish_bytes(b"noise")
        await site.play(table_id, 1)
        messages = await read_updates(stream, 2)
    assert kinds(messages) == ["update"]


async def test_draining_ends_every_watch_with_its_place() -> None:
    """At a stop each watcher gets what was committed, its place in each table, and a normal end of the stream."""
    async with running_site(shutdown_grace_ms=20_000) as site:
        ada = await site.client()
        table_id = await site.started_table(ada)
        held = site.table.held(table_id)
        stream = ada.watch(target(table_id, 0))
        await read_updates(stream, 1)
        await site.play(table_id, 4)
        await asyncio.sleep(0.05)
        began = time.perf_counter()
        stopping = asyncio.create_task(site.gateway.service.stop())
        messages = [message async for message in stream if message.WhichOneof("message") != "heartbeat"]
        await stopping
        assert time.perf_counter() - began < 5
    assert messages[-3].update.last_seq == held.last_seq
    assert messages[-2].ended == pb.WatchEnded(table_id=table_id, reason="draining", resume_after_seq=held.last_seq)
    assert messages[-1].ended == pb.WatchEnded(reason="draining")


async def test_ending_a_session_ends_its_watches(site: Site) -> None:
    """Nobody watches under a session that is over."""
    ada = await site.client()
    table_id = await site.started_table(ada)
    async with ada.watch(target(table_id, 0)) as stream:
        await read_updates(stream, 1)
        await ada.call("EndSession", pb.EndSessionRequest())
        ended = await first(stream, "ended")
    assert ended.ended == pb.WatchEnded(table_id=table_id, reason="no_session", resume_after_seq=1)


async def test_an_expired_session_ends_its_watches_unless_renewed(site: Site) -> None:
    """The watch lives as long as its session; a renewal prolongs both."""
    ada, bob = await site.client("Ada"), await site.client("Bob")
    async with ada.watch() as lost, bob.watch() as kept:
        for stream, client in ((lost, ada), (kept, bob)):
            await first(stream, "opened")
            watch = next(
                watch for watch in site.gateway.hub.watches.values() if watch.session_id == client.session.session_id
            )
            watch.expires_at_unix_ms = 1
        renewed = await bob.call("RenewSession", pb.RenewSessionRequest())
        bob.token = renewed.session_token
        assert (await first(lost, "ended")).ended == pb.WatchEnded(reason="no_session")
        assert (await first(kept, "heartbeat")).heartbeat.running


async def test_presence_is_told(site: Site) -> None:
    """The table service hears at once, and again and again, which sessions watch which table."""
    ada, bob = await site.client("Ada"), await site.client("Bob")
    table_id = await site.started_table(ada)
    sessions = sorted([ada.session.session_id, bob.session.session_id])
    async with ada.watch(target(table_id)) as first_stream, bob.watch(target(table_id)) as second_stream:
        await read_updates(first_stream, 1)
        await read_updates(second_stream, 1)
        async with asyncio.timeout(3):
            while [told.get(table_id) for told in site.table.touched].count(sessions) < 2:
                await asyncio.sleep(0.05)
    await asyncio.sleep(0.5)
    site.table.touched.clear()
    await asyncio.sleep(0.5)
    assert all(table_id not in told for told in site.table.touched)


async def test_presence_of_those_who_stay_is_told_however_many_come() -> None:
    """Given that somebody new comes while each call is under way, those who were here before are told all the same."""
    async with running_site() as site:
        ada = await site.client("Ada")
        table_id = await site.started_table(ada)
        hub = site.gateway.hub

        async def come() -> None:
            while True:
                hub.on_touch(watch, "another table")
                await asyncio.sleep(0.02)

        async with ada.watch(target(table_id)) as stream:
            await read_updates(stream, 1)
            (watch,) = hub.watches.values()
            site.table.pause_s = 0.1
            coming = asyncio.create_task(come())
            await asyncio.sleep(0.5)
            site.table.touched.clear()
            async with asyncio.timeout(5):
                while [table_id in told for told in site.table.touched].count(True) < 3:
                    await asyncio.sleep(0.02)
            coming.cancel()


async def test_limits_of_watching() -> None:
    """Too many watches of a session, or tables of a watch, are refused with a delay; a table twice is malformed."""
    async with running_site(watches_per_session=1, tables_per_watch=2) as site:
        ada = await site.client()
        async with ada.watch() as stream:
            await first(stream, "opened")
            with pytest.raises(ServiceError) as caught:
                await ada.watch().__anext__()
        assert (caught.value.reason, caught.value.retry_after_ms) == ("overloaded", 200)
        await asyncio.sleep(0.1)
        for targets, reason in (([target("a"), target("a")], "malformed"), ([target(n) for n in "abc"], "overloaded")):
            with pytest.raises(ServiceError) as caught:
                await ada.watch(*targets).__anext__()
            assert caught.value.reason == reason


async def test_only_the_owner_changes_a_watch(site: Site) -> None:
    """Another session, or an unknown id, gets no_watch."""
    ada, eve = await site.client("Ada"), await site.client("Eve")
    async with ada.watch() as stream:
        watch_id = (await first(stream, "opened")).opened.watch_id
        for client, named in ((eve, watch_id), (ada, "nonsense")):
            with pytest.raises(ServiceError) as caught:
                await client.call("ChangeWatch", pb.ChangeWatchRequest(watch_id=named))
            assert caught.value.reason == "no_watch"


async def test_leaving_frees_everything(site: Site) -> None:
    """A client that goes away leaves nothing behind."""
    ada = await site.client()
    table_id = await site.started_table(ada)
    async with ada.watch(target(table_id)) as stream:
        await read_updates(stream, 1)
        assert len(site.gateway.hub.watches) == 1
    async with asyncio.timeout(3):
        while site.gateway.hub.watches or site.gateway.hub.feeds:
            await asyncio.sleep(0.02)
