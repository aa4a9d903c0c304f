"""One ordered log for each game, in which the end of a deadline is an entry like a command; the rules read no clock."""

from __future__ import annotations

import ast
import asyncio
from itertools import pairwise
from pathlib import Path

import pytest
from magnate.game.v1 import command_pb2, event_pb2, update_pb2
from magnate.game.v1 import decision_pb2 as dec

from services.kit.errors import ServiceError
from tests.clock.virtual_time import now_ms
from tests.outages.conftest import Run
from tests.outages.games import Game, begin
from tests.outages.whole_site import GRACE_MS, WholeSite

RULES = Path(__file__).parents[2] / "services" / "rules"
MINUTE_MS = 60_000
#: modules of the standard library that tell the time, or wait for it
TELLS_TIME = {"time", "datetime", "asyncio", "sched", "signal", "threading", "select"}
EDITIONS = [pytest.param("metro", id="MET-TIME-12"), pytest.param("brands", id="BRA-TIME-14")]


def _is_whole(log: list[update_pb2.Update]) -> bool:
    """Whether the entries follow each other without a gap, and their readings of play time never fall."""
    follows = all(later.first_seq == before.last_seq + 1 for before, later in pairwise(log))
    rises = all(later.play_time_ms >= before.play_time_ms for before, later in pairwise(log))
    return log[0].first_seq == 1 and follows and rises


async def _refusal(game: Game, command: command_pb2.Command) -> str:
    try:
        await game.submit(command)
    except ServiceError as error:
        return error.reason
    return "done"


@pytest.mark.parametrize("edition", EDITIONS)
def test_an_expired_deadline_is_an_entry_like_a_command(run: Run, edition: str) -> None:
    """It stands in the log in its order, with its reading of play time and the id of the deadline; a command that
    quotes a decision closed by it is refused and changes nothing."""

    async def scenario(site: WholeSite) -> None:
        game = await begin(site, edition)
        for number in range(8):
            await asyncio.sleep(3)
            if number % 4:
                await game.play()
                continue
            last = await game.last()
            (deadline,) = last.deadlines
            await asyncio.sleep(deadline.budget_ms / 1000 + 2)
            log = await game.updates()
            (entry,) = [item for item in log if item.command.expire.deadline_id == deadline.deadline_id]
            assert entry.first_seq == last.last_seq + 1
            assert entry.play_time_ms >= deadline.opened_at_ms + deadline.budget_ms + GRACE_MS
            assert await _refusal(game, game.command(last.decision)) == "stale_decision"
            assert await game.updates() == log
        assert _is_whole(await game.updates())

    run(scenario)


@pytest.mark.parametrize("edition", EDITIONS)
def test_an_outage_loses_no_confirmed_move(run: Run, edition: str) -> None:
    """A command is confirmed only after its entry is stored: what was confirmed before a breakdown is in the log of the
    next process. What was not stored is not there, what was stored unheard is, and either is done once when sent again.
    """

    async def scenario(site: WholeSite) -> None:
        game = await begin(site, edition)
        confirmed: dict[str, int] = {}
        for part in ("store", "table", "rules"):
            for _ in range(3):
                command = game.command((await game.last()).decision)
                confirmed[command.command_id] = (await game.submit(command)).last_seq
            before = await game.updates()
            command = game.command(before[-1].decision)
            async with site.without(part):
                assert await _refusal(game, command) == "unreachable"
                await asyncio.sleep(5)
            assert await game.updates() == before
            done = await game.submit(command)
            assert (done.repeated, done.first_seq) == (False, before[-1].last_seq + 1)
            unheard = game.command((await game.last()).decision)
            with site.losing_answers("table"):
                assert await _refusal(game, unheard) == "unreachable"
            await site.restart("table", 5)
            again = await game.submit(unheard)
            assert (again.repeated, again.first_seq) == (True, done.last_seq + 1)
            confirmed |= {command.command_id: done.last_seq, unheard.command_id: again.last_seq}
        log = await game.updates()
        assert {item.command.command_id: item.last_seq for item in log if item.command.command_id} == confirmed
        assert _is_whole(log)

    run(scenario)


