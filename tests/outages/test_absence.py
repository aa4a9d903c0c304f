"""One player's lost connection is no outage: his time runs as always, and his seat stays his."""

from __future__ import annotations

import asyncio

import pytest
from magnate.game.v1 import decision_pb2 as dec
from magnate.gateway.v1 import gateway_service_pb2 as pb

from tests.clock.virtual_time import now_ms
from tests.outages.conftest import Run
from tests.outages.games import begin
from tests.outages.whole_site import GRACE_MS, PERIOD_MS, WholeSite

PUNCTUAL_MS = 200
HEARTBEATS_MS = 2_500


@pytest.mark.parametrize(
    ("edition", "budget_ms"),
    [
        pytest.param("industry", 300_000, id="IND-TIME-11, IND-TIME-18"),
        pytest.param("metro", 75_000, id="MET-TIME-16"),
        pytest.param("brands", 75_000, id="BRA-TIME-17"),
        pytest.param("tabletop", 90_000, id="TAB-TIME-08"),
    ],
)
def test_time_runs_on_for_who_is_away(run: Run, edition: str, budget_ms: int) -> None:
    """The asked player's tab is closed from the first second to the last: nothing is given back, his deadline ends
    after its budget, and the others go on."""

    async def scenario(site: WholeSite) -> None:
        game = await begin(site, edition)
        (deadline,) = (await game.last()).deadlines
        opened_ms = round(now_ms())
        assert (deadline.kind, deadline.budget_ms) == (dec.DEADLINE_KIND_TURN, budget_ms)
        decision_id, (asked,) = (await game.last()).decision.decision_id, (await game.last()).decision.seats
        other = game.guests[(asked + 1) % 3]
        game.screen.close()
        stayed = other.open(game.table_id)
        await asyncio.sleep(budget_ms / 1000 - 1)
        assert stayed.running
        assert 1_000 - PERIOD_MS <= stayed.left_ms() <= 1_000 + PERIOD_MS
        await asyncio.sleep(2)
        assert await game.ended(deadline) == 1
        at_ms = game.expired_ms(deadline) - opened_ms
        assert budget_ms + GRACE_MS <= at_ms <= budget_ms + GRACE_MS + PUNCTUAL_MS
        assert (await other.ask(pb.SyncTimeRequest(table_id=game.table_id))).given_back_ms == 0
        assert (await game.last()).decision.decision_id > decision_id

    run(scenario)


@pytest.mark.parametrize(
    "edition",
    [
        pytest.param("industry", id="IND-TIME-11, IND-TIME-18, IND-TIME-20"),
        pytest.param("metro", id="MET-TIME-16"),
        pytest.param("brands", id="BRA-TIME-17"),
        pytest.param("tabletop", id="TAB-TIME-08"),
    ],
)
def test_who_comes_back_in_time_finds_what_is_left(run: Run, edition: str) -> None:
    """The asked player's connection breaks for 40 seconds: afterwards he is shown what the others are shown, by the
    screen that resumes and by a new one, nothing was given back, and his seat takes his command."""

    async def scenario(site: WholeSite) -> None:
        game = await begin(site, edition)
        last = await game.last()
        opened_ms, (asked,) = round(now_ms()), last.decision.seats
        his, others = game.guests[asked].open(game.table_id), game.guests[(asked + 1) % 3].open(game.table_id)
        await asyncio.sleep(10)
        his.cut(40)
        await asyncio.sleep(40.5)
        assert others.running
        anew = game.guests[asked].open(game.table_id)
        await asyncio.sleep(HEARTBEATS_MS / 1000)
        left_ms = last.deadlines[0].budget_ms - (round(now_ms()) - opened_ms)
        shown = [screen.left_ms() for screen in (others, his, anew)]
        assert max(shown) - min(shown) <= 20
        assert left_ms <= shown[0] <= left_ms + PERIOD_MS
        assert list(his.deadlines) == list(anew.deadlines) == list(last.deadlines)
        assert (await game.guests[asked].ask(pb.SyncTimeRequest())).given_back_ms == 0
        assert [seat.session_id for seat in others.table.seats] == [seat.session_id for seat in his.table.seats]
        done = await game.play()
        assert done.first_seq == last.last_seq + 1

    run(scenario)
