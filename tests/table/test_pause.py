"""A table of one person against bots stands still for a transfer, and goes on where it stood."""

from __future__ import annotations

from magnate.game.v1 import decision_pb2, update_pb2
from magnate.table.v1 import table_service_pb2 as pb

from tests.support.site_of_tables import Tables, open_tables, refusal

HOUR_MS = 3_600_000


async def _solo(tables: Tables, bots: int = 1) -> tuple[str, str]:
    """A running game of one person, who is seat 0, against bots: the table's id and the person's token."""
    token = await tables.session()
    table_id = (await tables.table(token, seats=bots + 1)).table.table_id
    await tables.client.AddBots(pb.AddBotsRequest(session_token=token, table_id=table_id, count=bots))
    await tables.client.StartGame(pb.StartGameRequest(session_token=token, table_id=table_id))
    return table_id, token


async def _pause(tables: Tables, token: str, table_id: str) -> pb.PauseTableResponse:
    answer: pb.PauseTableResponse = await tables.client.PauseTable(
        pb.PauseTableRequest(session_token=token, table_id=table_id)
    )
    return answer


async def _resume(tables: Tables, token: str, table_id: str) -> pb.ResumeTableResponse:
    answer: pb.ResumeTableResponse = await tables.client.ResumeTable(
        pb.ResumeTableRequest(session_token=token, table_id=table_id)
    )
    return answer


async def _until(tables: Tables, table_id: str, token: str, *, asked: int) -> update_pb2.Update:
    """Plays on until this seat is asked."""
    number = 0
    while asked not in (last := await tables.last(table_id)).decision.seats:
        await tables.play(table_id, [token, ""], 1, f"until-{number}")
        number += 1
    return last


async def _until_lot(tables: Tables, table_id: str, token: str) -> decision_pb2.Deadline:
    """Plays on until a deed is up for auction; the deadline of its lot."""
    for number in range(200):
        for deadline in (await tables.last(table_id)).deadlines:
            if deadline.kind == decision_pb2.DEADLINE_KIND_LOT:
                return deadline
        await tables.play(table_id, [token, ""], 1, f"lot-{number}")
    raise AssertionError("nothing came to auction")


async def _expire(tables: Tables, table_id: str, deadline: decision_pb2.Deadline) -> str:
    return await refusal(
        tables.client.ExpireDeadline(pb.ExpireDeadlineRequest(table_id=table_id, deadline_id=deadline.deadline_id))
    )


async def test_while_paused_nobody_acts(tables: Tables) -> None:
    """IND-PHASE-11: neither the person nor a bot nor the clock gets anything done; what was done is still answered."""
    table_id, token = await _solo(tables)
    for seat in (0, 1):
        await _until(tables, table_id, token, asked=seat)
        done = await tables.next_command(table_id, f"done-{seat}")
        first = await tables.submit("" if seat else token, table_id, done)
        before = await tables.updates(table_id)
        assert (await _pause(tables, token, table_id)).table.paused
        for number, by in enumerate(("", token)):
            command = await tables.next_command(table_id, f"paused-{seat}-{number}")
            command.seat = 1 - number
            assert await refusal(tables.submit(by, table_id, command)) == "table_paused"
        again = await tables.submit("" if seat else token, table_id, done)
        assert (again.repeated, again.last_seq) == (True, first.last_seq)
        assert await tables.updates(table_id) == before
        resumed = (await _resume(tables, token, table_id)).table
        assert (resumed.paused, resumed.held_ms) == (False, 0)
        await tables.play(table_id, [token, ""], 1, f"after-{seat}")


async def test_deadlines_keep_what_is_left(tables: Tables) -> None:
    """IND-PHASE-11: no timeout takes effect in a pause, and afterwards a lot has as long as it had."""
    table_id, token = await _solo(tables)
    lot = await _until_lot(tables, table_id, token)
    tables.clock.pass_ms(20_000)
    await _pause(tables, token, table_id)
    assert (await tables.client.ListDeadlines(pb.ListDeadlinesRequest())).tables == []
    tables.clock.pass_ms(HOUR_MS)
    assert await _expire(tables, table_id, lot) == "table_paused"
    snapshot = (await tables.client.GetSnapshot(pb.GetSnapshotRequest(table_id=table_id))).snapshot
    assert snapshot.play_time_ms == lot.opened_at_ms + 20_000
    assert (await _resume(tables, token, table_id)).table.held_ms == HOUR_MS
    listed = (await tables.client.ListDeadlines(pb.ListDeadlinesRequest())).tables[0].deadlines
    moments = {item.deadline_id: item.opened_at_ms for item in listed}
    assert moments[lot.deadline_id] == lot.opened_at_ms + HOUR_MS
    tables.clock.pass_ms(40_499)
    assert await _expire(tables, table_id, lot) == "not_due"
    tables.clock.pass_ms(1)
    assert await _expire(tables, table_id, lot) == "done"
    assert (await tables.last(table_id)).play_time_ms == lot.opened_at_ms + 60_500


