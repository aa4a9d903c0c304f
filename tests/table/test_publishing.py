"""From the log to the event stream: everything, in order, and again after a crash."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import grpc
import pytest
from magnate.game.v1 import update_pb2
from magnate.table.v1 import table_pb2
from magnate.table.v1 import table_service_pb2 as pb

from services.kit.ending import end_tasks
from services.kit.errors import ServiceError
from services.table.application.ports import OwnTime, TableKey
from services.table.domain.shards import shard_of
from tests.support.site_of_tables import Tables, open_tables, with_options


def _heard(tables: Tables, table_id: str) -> list[bytes]:
    updates = [message.update for message in tables.heard if message.HasField("update")]
    return [raw for raw in updates if update_pb2.Update.FromString(raw).table_id == table_id]


async def _log(tables: Tables, table_id: str) -> list[bytes]:
    answer = await tables.client.ReadUpdates(pb.ReadUpdatesRequest(table_id=table_id, page_size=1000))
    return list(answer.updates)


async def _after_a_crash(store_url: str) -> tuple[Tables, str, list[str]]:
    """A replica over the store of one that did five commands and died before it published anything."""
    crashed = await open_tables(store_url, publishing=False)
    table_id, tokens = await crashed.running()
    await crashed.play(table_id, tokens, 5)
    await crashed.close()
    tables = await open_tables(store_url, clock=crashed.clock)
    await tables.listen()
    return tables, table_id, tokens


async def test_every_update_is_published_byte_for_byte_in_order(tables: Tables) -> None:
    await tables.listen()
    table_id, tokens = await tables.running()
    await tables.play(table_id, tokens, 20)
    await tables.settle()
    assert _heard(tables, table_id) == await _log(tables, table_id)


async def test_a_bots_turn_follows_the_update_that_asks_it(tables: Tables) -> None:
    await tables.listen()
    table_id, _ = await tables.running_bots()
    await tables.play(table_id, [], 3)
    await tables.settle()
    game = [message for message in tables.heard if not message.HasField("table")]
    kinds = [message.WhichOneof("message") for message in game]
    assert kinds == ["update", "bot_turn"] * 4
    updates = [update_pb2.Update.FromString(message.update) for message in game[::2]]
    assert [turn.bot_turn.seq for turn in game[1::2]] == [update.last_seq for update in updates]
    assert [turn.bot_turn.decision_id for turn in game[1::2]] == [update.decision.decision_id for update in updates]


async def test_what_a_crash_left_unpublished_is_published_by_the_next_one(store_url: str) -> None:
    tables, table_id, _ = await _after_a_crash(store_url)
    await tables.application.outbox.recover()
    await tables.settle()
    assert tables.heard == []
    tables.clock.unix += 3_001
    await tables.application.outbox.recover()
    await tables.settle()
    assert _heard(tables, table_id) == await _log(tables, table_id)
    statuses = [message.table.status for message in tables.heard if message.HasField("table")]
    assert statuses == [table_pb2.TABLE_STATUS_RUNNING]
    await tables.application.outbox.write_marks()
    tables.heard.clear()
    tables.clock.unix += 10_000
    await tables.application.outbox.recover()
    await tables.settle()
    assert tables.heard == []
    await tables.close()


async def test_after_a_crash_the_bots_that_nobody_told_are_asked(store_url: str) -> None:
    """IND-BOT-09: whoever committed the command died before he published anything."""
    crashed = await open_tables(store_url, publishing=False)
    table_id, _ = await crashed.running_bots()
    await crashed.play(table_id, [], 2)
    last = await crashed.last(table_id)
    await crashed.close()
    tables = await open_tables(store_url, clock=crashed.clock)
    await tables.listen()
    tables.clock.unix += 3_001
    await tables.application.outbox.recover()
    await tables.settle()
    turns = [message.bot_turn for message in tables.heard if message.HasField("bot_turn")]
    assert [(turn.table_id, turn.seq, turn.decision_id) for turn in turns] == [
        (table_id, last.last_seq, last.decision.decision_id)
    ]
    await tables.close()


async def test_what_is_on_disk_though_the_store_never_said_so_is_published_soon(store_url: str) -> None:
    """Given a commit whose answer gets lost, when the outbox looks for it, then the update is on
    the event stream, without anybody waiting for what a crash leaves behind."""
    tables = await open_tables(store_url)
    await tables.listen()
    table_id, tokens = await tables.running()
    await _lose_the_answer(tables, table_id, tokens)
    assert len(_heard(tables, table_id)) == 1
    await tables.application.outbox.look_for_unknown()
    await tables.settle()
    assert _heard(tables, table_id) == await _log(tables, table_id)
    assert len(_heard(tables, table_id)) == 2
    await tables.close()


async def test_a_probe_has_that_looked_for_of_which_nobody_knows(store_url: str) -> None:
    """Given a commit whose answer got lost, when the store answers again, as a probe shows, then the update is on the
    event stream at once: play time goes on, and those who wait for it have no other way to know."""
    tables = await open_tables(store_url, options=with_options(mark_every_ms=3_600_000))
    await tables.listen()
    table_id, tokens = await tables.running()
    await tables.settle()
    upkeep = asyncio.create_task(tables.application.outbox.run_upkeep())
    while await tables.store.unpublished(tables.clock.unix + 1, 10, after=None):
        await asyncio.sleep(0.01)
    await _lose_the_answer(tables, table_id, tokens)
    await asyncio.sleep(0.2)
    assert len(_heard(tables, table_id)) == 1
    await tables.client.Probe(pb.ProbeRequest(probe_id="p"))
    async with asyncio.timeout(5):
        while len(_heard(tables, table_id)) < 2:
            await asyncio.sleep(0.01)
    assert _heard(tables, table_id) == await _log(tables, table_id)
    await end_tasks([upkeep])
    await tables.close()


async def _lose_the_answer(tables: Tables, table_id: str, tokens: Sequence[str], name: str = "unheard") -> None:
    """A command that is committed, of which its caller hears that it may not be."""
    command = await tables.next_command(table_id, name)
    original = tables.store.append

    async def lose(commit: asyncio.Future[bool]) -> bool:
        await commit
        raise ServiceError(grpc.StatusCode.UNAVAILABLE, "unreachable", "the connection broke")

    tables.store.append = lambda row: asyncio.ensure_future(lose(original(row)))  # type: ignore[method-assign]
    with pytest.raises(ServiceError) as lost:
        await tables.submit(tokens[command.seat], table_id, command)
    assert lost.value.reason == "unreachable"
    tables.store.append = original  # type: ignore[method-assign]
    await tables.settle()


async def test_what_is_committed_while_the_log_is_read_goes_out_with_it(store_url: str) -> None:
    """Given a commit whose answer got lost, when more commands are done while the outbox looks for it, then all are on
    the event stream in order, without anybody waiting for what a crash leaves behind."""
    tables = await open_tables(store_url)
    await tables.listen()
    table_id, tokens = await tables.running()
    await tables.settle()
    outbox, read_log, load_game = tables.application.outbox, tables.store.read_log, tables.store.load_game
    outbox.outcome_unknown(TableKey(shard_of(table_id), table_id), 1)

    async def read_and_play(*asked: Any) -> Any:
        tables.store.read_log = read_log  # type: ignore[method-assign]
        read = await read_log(*asked)
        await tables.play(table_id, tokens, 2, "read")
        tables.store.load_game = play_and_load  # type: ignore[method-assign, assignment]
        return read

    async def play_and_load(*asked: Any) -> Any:
        tables.store.load_game = load_game  # type: ignore[method-assign]
        await tables.play(table_id, tokens, 1, "load")
        return await load_game(*asked)

    tables.store.read_log = read_and_play  # type: ignore[method-assign, assignment]
    await outbox.look_for_unknown()
    await tables.settle()
    log = await _log(tables, table_id)
    assert len(log) == 4
    assert _heard(tables, table_id) == [log[0], *log]
    await tables.play(table_id, tokens, 1, "after")
    await tables.settle()
    assert _heard(tables, table_id)[5:] == (await _log(tables, table_id))[4:]
    await tables.close()


async def test_a_long_log_is_read_to_its_end(store_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given more updates than one look at the log gives, when one is committed meanwhile, then it overtakes none."""
    monkeypatch.setattr("services.table.application.outbox._UPDATES_PER_PASS", 2)
    tables, table_id, tokens = await _after_a_crash(store_url)
    tables.application.outbox.outcome_unknown(TableKey(shard_of(table_id), table_id), 1)
    read_log = tables.store.read_log

    async def read_and_play(*asked: Any) -> Any:
        tables.store.read_log = read_log  # type: ignore[method-assign]
        read = await read_log(*asked)
        await tables.play(table_id, tokens, 1, "meanwhile")
        return read

    tables.store.read_log = read_and_play  # type: ignore[method-assign, assignment]
    await tables.application.outbox.look_for_unknown()
    await tables.settle()
    log = await _log(tables, table_id)
    assert len(log) == 7
    assert _heard(tables, table_id) == log
    await tables.close()


