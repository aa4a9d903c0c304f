"""A game of people, played by clients through the gateway, in both modes."""

from __future__ import annotations

import asyncio
import random

import pytest
from magnate.game.v1 import command_pb2, decision_pb2
from magnate.gateway.v1 import gateway_service_pb2 as pb

from tests.support.site_clients import Guest, People, Visitors, Watcher, refusal
from tests.support.site_mirror import Mirror

RACED = {
    ("FAILED_PRECONDITION", "stale_decision"),
    ("PERMISSION_DENIED", "not_asked"),
    ("ABORTED", "version_race"),
}
COMMANDS = 230
DROPS = 100


async def _drop_and_resume(guest: Guest, table_id: str, drops: int, goal: asyncio.Future[int]) -> list[bytes]:
    """Reads a few updates, drops the connection, and goes on after the last one; at last without a drop."""
    draw = random.Random(41)
    frames: list[bytes] = []
    after_seq = 0
    for number in range(drops + 1):
        async with guest.watching(table_id, after_seq) as watcher:
            if number == drops:
                await watcher.reach(await goal)
            else:
                for _ in range(draw.randint(1, 3)):
                    await watcher.update()
            after_seq = watcher.updates[-1].last_seq
            frames += watcher.frames
    return frames


async def test_all_who_watch_see_one_sequence(visitors: Visitors) -> None:
    """Three seats play over 200 commands; two watchers get byte for byte the same, one that drops and resumes a
    hundred times too; a client that folds by itself has the hash of every update; a snapshot fits in."""
    people = await visitors.people(3)
    first, second, dropping = await visitors.guests(3)
    goal: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    resumed = asyncio.create_task(_drop_and_resume(dropping, people.table_id, DROPS, goal))
    async with (
        people.guests[0].watching(people.table_id, 0) as playing,
        first.watching(people.table_id, 0) as one,
        second.watching(people.table_id, 0) as two,
    ):
        await people.play(playing, COMMANDS)
        last_seq = playing.updates[-1].last_seq
        goal.set_result(last_seq)
        await one.reach(last_seq)
        await two.reach(last_seq)
    assert len(playing.frames) > 200
    assert one.frames == two.frames == playing.frames
    assert await resumed == one.frames
    mirror = Mirror("people")
    hashes = [mirror.take(update) for update in one.updates]
    assert hashes == [update.state_hash for update in one.updates]
    async with first.watching(people.table_id) as watcher:
        snapshot = await watcher.snapshot()
    assert (snapshot.seq, snapshot.state_hash) == (last_seq, hashes[-1])
    assert mirror.view() == snapshot.view
    fresh = Mirror("people")
    fresh.begin(snapshot)
    assert fresh.view() == snapshot.view


async def test_a_watch_with_a_number_ahead_of_the_log_ends(visitors: Visitors) -> None:
    """With seq_ahead, and the rest of the watch goes on."""
    people = await visitors.people(2)
    async with people.guests[0].watching(people.table_id, 10_000) as watcher:
        ended = await watcher.ended()
    assert (ended.table_id, ended.reason) == (people.table_id, "seq_ahead")


async def test_a_command_sent_again_is_done_once(visitors: Visitors) -> None:
    """The same id and body get the first answer, also much later; the same id with another body is refused."""
    people = await visitors.people(2)
    async with people.guests[0].watching(people.table_id, 0) as watcher:
        command = people.command((await watcher.update()).decision, command_id="mine")
        done = await people.submit(command)
        assert (done.first_seq, done.repeated) == (watcher.updates[0].last_seq + 1, False)
        again = [await people.submit(command) for _ in range(3)]
        await watcher.reach(done.last_seq)
        await people.play(watcher, 10)
        again.append(await people.submit(command))
        for answer in again:
            assert (answer.first_seq, answer.last_seq, answer.repeated) == (done.first_seq, done.last_seq, True)
        other = command_pb2.Command(command_id="mine", seat=command.seat, decision_id=command.decision_id + 1)
        other.roll.SetInParent()
        assert await refusal(people.submit(other)) == ("ALREADY_EXISTS", "command_id_reused")
    log = await people.guests[1].log(people.table_id)
    assert log == watcher.frames
    assert len(log) == 12


async def test_repeats_in_parallel_are_one_command(visitors: Visitors) -> None:
    """Twenty of one id at the same time: all are told the same numbers, one of them was not a repeat."""
    people = await visitors.people(2)
    command = people.command(await people.decision())
    answers = await asyncio.gather(*(people.submit(command) for _ in range(20)))
    assert len({(answer.first_seq, answer.last_seq) for answer in answers}) == 1
    assert [answer.repeated for answer in answers].count(False) == 1
    assert len(await people.guests[0].log(people.table_id)) == 2


