"""A table of one person against bots: only the lot has a deadline, and it runs on while the page is closed."""

from __future__ import annotations

import asyncio

from magnate.admin.v1 import admin_service_pb2 as admin_pb
from magnate.game.v1 import decision_pb2 as dec
from magnate.gateway.v1 import gateway_service_pb2 as pb

from tests.clock.virtual_time import now_ms
from tests.outages.conftest import Run
from tests.outages.games import Game, begin
from tests.outages.whole_site import GRACE_MS, PERIOD_MS, WholeSite

PUNCTUAL_MS = 200


async def _lot(site: WholeSite) -> tuple[Game, dec.Deadline, int]:
    """A lot without a bid for which the person is asked first, and the moment at which it opened."""
    for seed in range(40):
        game = await begin(site, "industry", 1, bots=1, seed=seed)
        for _ in range(2):
            if (await game.last()).decision.seats == [0]:
                await game.play("decline")
        last = await game.last()
        if last.decision.kind == dec.DECISION_KIND_AUCTION_BID and last.decision.seats == [0]:
            (lot,) = last.deadlines
            assert (lot.kind, lot.budget_ms) == (dec.DEADLINE_KIND_LOT, 60_000)
            return game, lot, round(now_ms())
    raise AssertionError("the person was never asked for a bid")


def test_a_lot_runs_on_while_the_page_is_closed(run: Run) -> None:
    """IND-TIME-19, IND-TIME-10: reopened before its sixty seconds the page shows what is left of the first sixty;
    reopened after them, the auction has been cancelled."""

    async def scenario(site: WholeSite) -> None:
        game, lot, opened_ms = await _lot(site)
        game.screen.close()
        await asyncio.sleep(40)
        reopened = game.guests[0].open(game.table_id)
        await asyncio.sleep(2)
        assert reopened.deadlines == [lot]
        assert 18_000 - 50 <= reopened.left_ms() <= 18_000 + PERIOD_MS
        reopened.close()
        await asyncio.sleep(20)
        assert await game.ended(lot) == 1
        late_ms = game.expired_ms(lot) - (opened_ms + 60_000 + GRACE_MS)
        assert 0 <= late_ms <= PUNCTUAL_MS
        later = game.guests[0].open(game.table_id)
        await asyncio.sleep(1)
        assert lot.deadline_id not in [item.deadline_id for item in later.deadlines]

    run(scenario)


def test_a_pause_for_a_transfer_stops_the_lot(run: Run) -> None:
    """IND-TIME-19: it stands still with the game, also over an outage and a restart of the clock in the pause, and goes
    on with the rest; every screen shows that rest."""

    async def scenario(site: WholeSite) -> None:
        game, lot, opened_ms = await _lot(site)
        await asyncio.sleep(25)
        await game.guests[0].ask(pb.PauseTableRequest(table_id=game.table_id))
        await asyncio.sleep(30)
        await site.restart("rules", 20)
        await site.restart("clock", 10)
        await asyncio.sleep(40)
        assert await game.ended(lot) == 0
        await game.guests[0].ask(pb.ResumeTableRequest(table_id=game.table_id))
        await asyncio.sleep(2)
        anew = game.guests[0].open(game.table_id)
        await asyncio.sleep(2)
        for screen in (game.screen, anew):
            assert [item.deadline_id for item in screen.deadlines] == [lot.deadline_id]
            assert 31_000 - 50 <= screen.left_ms() <= 31_000 + 2 * PERIOD_MS
        # A clock that was begun anew in the pause hears of the deadline when the game goes on.
        await asyncio.sleep(32)
        assert await game.ended(lot) == 1
        played_ms = game.expired_ms(lot) - opened_ms - (30 + 20 + 10 + 40) * 1000
        assert 0 <= played_ms - (60_000 + GRACE_MS) <= PUNCTUAL_MS

    run(scenario)


def test_a_stop_by_an_operator_costs_nobody_his_turn(run: Run) -> None:
    """Given a table that is stopped twice for longer than a turn, then after the release the turn has what was left
    and ends in time, and so does the next one."""

    async def scenario(site: WholeSite) -> None:
        game = await begin(site, "metro", 2)
        (turn,) = (await game.last()).deadlines
        opened_ms = round(now_ms())
        for _ in range(2):
            await asyncio.sleep(10)
            await site.operate(admin_pb.StopTableRequest(table_id=game.table_id, reason="a look"))
            await asyncio.sleep(300)
            await site.operate(admin_pb.ReleaseTableRequest(table_id=game.table_id, reason="it is well"))
        await asyncio.sleep((turn.budget_ms + GRACE_MS) / 1000 - 20 + 1)
        assert await game.ended(turn) == 1
        assert 0 <= game.expired_ms(turn) - opened_ms - 600_000 - turn.budget_ms - GRACE_MS <= PUNCTUAL_MS
        (later,) = (await game.last()).deadlines
        opened_ms = game.expired_ms(turn)
        await asyncio.sleep((later.budget_ms + GRACE_MS) / 1000 + 1)
        assert 0 <= game.expired_ms(later) - opened_ms - later.budget_ms - GRACE_MS <= PUNCTUAL_MS

    run(scenario)
