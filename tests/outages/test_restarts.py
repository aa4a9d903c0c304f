"""Deadlines outlive every part of the site, passes and reloads; each ends once, whoever says so."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest
from magnate.game.v1 import decision_pb2 as dec
from magnate.game.v1 import event_pb2
from magnate.gateway.v1 import gateway_service_pb2 as pb
from magnate.table.v1 import table_pb2

from tests.clock.virtual_time import now_ms
from tests.outages.conftest import Run
from tests.outages.games import begin
from tests.outages.whole_site import GRACE_MS, PERIOD_MS, WholeSite

PUNCTUAL_MS = 200
AWAY_S = 3
# So much of a checkpoint's interval a clock that is killed gives the players, and as long may it take to be back.
CHECKPOINT_MS = 1_000


@pytest.mark.parametrize("part", ["rules", "table", "gateway", "clock"])
def test_deadlines_outlive_every_process(run: Run, part: str) -> None:
    """IND-TIME-20, IND-TIME-10: each process is killed and begun anew in the middle of a turn and of a lot: kind and id
    stay, what is left stays, every screen shows the same, and the lot ends once and in time."""

    async def scenario(site: WholeSite) -> None:
        games = [await begin(site, "industry", seed=seed) for seed in (1, 2)]
        kinds = (dec.DEADLINE_KIND_TURN, dec.DEADLINE_KIND_LOT)
        deadlines = [await game.until(kind, "decline") for game, kind in zip(games, kinds, strict=True)]
        opened_ms = round(now_ms())
        await asyncio.sleep(20.4)
        before_ms = [game.screen.left_ms() for game in games]
        await site.restart(part, AWAY_S)
        await asyncio.sleep(2)
        for game, deadline, left_ms in zip(games, deadlines, before_ms, strict=True):
            assert list(game.screen.deadlines) == [deadline]
            anew = game.guests[1].open(game.table_id)
            await asyncio.sleep(0.2)
            assert anew.deadlines == [deadline]
            assert abs(anew.left_ms() - game.screen.left_ms()) <= PERIOD_MS
            passed_ms = 2_000 + 200 * (1 + games.index(game))
            gained_ms = game.screen.left_ms() - (left_ms - passed_ms)
            assert -50 <= gained_ms <= CHECKPOINT_MS + 2 * PERIOD_MS
        await asyncio.sleep(40)
        assert [await game.ended(deadline) for game, deadline in zip(games, deadlines, strict=True)] == [0, 1]
        late_ms = games[1].expired_ms(deadlines[1]) - (opened_ms + 60_000 + GRACE_MS + AWAY_S * 1000)
        assert 0 <= late_ms <= CHECKPOINT_MS + 2 * PERIOD_MS + PUNCTUAL_MS

    run(scenario)


def test_a_lots_deadline_survives_passes_and_reloads(run: Run) -> None:
    """IND-TIME-08, IND-TIME-10, IND-TIME-13: two pass, a page is loaded anew, table and clock are begun anew: the
    lot is cancelled at sixty seconds of play time, though the third has hardly been asked."""

    async def scenario(site: WholeSite) -> None:
        game = await begin(site, "industry", 4)
        lot = await game.until(dec.DEADLINE_KIND_LOT, "decline")
        opened_ms = round(now_ms())
        for seconds in (15, 25):
            await asyncio.sleep(seconds)
            await game.play("pass")
            last = await game.last()
            assert (last.decision.kind, list(last.deadlines)) == (dec.DECISION_KIND_AUCTION_BID, [lot])
        reloaded = game.guests[3].open(game.table_id)
        for part in ("table", "clock"):
            await site.restart(part, AWAY_S)
        await asyncio.sleep(1.5)
        assert reloaded.deadlines == [lot]
        assert 17_000 <= reloaded.left_ms() <= 20_000 + CHECKPOINT_MS
        await asyncio.sleep(20 + CHECKPOINT_MS / 1000)
        assert await game.ended(lot) == 1
        late_ms = game.expired_ms(lot) - (opened_ms + 60_000 + GRACE_MS + 2 * AWAY_S * 1000)
        assert 0 <= late_ms <= CHECKPOINT_MS + 4 * PERIOD_MS + PUNCTUAL_MS
        events = [event for update in await game.updates() for event in update.events]
        closed = [event.auction_closed for event in events if event.HasField("auction_closed")]
        assert [item.outcome for item in closed] == [event_pb2.AUCTION_OUTCOME_CANCELLED]

    run(scenario)


def test_the_first_bid_ends_the_lots_deadline(run: Run) -> None:
    """IND-TIME-09: it never fires, also not after the clock was begun anew; the next asked has 60 s of his own."""

    async def scenario(site: WholeSite) -> None:
        game = await begin(site, "industry")
        lot = await game.until(dec.DEADLINE_KIND_LOT, "decline")
        await asyncio.sleep(50)
        bid = await game.until(dec.DEADLINE_KIND_BID, "bid")
        asked_ms = round(now_ms())
        assert [item.deadline_id for item in (await game.last()).deadlines] == [bid.deadline_id]
        assert bid.deadline_id != lot.deadline_id
        await site.restart("clock", AWAY_S)
        await asyncio.sleep(62 + CHECKPOINT_MS / 1000)
        assert await game.ended(lot) == 0
        assert await game.ended(bid) == 1
        least_ms = asked_ms + 60_000 + GRACE_MS + AWAY_S * 1000
        assert least_ms <= game.expired_ms(bid) <= least_ms + CHECKPOINT_MS + 2 * PERIOD_MS + PUNCTUAL_MS

    run(scenario)


def test_two_clocks_end_a_deadline_once(run: Run) -> None:
    """IND-TIME-16: two clocks that know nothing of each other both say that time is up; the log has it once."""

    async def scenario(site: WholeSite) -> None:
        await site.begin_clock("another")
        games = [await begin(site, "metro", seed=seed) for seed in range(5)]
        deadlines = [(await game.last()).deadlines[0] for game in games]
        await asyncio.sleep(77)
        for game, deadline in zip(games, deadlines, strict=True):
            assert await game.ended(deadline) == 1

    run(scenario)


def test_no_clock_is_touched(run: Run, tmp_path: Path) -> None:
    """MET-TIME-14: an outage gives its time back though nothing of any table is written."""

    def rows() -> list[object]:
        with sqlite3.connect(tmp_path / "tables.db") as database:
            names = ("games", "game_log", "game_snapshots")
            return [row for name in names for row in database.execute(f"SELECT * FROM {name}")]

    async def scenario(site: WholeSite) -> None:
        games = [await begin(site, "metro", seed=seed) for seed in range(3)]
        await asyncio.sleep(30)
        before = rows()
        assert len(before) >= 6
        await site.restart("rules", 120)
        await asyncio.sleep(2)
        assert rows() == before
        for game in games:
            assert game.screen.left_ms() >= 75_000 - 30_000 - 2_000 - 50

    run(scenario)


def test_an_outage_does_not_keep_a_lobby_open(run: Run) -> None:
    """IND-TIME-17: what has its life in real time, such as the link to a lobby, is not extended."""

    async def scenario(site: WholeSite) -> None:
        host = await site.guest()
        wish = table_pb2.TableSettings(edition="industry", seats=3)
        table = (await host.ask(pb.CreateTableRequest(settings=wish, command_id="lobby"))).table
        screen = host.open(table.table_id)
        await asyncio.sleep(20)
        assert screen.table.status == table_pb2.TABLE_STATUS_LOBBY
        await site.restart("rules", 40)
        await asyncio.sleep(10)
        assert screen.table.status == table_pb2.TABLE_STATUS_EXPIRED

    run(scenario, lobby_ttl_ms=60_000)