async def test_an_answer_that_gets_lost_while_the_log_is_read_is_not_forgotten(store_url: str) -> None:
    """Given a commit whose answer got lost, when the answer to the next one gets lost while the outbox looks for the
    first, then both are found."""
    tables = await open_tables(store_url)
    await tables.listen()
    table_id, tokens = await tables.running()
    await _lose_the_answer(tables, table_id, tokens, "first")
    outbox, load_game = tables.application.outbox, tables.store.load_game

    async def lose_and_load(*asked: Any) -> Any:
        tables.store.load_game = load_game  # type: ignore[method-assign]
        await _lose_the_answer(tables, table_id, tokens, "second")
        return await load_game(*asked)

    tables.store.load_game = lose_and_load  # type: ignore[method-assign, assignment]
    await outbox.look_for_unknown()
    await outbox.look_for_unknown()
    await tables.settle()
    log = await _log(tables, table_id)
    assert (len(log), _heard(tables, table_id)[-1]) == (3, log[-1])
    await tables.close()


async def test_what_comes_again_while_the_log_is_read_comes(store_url: str) -> None:
    """Given a table that goes on after a stop, so that its last update comes once more, when the outbox looks for
    something of it that is not there, then the update comes with the time that the table stood still for."""
    tables = await open_tables(store_url)
    await tables.listen()
    table_id, _ = await tables.running()
    await tables.settle()
    outbox, read_log = tables.application.outbox, tables.store.read_log
    key = TableKey(shard_of(table_id), table_id)
    last_seq = (await tables.last(table_id)).last_seq
    outbox.outcome_unknown(key, last_seq + 1)

    async def read_and_repeat(*asked: Any) -> Any:
        tables.store.read_log = read_log  # type: ignore[method-assign]
        read = await read_log(*asked)
        game = await tables.store.load_game(key)
        assert game is not None
        outbox.update_committed(key, last_seq, game.last_update, OwnTime.of(game.table))
        return read

    tables.store.read_log = read_and_repeat  # type: ignore[method-assign, assignment]
    tables.heard.clear()
    await outbox.look_for_unknown()
    await tables.settle()
    assert _heard(tables, table_id) == (await _log(tables, table_id))[-1:]
    await tables.close()


