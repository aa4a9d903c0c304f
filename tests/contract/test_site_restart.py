"""A crash in the middle of a game, in both modes: nothing that was acknowledged is lost, and the game goes on."""

from __future__ import annotations

import asyncio
from typing import Any

import grpc
import pytest
from magnate.game.v1 import command_pb2
from magnate.gateway.v1 import gateway_service_pb2 as pb

from services.kit.errors import ServiceError
from tests.support.site_clients import Guest, People, Visitors
from tests.support.sites import LiveSite

_AWAY = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED)


async def _insist(people: People, command: command_pb2.Command) -> pb.SubmitResponse:
    """Sends a command with its id until there is an answer, as a client does."""
    for _ in range(200):
        try:
            return await people.submit(command)
        except ServiceError as error:
            if error.code not in _AWAY:
                raise
        await asyncio.sleep(0.1)
    raise AssertionError("the site stays away")


async def _play_through(people: People, seen: list[tuple[str, int, int]], commands: int) -> None:
    """Plays on, whatever happens to the site; notes each answer."""
    for _ in range(commands):
        decision = await _persist(people.decision)
        command = people.command(decision)
        try:
            done = await _insist(people, command)
        except ServiceError as error:
            # Done before the crash, unheard, and the game has gone on since.
            if error.reason != "stale_decision":
                raise
            continue
        seen.append((command.command_id, done.first_seq, done.last_seq))


async def _persist(ask: Any) -> Any:
    for _ in range(200):
        try:
            return await ask()
        except (ServiceError, TimeoutError, AssertionError, StopAsyncIteration):
            await asyncio.sleep(0.1)
    raise AssertionError("the site stays away")


async def _play_time_ms(guest: Guest) -> int:
    """Play time as soon as it advances."""
    async with asyncio.timeout(40):
        while True:
            try:
                now = await guest.ask(pb.SyncTimeRequest())
                if now.running:
                    return int(now.play_time_ms)
            except ServiceError:
                pass
            await asyncio.sleep(0.05)


async def test_a_killed_table_service_loses_nothing(site: LiveSite, visitors: Visitors) -> None:
    """kill -9 under load: every answer that was given is in the log at its numbers, once; the same command
    sent again is a repeat; the log before is byte for byte the same; play goes on."""
    people = await visitors.people(3)
    seen: list[tuple[str, int, int]] = []
    await _play_through(people, seen, 10)
    before = await people.guests[0].log(people.table_id)
    playing = asyncio.create_task(_play_through(people, seen, 40))
    await asyncio.sleep(0.1)
    site.part("table").kill()
    await site.start("table")
    await playing
    async with people.guests[0].watching(people.table_id, 0) as watcher:
        await watcher.reach(seen[-1][2])
    log = {update.command.command_id: (update.first_seq, update.last_seq) for update in watcher.updates}
    assert len(log) == len(watcher.updates)
    assert {command_id: (first, last) for command_id, first, last in seen}.items() <= log.items()
    assert watcher.frames[: len(before)] == before
    last = watcher.updates[-1].command
    again = await people.submit(last)
    assert (again.repeated, again.last_seq) == (True, watcher.updates[-1].last_seq)


async def test_play_time_goes_on_where_it_stood(site: LiveSite, visitors: Visitors) -> None:
    """What is left of a deadline after a crash of the table service (embedded: of everything) is no less than before
    but for the time in which the site could be played, and it is never given anew."""
    people = await visitors.people(2)
    async with people.guests[0].watching(people.table_id, 0) as watcher:
        deadline = (await watcher.update()).deadlines[0]
    loop = asyncio.get_running_loop()
    began_s, began_ms = loop.time(), await _play_time_ms(people.guests[0])
    site.part("table").kill()
    await asyncio.sleep(1.5)
    await site.start("table")
    after_ms = await _play_time_ms(people.guests[0])
    gone_ms = (loop.time() - began_s) * 1000
    # A reading runs ahead by a probe's period at most, and a clock that crashed too goes on from its last checkpoint,
    # all to the players' good; the pause of a second and a half is given back.
    back_ms = 1_500 if site.is_embedded else 400
    assert began_ms - back_ms <= after_ms <= began_ms + gone_ms - 1_000
    async with people.guests[0].watching(people.table_id) as watcher:
        snapshot = await watcher.snapshot()
    assert [item for item in snapshot.view.deadlines if item.deadline_id == deadline.deadline_id] == [deadline]
    await people.submit(people.command(snapshot.decision))


@pytest.mark.parametrize("site", ["distributed"], indirect=True)
@pytest.mark.parametrize("service", ["rules", "clock", "bots", "gateway"])
async def test_a_killed_service_comes_back(site: LiveSite, visitors: Visitors, service: str) -> None:
    """Each service alone: while it is away a command is refused in words or done, and afterwards all goes on."""
    people = await visitors.people(2)
    seen: list[tuple[str, int, int]] = []
    await _play_through(people, seen, 3)
    playing = asyncio.create_task(_play_through(people, seen, 10))
    site.part(service).kill()
    await asyncio.sleep(0.2)
    await site.start(service)
    await playing
    log = await people.guests[1].log(people.table_id)
    assert len(log) >= len(seen) + 1
    host, table_id = await visitors.bots(2)
    async with host.watching(table_id, 0) as watcher:
        while len(watcher.updates) < 20:
            await watcher.update()