async def test_bots_stand_still_and_are_asked_again(tables: Tables) -> None:
    """IND-PHASE-11: in a pause no bot is asked or played, however long it lasts; afterwards it is asked at once."""
    await tables.listen()
    table_id, token = await _solo(tables)
    await _until(tables, table_id, token, asked=1)
    await _pause(tables, token, table_id)
    await tables.settle()
    heard = len(tables.heard)
    before = await tables.updates(table_id)
    bots, commands = tables.application.bots, tables.application.commands
    for _ in range(10):
        tables.clock.pass_ms(10_000)
        await bots.scan()
        await bots.play_due(commands)
    await tables.settle()
    assert len(tables.heard) == heard
    assert (await tables.client.ListBotTurns(pb.ListBotTurnsRequest())).turns == []
    await _resume(tables, token, table_id)
    await tables.settle()
    turns = [message.bot_turn for message in tables.heard[heard:] if message.HasField("bot_turn")]
    assert [(turn.seat, turn.seq) for turn in turns] == [(1, before[-1].last_seq)]
    for _ in range(2):
        tables.clock.pass_ms(2_500)
        await bots.play_due(commands)
    assert len(await tables.updates(table_id)) == len(before) + 1


async def test_another_replica_keeps_to_the_pause(store_url: str) -> None:
    """IND-PHASE-11: also one that has the table in its memory from before."""
    one, other = await open_tables(store_url), await open_tables(store_url)
    table_id, token = await _solo(one)
    await _until(other, table_id, token, asked=0)
    await _pause(one, token, table_id)
    command = await other.next_command(table_id, "there")
    assert await refusal(other.submit(token, table_id, command)) == "table_paused"
    await _resume(one, token, table_id)
    assert await refusal(other.submit(token, table_id, command)) == "done"
    await other.close()
    await one.close()


async def test_only_the_person_of_a_solo_table_may_pause_it(tables: Tables) -> None:
    """IND-PHASE-11: and only once it runs; a second pause or resumption changes nothing."""
    table_id, token = await _solo(tables)
    stranger = await tables.session("Stranger")
    people, tokens = await tables.running(2)
    bots, host = await tables.running_bots()
    lobby = (await tables.table(token)).table.table_id
    for call in (_pause, _resume):
        assert await refusal(call(tables, stranger, table_id)) == "not_your_seat"
        assert await refusal(call(tables, tokens[0], people)) == "not_allowed"
        assert await refusal(call(tables, host, bots)) == "not_your_seat"
        assert await refusal(call(tables, token, lobby)) == "not_started"
        assert await refusal(call(tables, token, "no-such-table")) == "no_table"
        assert await refusal(call(tables, "nobody", table_id)) == "no_session"
    first = (await _pause(tables, token, table_id)).table
    assert (await _pause(tables, token, table_id)).table == first
    resumed = (await _resume(tables, token, table_id)).table
    assert (await _resume(tables, token, table_id)).table == resumed
    tables.clock.play = None
    assert await refusal(_pause(tables, token, table_id)) == "unreachable"


async def test_a_paused_seat_is_taken_over(tables: Tables) -> None:
    """IND-PHASE-11: the pause is for the transfer: the new holder takes the seat and goes on."""
    token, heir = await tables.session(), await tables.session("Heir")
    created = await tables.table(token, seats=2)
    table_id = created.table.table_id
    await tables.client.AddBots(pb.AddBotsRequest(session_token=token, table_id=table_id, count=1))
    await tables.client.StartGame(pb.StartGameRequest(session_token=token, table_id=table_id))
    await _pause(tables, token, table_id)
    await tables.client.ReclaimSeat(
        pb.ReclaimSeatRequest(session_token=heir, table_id=table_id, seat=0, seat_secret=created.seat_secret)
    )
    assert await refusal(_resume(tables, token, table_id)) == "not_your_seat"
    assert not (await _resume(tables, heir, table_id)).table.paused
    await tables.play(table_id, [heir, ""], 1)