async def test_a_stream_that_is_away_gets_everything_later(store_url: str) -> None:
    tables = await open_tables(store_url)
    await tables.listen()
    table_id, tokens = await tables.running()
    await tables.settle()
    publish = tables.stream.publish

    async def fail(topic: str, items: Sequence[tuple[str, int, bytes]]) -> None:
        raise ServiceError(grpc.StatusCode.UNAVAILABLE, "EVENT_STREAM_DOWN", "gone")

    tables.stream.publish = fail  # type: ignore[method-assign]
    await tables.play(table_id, tokens, 4)
    await tables.settle()
    assert len(_heard(tables, table_id)) == 1
    tables.stream.publish = publish  # type: ignore[method-assign]
    await asyncio.sleep(0.3)
    assert _heard(tables, table_id) == await _log(tables, table_id)
    await tables.close()


async def test_an_outbox_that_overflows_reads_the_log_again(store_url: str) -> None:
    tables = await open_tables(store_url, publishing=False, options=with_options(outbox_size=3))
    table_id, tokens = await tables.running()
    await tables.play(table_id, tokens, 8)
    await tables.listen()
    tables.tasks.append(asyncio.create_task(tables.application.outbox.run()))
    await tables.settle()
    assert len(_heard(tables, table_id)) < 9
    await tables.application.outbox.write_marks()
    while len(_heard(tables, table_id)) < 9:
        tables.clock.unix += 3_001
        await tables.application.outbox.recover()
        await tables.settle()
        await tables.application.outbox.write_marks()
    assert list(dict.fromkeys(_heard(tables, table_id))) == await _log(tables, table_id)
    await tables.close()


async def test_a_full_outbox_takes_neither_tables_nor_bots_that_are_asked_again(store_url: str) -> None:
    """Given an event stream that is away and an outbox that is full, when a table changes and a bot is asked again,
    then nothing more waits; when the stream is back, the change of the table is found by its mark."""
    tables = await open_tables(store_url, options=with_options(outbox_size=6))
    await tables.listen()
    publish = tables.stream.publish

    async def fail(topic: str, items: Sequence[tuple[str, int, bytes]]) -> None:
        raise ServiceError(grpc.StatusCode.UNAVAILABLE, "EVENT_STREAM_DOWN", "gone")

    tables.stream.publish = fail  # type: ignore[method-assign]
    token = await tables.session()
    table_id = (await tables.table(token, seats=2)).table.table_id
    await tables.client.AddBots(pb.AddBotsRequest(session_token=token, table_id=table_id, count=1))
    await tables.client.StartGame(pb.StartGameRequest(session_token=token, table_id=table_id))
    before = (await tables.client.DescribeTable(pb.DescribeTableRequest(table_id=table_id))).table
    turn = table_pb2.BotTurn(table_id=table_id, shard=before.shard, seat=1, level="normal", decision_id=1, seq=1)
    # The game and its table have taken four or five places, by whether the bot begins.
    for _ in range(10):
        tables.application.outbox.bot_asked(turn)
    await tables.client.PauseTable(pb.PauseTableRequest(session_token=token, table_id=table_id))
    tables.stream.publish = publish  # type: ignore[method-assign]
    await asyncio.sleep(0.3)
    assert len(tables.heard) == 6
    assert max(message.table.lobby_version for message in tables.heard) == before.lobby_version
    await tables.application.outbox.write_marks()
    tables.heard.clear()
    tables.clock.unix += 3_001
    await tables.application.outbox.recover()
    await tables.settle()
    told = [(message.table.paused, message.table.lobby_version) for message in tables.heard]
    assert told == [(True, before.lobby_version + 1)]
    await tables.close()


