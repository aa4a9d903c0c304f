"""Outages of a part on the way of a command: each deadline has afterwards what it had left, none runs out."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

import pytest
from magnate.game.v1 import decision_pb2 as dec

from tests.clock.virtual_time import now_ms
from tests.outages.conftest import Run
from tests.outages.games import Game, begin
from tests.outages.whole_site import GRACE_MS, PARTS, PERIOD_MS, WholeSite

OUTAGE_MS = 90_000
PUNCTUAL_MS = 200
# What those that lost a part may rest before they try again: so much later the first command goes through.
BACK_MS = 500
# By then every gateway hears the clock again, and every screen has had a heartbeat.
AFTER_MS = 5_000


class Wanted(NamedTuple):
    """A deadline to be met in a game, its budget, and what the seats like to do until it comes."""

    edition: str
    kind: dec.DeadlineKind.ValueType
    budget_ms: int
    wishes: tuple[str, ...] = ()


class Met(NamedTuple):
    """A deadline that was met, and what its countdown showed just before the outage."""

    wanted: Wanted
    game: Game
    deadline: dec.Deadline
    opened_ms: int


SHORT = (
    Wanted("industry", dec.DEADLINE_KIND_LOT, 60_000, ("decline",)),
    Wanted("metro", dec.DEADLINE_KIND_ANSWER, 30_000, ("offer_trade",)),
    Wanted("brands", dec.DEADLINE_KIND_PAUSE_VOTE, 30_000, ("ask_pause",)),
    Wanted("tabletop", dec.DEADLINE_KIND_BID, 30_000, ("decline",)),
)
ALL = (
    *SHORT,
    Wanted("industry", dec.DEADLINE_KIND_TURN, 300_000),
    Wanted("industry", dec.DEADLINE_KIND_BID, 60_000, ("bid", "decline")),
    Wanted("industry", dec.DEADLINE_KIND_ANSWER, 60_000, ("offer_trade",)),
    Wanted("metro", dec.DEADLINE_KIND_TURN, 75_000),
    Wanted("metro-speed", dec.DEADLINE_KIND_TURN, 45_000),
    Wanted("brands", dec.DEADLINE_KIND_TURN, 75_000),
    Wanted("brands", dec.DEADLINE_KIND_BID, 20_000, ("decline",)),
    Wanted("tabletop", dec.DEADLINE_KIND_TURN, 90_000),
    Wanted("tabletop", dec.DEADLINE_KIND_ANSWER, 30_000, ("offer_trade",)),
    Wanted("online-classic", dec.DEADLINE_KIND_TURN, 90_000),
)


async def _meet(site: WholeSite, wanted: Wanted) -> Met:
    game = await begin(site, wanted.edition)
    deadline = await game.until(wanted.kind, *wanted.wishes)
    assert deadline.budget_ms == wanted.budget_ms
    return Met(wanted, game, deadline, round(now_ms()))


async def _through_an_outage(site: WholeSite, wishes: tuple[Wanted, ...], part: str) -> None:
    """Deadlines open, some seconds pass, a part is away for longer than most of them last, and the rest passes."""
    met = [await _meet(site, wanted) for wanted in wishes]
    await asyncio.sleep(9)
    before = [await item.game.last() for item in met]
    before_ms = [item.game.screen.left_ms(item.wanted.kind) for item in met]
    await site.restart(part, OUTAGE_MS / 1000)
    await asyncio.sleep(AFTER_MS / 1000)
    assert site.expired == []
    for item, last, left_ms in zip(met, before, before_ms, strict=True):
        assert await item.game.last() == last, "something happened in the outage"
        # At most the wait for the first try and two periods are given back too much.
        after_ms = item.game.screen.left_ms(item.wanted.kind)
        assert left_ms - AFTER_MS - 50 <= after_ms <= left_ms - AFTER_MS + BACK_MS + 2 * PERIOD_MS
    await asyncio.sleep(max(item.wanted.budget_ms for item in met) / 1000)
    for item in met:
        assert await item.game.ended(item.deadline) == 1
        least_ms = item.opened_ms + item.wanted.budget_ms + GRACE_MS + OUTAGE_MS
        at_ms = item.game.expired_ms(item.deadline)
        assert least_ms <= at_ms <= least_ms + BACK_MS + 2 * PERIOD_MS + PUNCTUAL_MS


@pytest.mark.parametrize("part", PARTS)
def test_whatever_part_was_away_the_time_comes_back(run: Run, part: str) -> None:
    """IND-TIME-04, IND-TIME-17, MET-TIME-14, MET-TIME-15, BRA-TIME-16, TAB-TIME-08: an outage is whatever keeps
    commands from being taken; each clock that ran has afterwards what it had left, and nothing happens meanwhile."""

    async def scenario(site: WholeSite) -> None:
        await _through_an_outage(site, SHORT, part)

    run(scenario)


def test_every_kind_of_deadline_stands_still(run: Run) -> None:
    """IND-TIME-04, IND-TIME-17, MET-TIME-14, BRA-TIME-16, TAB-TIME-08: turns, payments, lots, bids, offers, votes."""

    async def scenario(site: WholeSite) -> None:
        await _through_an_outage(site, ALL, "table")

    run(scenario)