def test_the_rules_read_no_clock() -> None:
    """MET-TIME-13, BRA-TIME-15: nothing that decides or folds imports anything that tells the time."""
    found = []
    for path in [*(RULES / "domain").rglob("*.py"), *(RULES / "codec").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            found += [(path.name, name) for name in names if name.split(".")[0] in TELLS_TIME]
    assert len(list((RULES / "domain").rglob("*.py"))) > 20
    assert found == []


def test_without_the_clock_service_no_deadline_runs_out(run: Run) -> None:
    """MET-TIME-13: set by an event, watched by the clock service, and for the rules only an entry of the log: while
    there is no clock nothing ends, however late it is; event and entry name one deadline."""

    async def scenario(site: WholeSite) -> None:
        game = await begin(site, "metro")
        log = await game.updates()
        (deadline,) = log[-1].deadlines
        opened = [event.decision_opened.decision_id for event in log[-1].events if event.HasField("decision_opened")]
        assert opened == [log[-1].decision.decision_id]
        set_by = [event.deadline_set for event in log[-1].events if event.HasField("deadline_set")]
        assert [item.deadline.deadline_id for item in set_by] == [deadline.deadline_id]
        async with site.without("clock"):
            await asyncio.sleep(300)
            assert await game.updates() == log
        await asyncio.sleep(78)
        entry = (await game.updates())[len(log)]
        assert entry.command.expire.deadline_id == deadline.deadline_id

    run(scenario)


def test_votes_and_pauses_are_in_the_games_state(run: Run) -> None:
    """BRA-TIME-15, BRA-TIME-16: a vote is still there after every process was begun anew, and its time, outages not
    counted, ends by an entry of the log."""

    async def scenario(site: WholeSite) -> None:
        game = await begin(site, "brands")
        vote = await game.until(dec.DEADLINE_KIND_PAUSE_VOTE, "ask_pause")
        opened_ms = round(now_ms())
        for part in ("rules", "table", "gateway"):
            await site.restart(part, 20)
        await asyncio.sleep(3)
        assert vote in game.screen.deadlines
        await asyncio.sleep(30)
        assert await game.ended(vote) == 1
        late_ms = game.expired_ms(vote) - (opened_ms + 30_000 + GRACE_MS + 60_000)
        assert 0 <= late_ms <= 3 * 1_000
        assert _is_whole(await game.updates())

    run(scenario)


def test_a_pause_outlives_every_process(run: Run) -> None:
    """BRA-TIME-15: begun by the last yes, it is still there after every process was begun anew; when all are back and
    the countdown is over, the turn goes on with exactly what it had left."""

    async def scenario(site: WholeSite) -> None:
        game = await begin(site, "brands")
        await asyncio.sleep(20)
        (asker,) = (await game.last()).decision.seats
        await game.do(asker, ask_pause=command_pb2.AskPause())
        for seat in {0, 1, 2} - {asker}:
            await game.do(seat, vote_pause=command_pb2.VotePause(yes=True))
        paused = await game.last()
        assert [item.kind for item in paused.deadlines] == [dec.DEADLINE_KIND_PAUSE_MAX]
        for part in ("rules", "table", "gateway", "clock"):
            await site.restart(part, 10)
        await asyncio.sleep(60)
        assert await game.last() == paused
        for seat in range(3):
            await game.do(seat, confirm_return=command_pb2.ConfirmReturn())
        (countdown,) = (await game.last()).deadlines
        assert (countdown.kind, countdown.budget_ms) == (dec.DEADLINE_KIND_COUNTDOWN, 5_000)
        await asyncio.sleep(8)
        assert await game.ended(countdown) == 1
        (turn,) = (await game.last()).deadlines
        assert (turn.kind, turn.budget_ms) == (dec.DEADLINE_KIND_TURN, 75_000 - 20_000)

    run(scenario)


@pytest.mark.parametrize(
    ("edition", "overrides", "end_ms"),
    [
        pytest.param("brands", {"salary_end_minute": 2}, MINUTE_MS, id="BRA-TIME-11, BRA-TIME-15, BRA-TIME-16"),
        pytest.param("rent-tax", {}, 45 * MINUTE_MS, id="TAB-TIME-08", marks=pytest.mark.full),
    ],
)
def test_the_game_clock_stands_in_an_outage(run: Run, edition: str, overrides: dict[str, int], end_ms: int) -> None:
    """The salary ends with the game clock, and a breakdown as long as all its time does not bring the end on: who
    passes the start after the breakdown is paid until that time has been played."""

    async def scenario(site: WholeSite) -> None:
        game = await begin(site, edition, 2, **overrides)
        began_ms = (await game.last()).play_time_ms
        pace_s = end_ms / 60_000
        for number in range(90):
            await asyncio.sleep(pace_s)
            await game.play("decline")
            if number == 30:
                broken_ms = (await game.last()).play_time_ms - began_ms
                await site.restart("clock", end_ms / 1000)
        updates = await game.updates()
        paid_ms = [update.play_time_ms - began_ms for update in updates for event in update.events if _is_salary(event)]
        assert updates[-1].play_time_ms - began_ms > end_ms * 1.3
        assert broken_ms < end_ms * 0.6
        assert any(broken_ms < moment < end_ms for moment in paid_ms)
        assert max(paid_ms) < end_ms

    run(scenario, probe_period_ms=2_000, heartbeat_ms=10_000)


def test_the_agreed_time_stands_in_an_outage(run: Run) -> None:
    """TAB-TIME-08: a game of 30 minutes ends when they have been played, outages not counted."""

    async def scenario(site: WholeSite) -> None:
        game = await begin(site, "tabletop-timed", 2, time_limit_min=30)
        began_ms, number = (await game.last()).play_time_ms, 0
        while not (last := await game.last()).game_over:
            assert last.play_time_ms - began_ms < 35 * MINUTE_MS
            await asyncio.sleep(40)
            if not (await game.last()).game_over:
                await game.play("decline")
            number += 1
            if number == 10:
                await site.restart("clock", 17 * 60)
        assert 30 * MINUTE_MS <= last.play_time_ms - began_ms < 33 * MINUTE_MS

    run(scenario, probe_period_ms=2_000, heartbeat_ms=10_000)


def _is_salary(event: event_pb2.Event) -> bool:
    return event.money_moved.reason == event_pb2.MONEY_REASON_SALARY