async def test_of_twenty_parallel_commands_one_is_done(visitors: Visitors) -> None:
    """All for one decision, each with an id of its own: one done, nineteen typed answers, the log one longer."""
    people = await visitors.people(3)
    decision = await people.decision()
    before = await people.guests[0].log(people.table_id)
    commands = [people.command(decision) for _ in range(20)]
    answers = await asyncio.gather(*(refusal(people.submit(command)) for command in commands))
    assert answers.count(("OK", "")) == 1
    assert {answer for answer in answers if answer[0] != "OK"} <= RACED
    after = await people.guests[0].log(people.table_id)
    assert after[:-1] == before


async def test_a_race_for_every_decision_leaves_one_log(visitors: Visitors) -> None:
    """Three answers at once, twenty times over: one is done each time, and the log has no gap and no repeat."""
    people = await visitors.people(2)
    async with people.guests[0].watching(people.table_id, 0) as watcher:
        await watcher.update()
        for _ in range(20):
            decision = watcher.updates[-1].decision
            commands = [people.command(decision) for _ in range(3)]
            answers = await asyncio.gather(*(refusal(people.submit(command)) for command in commands))
            assert answers.count(("OK", "")) == 1
            await watcher.update()
        numbers = [number for update in watcher.updates for number in (update.first_seq, update.last_seq)]
    starts, ends = numbers[::2], numbers[1::2]
    assert starts == [1, *(last_seq + 1 for last_seq in ends[:-1])]


@pytest.mark.parametrize("seat", [0, 1])
async def test_what_is_not_listed_is_refused_and_changes_nothing(visitors: Visitors, seat: int) -> None:
    """The other's seat, the other's moment, a stale decision, an action that the decision does not list."""
    people = await visitors.people(2)
    decision = await people.decision()
    asked = decision.seats[0]
    before = await people.guests[0].log(people.table_id)
    other = 1 - asked
    roll = command_pb2.Command(command_id="x", seat=other, decision_id=decision.decision_id)
    roll.roll.SetInParent()
    assert await refusal(people.submit(roll)) == ("PERMISSION_DENIED", "not_asked")
    assert await refusal(people.submit(roll, guest=people.guests[asked])) == ("PERMISSION_DENIED", "not_your_seat")
    roll.seat = asked
    roll.decision_id += 1 + seat
    assert (await refusal(people.submit(roll)))[1] == "stale_decision"
    wrong = command_pb2.Command(command_id="x", seat=asked, decision_id=decision.decision_id)
    wrong.end_turn.SetInParent()
    assert await refusal(people.submit(wrong)) == ("FAILED_PRECONDITION", "wrong_decision")
    assert await people.guests[0].log(people.table_id) == before


def decline(decision: decision_pb2.Decision, command_id: str) -> command_pb2.Command:
    """The thriftiest answer to a decision of the first seat asked."""
    seat = decision.seats[0]
    legal = {action.WhichOneof("action") for action in decision.legal_actions if action.seat == seat}
    name = next(name for name in ("roll", "decline", "pass", "end_turn", "refuse_trade") if name in legal)
    command = command_pb2.Command(command_id=command_id, seat=seat, decision_id=decision.decision_id)
    getattr(command, name).SetInParent()
    return command


async def to_auction(people: People, watcher: Watcher) -> decision_pb2.Decision:
    """Plays until a declined deed is up for auction."""
    while True:
        decision = watcher.updates[-1].decision
        if decision.kind == decision_pb2.DECISION_KIND_AUCTION_BID:
            return decision
        done = await people.submit(decline(decision, f"d{decision.decision_id}"))
        await watcher.reach(done.last_seq)


async def test_deadlines_are_armed_and_count_down(visitors: Visitors) -> None:
    """Every decision of people has a budget of play time that runs; a lot keeps its deadline over askings."""
    people = await visitors.people(3)
    async with people.guests[0].watching(people.table_id, 0) as watcher:
        update = await watcher.update()
        turn = next(item for item in update.deadlines if item.deadline_id == update.decision.deadline_id)
        assert (turn.kind, turn.budget_ms) == (decision_pb2.DEADLINE_KIND_TURN, 300_000)
        assert turn.opened_at_ms == update.play_time_ms
        first = await to_auction(people, watcher)
        lot = [item for item in watcher.updates[-1].deadlines if item.kind == decision_pb2.DEADLINE_KIND_LOT]
        assert [item.budget_ms for item in lot] == [60_000]
        lefts = [await _left_ms(people, lot[0]) for _ in range(2)]
        done = await people.submit(decline(first, "pass-1"))
        after = (await watcher.reach(done.last_seq)).deadlines
        assert [item for item in after if item.kind == decision_pb2.DEADLINE_KIND_LOT] == lot
    assert 60_000 >= lefts[0] > lefts[1] > 0


async def _left_ms(people: People, deadline: decision_pb2.Deadline) -> int:
    """What is left of a deadline after the play time of the table's shard has advanced a little."""
    guest, question = people.guests[0], pb.SyncTimeRequest(table_id=people.table_id)
    async with asyncio.timeout(30):
        begun = (await guest.ask(question)).play_time_ms
        while True:
            now = await guest.ask(question)
            if now.running and now.play_time_ms > begun + 50:
                return int(deadline.opened_at_ms + deadline.budget_ms - now.play_time_ms)
            await asyncio.sleep(0.05)
