"""What may be read: updates, the view, the file, deadlines, turns of bots."""

from __future__ import annotations

import json

from google.protobuf.json_format import ParseDict
from magnate.game.v1 import event_pb2, update_pb2
from magnate.rules.v1 import rules_service_pb2 as rules_pb
from magnate.table.v1 import table_pb2
from magnate.table.v1 import table_service_pb2 as pb

from services.kit.calls import LocalClient
from services.rules.main import DESCRIPTOR as RULES
from services.rules.main import build_handler
from services.rules.settings import RulesSettings
from tests.support.site_of_tables import Tables, refusal


async def _export(tables: Tables, token: str, table_id: str) -> list[dict[str, object]]:
    text = b""
    request = pb.ExportTableRequest(session_token=token, table_id=table_id)
    async with tables.client.ExportTable(request) as pieces:
        async for piece in pieces:
            text += piece.piece
    return [json.loads(line) for line in text.splitlines()]


async def _give_up(tables: Tables, table_id: str) -> None:
    """Ends a game of two: the clock runs out on whoever is asked."""
    while not (update := await tables.last(table_id)).game_over:
        deadline = update.deadlines[0]
        tables.clock.play = deadline.opened_at_ms + deadline.budget_ms + 500
        request = pb.ExpireDeadlineRequest(table_id=table_id, deadline_id=deadline.deadline_id)
        await tables.client.ExpireDeadline(request)


async def test_updates_are_read_after_any_number_without_gap_or_repeat(tables: Tables) -> None:
    table_id, tokens = await tables.running()
    await tables.play(table_id, tokens, 12)
    whole = await tables.updates(table_id)
    assert [update.first_seq for update in whole] == [1, *(update.last_seq + 1 for update in whole[:-1])]
    for after in range(whole[-1].last_seq + 1):
        assert await tables.updates(table_id, after) == [update for update in whole if update.last_seq > after]
    page = await tables.client.ReadUpdates(pb.ReadUpdatesRequest(table_id=table_id, page_size=5))
    assert (len(page.updates), page.last_seq) == (5, whole[-1].last_seq)
    for after in (whole[-1].last_seq + 1, 2**63 - 1, 2**63, 2**64 - 1):
        ahead = pb.ReadUpdatesRequest(table_id=table_id, after_seq=after)
        assert await refusal(tables.client.ReadUpdates(ahead)) == "seq_ahead", after


async def test_whoever_reads_updates_hears_how_often_the_table_has_changed(tables: Tables) -> None:
    """Commands do not count; a pause and its end do."""
    token = await tables.session()
    table_id = (await tables.table(token, seats=2)).table.table_id
    await tables.client.AddBots(pb.AddBotsRequest(session_token=token, table_id=table_id, count=1))
    await tables.client.StartGame(pb.StartGameRequest(session_token=token, table_id=table_id))

    async def versions() -> tuple[int, int]:
        described = await tables.client.DescribeTable(pb.DescribeTableRequest(table_id=table_id))
        read = await tables.client.ReadUpdates(pb.ReadUpdatesRequest(table_id=table_id))
        return described.table.lobby_version, read.lobby_version

    begun = (await versions())[0]
    assert begun > 0
    command = await tables.next_command(table_id, "one")
    await tables.submit(token if command.seat == 0 else "", table_id, command)
    assert await versions() == (begun, begun)
    await tables.client.PauseTable(pb.PauseTableRequest(session_token=token, table_id=table_id))
    assert await versions() == (begun + 1, begun + 1)
    await tables.client.ResumeTable(pb.ResumeTableRequest(session_token=token, table_id=table_id))
    assert await versions() == (begun + 2, begun + 2)


async def test_only_players_see_a_game_without_spectators(tables: Tables) -> None:
    """IND-TABLE-12"""
    stranger = await tables.session("Stranger")
    for spectators, expected in ((False, "no_spectators"), (True, "done")):
        table_id, tokens = await tables.running(spectators=spectators)
        reading = pb.ReadUpdatesRequest(session_token=stranger, table_id=table_id)
        viewing = pb.GetSnapshotRequest(session_token=stranger, table_id=table_id)
        assert await refusal(tables.client.ReadUpdates(reading)) == expected
        assert await refusal(tables.client.GetSnapshot(viewing)) == expected
        assert await refusal(_export(tables, stranger, table_id)) == expected
        own = pb.ReadUpdatesRequest(session_token=tokens[1], table_id=table_id)
        assert await refusal(tables.client.ReadUpdates(own)) == "done"


async def test_the_view_is_that_of_the_newest_command_with_the_play_time_of_now(tables: Tables) -> None:
    table_id, tokens = await tables.running()
    await tables.play(table_id, tokens, 6)
    tables.clock.play = 7_777
    answer = await tables.client.GetSnapshot(pb.GetSnapshotRequest(session_token=tokens[0], table_id=table_id))
    last = await tables.last(table_id)
    assert answer.snapshot.seq == answer.snapshot.view.seq == last.last_seq == answer.table.last_seq
    assert answer.snapshot.state_hash == last.state_hash
    assert answer.snapshot.decision == last.decision
    assert (answer.snapshot.table_id, answer.snapshot.play_time_ms) == (table_id, 7_777)


