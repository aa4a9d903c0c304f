"""More than the tables can do, in both modes: some are refused with a time to wait, and whoever waits is served."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from magnate.game.v1 import command_pb2

from services.kit.errors import ServiceError
from tests.support.site_clients import People, Visitors
from tests.support.sites import LiveSite

_GAMES = 24
_ROUNDS = 12


@pytest.fixture
async def strict_site(site: LiveSite) -> AsyncIterator[LiveSite]:
    """The site with tables that let in few as soon as answers take half a millisecond; its gateways let in all."""
    await _restart(site, MAGNATE_TABLE_SUBMIT_TARGET_MS="1")
    yield site
    await _restart(site)


async def _restart(site: LiveSite, **changes: str) -> None:
    site.part("table").end()
    await site.start("table", **changes)


async def test_the_tables_refuse_what_would_wait_and_serve_it_later(strict_site: LiveSite) -> None:
    """Each refusal is RESOURCE_EXHAUSTED `overloaded` with a delay, whichever way the command came; the same command is
    done once when it comes again, and when there are few nobody is refused."""
    visitors = Visitors(strict_site)
    games = [await visitors.people(2, seats=2) for _ in range(_GAMES)]
    waits_ms: list[int] = []
    async with asyncio.timeout(120):
        done = await asyncio.gather(*(_play(people, waits_ms) for people in games))
        before = len(waits_ms)
        await asyncio.sleep(1)
        alone = await _play(games[0], waits_ms)
    await visitors.close()
    assert before > 0
    assert len(waits_ms) == before
    assert all(50 <= wait_ms <= 7_500 for wait_ms in waits_ms)
    for commands in (*done, alone):
        assert len(set(commands)) == _ROUNDS


async def _play(people: People, waits_ms: list[int]) -> list[tuple[int, int]]:
    """Some commands, each until it is done: the numbers of what they did."""
    return [await _insist(people, people.command(await people.decision()), waits_ms) for _ in range(_ROUNDS)]


async def _insist(people: People, command: command_pb2.Command, waits_ms: list[int]) -> tuple[int, int]:
    while True:
        try:
            done = await people.submit(command)
        except ServiceError as error:
            if (error.code.name, error.reason) != ("RESOURCE_EXHAUSTED", "overloaded"):
                raise
            waits_ms.append(error.retry_after_ms or 0)
            await asyncio.sleep(waits_ms[-1] / 1000)
        else:
            return done.first_seq, done.last_seq