async def test_a_stop_publishes_what_waits(store_url: str) -> None:
    tables = await open_tables(store_url, publishing=False)
    await tables.listen()
    table_id, _ = await tables.running()
    await tables.application.outbox.finish()
    await tables.settle()
    assert _heard(tables, table_id) == await _log(tables, table_id)
    key = TableKey(shard_of(table_id), table_id)
    tables.clock.unix += 60_000
    assert key not in [TableKey(game.shard, game.table_id) for game in await tables.store.unpublished(10**15, 10)]
    await tables.close()


async def test_a_probe_goes_the_whole_way(tables: Tables) -> None:
    await tables.listen()
    await tables.client.Probe(pb.ProbeRequest(probe_id="p-1"))
    await tables.settle()
    assert [message.probe.probe_id for message in tables.heard] == ["p-1"]


async def test_a_probe_that_waited_for_the_event_stream_is_not_told_any_more(tables: Tables) -> None:
    """Given an event stream that is away for a while, when it is back, then only probes of the present come out: one
    from before would say that the site can be played, when the store may have failed meanwhile."""
    await tables.listen()
    publish = tables.stream.publish

    async def fail(topic: str, items: Sequence[tuple[str, int, bytes]]) -> None:
        raise ServiceError(grpc.StatusCode.UNAVAILABLE, "EVENT_STREAM_DOWN", "gone")

    tables.stream.publish = fail  # type: ignore[method-assign]
    table_id, _ = await tables.running()
    await tables.settle()
    with pytest.raises(ServiceError) as raised:
        await tables.client.Probe(pb.ProbeRequest(probe_id="during"))
    assert (raised.value.code, raised.value.reason) == (grpc.StatusCode.UNAVAILABLE, "unreachable")
    tables.stream.publish = publish  # type: ignore[method-assign]
    await asyncio.sleep(0.3)
    await tables.client.Probe(pb.ProbeRequest(probe_id="after"))
    await tables.settle()
    assert [message.probe.probe_id for message in tables.heard if message.HasField("probe")] == ["after"]
    assert _heard(tables, table_id) == await _log(tables, table_id)


async def test_a_table_that_does_not_hear_the_clock_refuses_its_probe(tables: Tables) -> None:
    """No play time may pass while the deadlines that this table opens would begin in the past."""
    await tables.listen()
    tables.clock.is_deaf = True
    with pytest.raises(ServiceError) as raised:
        await tables.client.Probe(pb.ProbeRequest(probe_id="p-1", shard=3))
    assert (raised.value.code, raised.value.reason) == (grpc.StatusCode.UNAVAILABLE, "unreachable")
    await tables.settle()
    assert tables.heard == []


async def test_an_update_counts_as_published_when_its_bots_have_been_asked_too(store_url: str) -> None:
    """IND-BOT-09: a replica that dies between the two leaves a game that the next one looks at."""
    tables = await open_tables(store_url, publishing=False)
    outbox = tables.application.outbox
    # Three messages of its lobby come before the update, which is the last of the 256 that go out together.
    for number in range(256 - 4):
        outbox.probe_committed(str(number))
    table_id, _ = await tables.running_bots()
    publish = tables.stream.publish

    async def fail_turns(topic: str, items: Sequence[tuple[str, int, bytes]]) -> None:
        if any(key.endswith(":bot") for key, _, _ in items):
            raise ServiceError(grpc.StatusCode.UNAVAILABLE, "EVENT_STREAM_DOWN", "gone")
        await publish(topic, items)

    tables.stream.publish = fail_turns  # type: ignore[method-assign]
    await tables.listen()
    tables.tasks.append(asyncio.create_task(outbox.run()))
    await tables.settle()
    await outbox.write_marks()
    games = await tables.store.unpublished(tables.clock.unix + 1, 10)
    assert _heard(tables, table_id) == await _log(tables, table_id)
    assert [(game.table_id, game.published_seq) for game in games] == [(table_id, 0)]
    tables.stream.publish = publish  # type: ignore[method-assign]
    await asyncio.sleep(0.3)
    await outbox.write_marks()
    assert await tables.store.unpublished(tables.clock.unix + 1, 10) == []
    await tables.close()