async def test_a_lobby_has_neither_view_nor_file(tables: Tables) -> None:
    token = await tables.session()
    table_id = (await tables.table(token)).table.table_id
    request = pb.GetSnapshotRequest(session_token=token, table_id=table_id)
    assert await refusal(tables.client.GetSnapshot(request)) == "not_started"
    assert await refusal(_export(tables, token, table_id)) == "not_started"
    assert await tables.updates(table_id) == []


async def test_nothing_readable_holds_a_seed_or_a_decks_order_while_the_game_runs(tables: Tables) -> None:
    table_id, tokens = await tables.running()
    await tables.play(table_id, tokens, 10)
    lines = await _export(tables, tokens[0], table_id)
    assert lines[0]["finished"] is False
    assert all("secrets" not in line for line in lines)
    for update in await tables.updates(table_id):
        for event in update.events:
            assert event.WhichOneof("body") not in ("seed_drawn", "deck_shuffled")


async def test_the_file_of_a_finished_game_replays_with_its_chance(tables: Tables) -> None:
    table_id, tokens = await tables.running()
    await tables.play(table_id, tokens, 10)
    await _give_up(tables, table_id)
    table = (await tables.client.DescribeTable(pb.DescribeTableRequest(table_id=table_id))).table
    assert table.status == table_pb2.TABLE_STATUS_FINISHED
    lines = await _export(tables, tokens[0], table_id)
    assert lines == await _export(tables, tokens[1], table_id)
    header, entries = lines[0], lines[1:]
    assert {
        key: header[key] for key in ("format", "version", "table_id", "edition", "edition_version", "finished")
    } == {
        "format": "magnate-log",
        "version": 1,
        "table_id": table_id,
        "edition": "industry",
        "edition_version": 1,
        "finished": True,
    }
    request = rules_pb.ReplayRequest()
    for entry in entries:
        entry.pop("chain")
        ParseDict(entry, request.entries.add())
    assert [entry.update for entry in request.entries] == await tables.updates(table_id)
    secret = [event.WhichOneof("body") for entry in request.entries for event in entry.secrets]
    assert "seed_drawn" in secret
    answer = await LocalClient(RULES, build_handler(RulesSettings())).Replay(request)
    assert (answer.same, answer.chance_verified) == (True, True)


async def test_a_finished_game_takes_nothing_but_repeats(tables: Tables) -> None:
    table_id, tokens = await tables.running()
    done = await tables.next_command(table_id, "done")
    first = await tables.submit(tokens[done.seat], table_id, done)
    await _give_up(tables, table_id)
    again = await tables.submit(tokens[done.seat], table_id, done)
    assert (again.last_seq, again.repeated) == (first.last_seq, True)
    done.command_id = "new"
    assert await refusal(tables.submit(tokens[done.seat], table_id, done)) == "game_over"


async def test_the_clock_finds_all_deadlines_in_force_page_by_page(tables: Tables) -> None:
    running = [(await tables.running())[0] for _ in range(5)]
    bots, _ = await tables.running_bots()
    finished, _ = await tables.running()
    await _give_up(tables, finished)
    found: dict[str, pb.TableDeadlines] = {}
    token = ""
    while True:
        answer = await tables.client.ListDeadlines(pb.ListDeadlinesRequest(page_size=2, page_token=token))
        found.update({table.table_id: table for table in answer.tables})
        token = answer.next_page_token
        if not token:
            break
    assert sorted(found) == sorted(running)
    last = await tables.last(running[0])
    listed = found[running[0]]
    assert (listed.seq, list(listed.deadlines), listed.grace_ms) == (last.last_seq, list(last.deadlines), 500)
    of_shard = await tables.client.ListDeadlines(pb.ListDeadlinesRequest(shards=[listed.shard]))
    assert running[0] in [table.table_id for table in of_shard.tables]
    assert bots not in found


async def test_bots_that_are_asked_are_listed_with_their_level(tables: Tables) -> None:
    await tables.running()
    table_id, _ = await tables.running_bots(3)
    last = await tables.last(table_id)
    answer = await tables.client.ListBotTurns(pb.ListBotTurnsRequest())
    turn = answer.turns[0]
    assert len(answer.turns) == 1
    assert (turn.table_id, turn.seat, turn.level) == (table_id, last.decision.seats[0], "normal")
    assert (turn.decision_id, turn.seq) == (last.decision.decision_id, last.last_seq)


async def test_what_is_withheld_goes_out_with_its_number(tables: Tables) -> None:
    table_id, _ = await tables.running()
    raw = (await tables.client.ReadUpdates(pb.ReadUpdatesRequest(table_id=table_id))).updates[0]
    first = update_pb2.Update.FromString(raw)
    assert [event.seq for event in first.events] == list(range(1, first.last_seq + 1))
    assert any(event == event_pb2.Event(seq=event.seq) for event in first.events)
