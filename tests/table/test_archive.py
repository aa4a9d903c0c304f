"""What becomes of tables that have ended: packed away without a difference to be seen, and at last forgotten."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import sqlalchemy as sa
from magnate.table.v1 import table_pb2
from magnate.table.v1 import table_service_pb2 as pb

from services.table.adapters import schema, sql_archives
from services.table.domain.shards import shard_of
from tests.support.site_of_tables import HandClock, Tables, open_tables, refusal, with_options

_DAY_MS = 24 * 3_600_000
_OPTIONS = with_options(
    archive_after_ms=_DAY_MS, forget_after_ms=_DAY_MS, abandoned_after_ms=2 * _DAY_MS, snapshot_every=16
)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of eight commands, so that a short game has some."""
    monkeypatch.setattr(sql_archives, "_PART", 8)


@pytest.fixture
async def tables(store_url: str) -> AsyncIterator[Tables]:
    """One replica that archives after a day, forgets a day later, and lets games expire after two."""
    opened = await open_tables(store_url, options=_OPTIONS)
    yield opened
    await opened.close()


async def _count(tables: Tables, of: sa.Table, table_id: str) -> int:
    query = sa.select(sa.func.count()).select_from(of).where(of.c.table_id == table_id)
    return int(await tables.store._database.read(lambda connection: connection.scalar(query)))  # type: ignore[attr-defined]


async def _hot_rows(tables: Tables, table_id: str) -> tuple[int, int]:
    return await _count(tables, schema.game_log, table_id), await _count(tables, schema.game_snapshots, table_id)


async def _publish(tables: Tables) -> None:
    await tables.settle()
    await tables.application.outbox.write_marks()


async def _finished(tables: Tables, commands: int) -> tuple[str, list[str]]:
    """A game that was played for so many commands, and ended by the clock."""
    table_id, tokens = await tables.running(spectators=True)
    await tables.play(table_id, tokens, commands)
    while not (update := await tables.last(table_id)).game_over:
        deadline = update.deadlines[0]
        tables.clock.play = deadline.opened_at_ms + deadline.budget_ms + 500
        request = pb.ExpireDeadlineRequest(table_id=table_id, deadline_id=deadline.deadline_id)
        await tables.client.ExpireDeadline(request)
    await _publish(tables)
    return table_id, tokens


async def _seen(tables: Tables, table_id: str, token: str) -> dict[str, Any]:
    """All that a client and a service may ask of a game."""
    snapshot = (await tables.client.GetSnapshot(pb.GetSnapshotRequest(session_token=token, table_id=table_id))).snapshot
    file = b""
    async with tables.client.ExportTable(pb.ExportTableRequest(session_token=token, table_id=table_id)) as pieces:
        async for piece in pieces:
            file += piece.piece
    mine = (await tables.client.ListMyTables(pb.ListMyTablesRequest(session_token=token))).tables
    last_seq = snapshot.seq
    return {
        "snapshot": snapshot,
        "file": file,
        "mine": [(table.table_id, table.status, table.last_seq) for table in mine],
        "updates": [await tables.updates(table_id, after) for after in range(0, last_seq + 1, 13)],
        "pages": [
            (await tables.client.ReadUpdates(pb.ReadUpdatesRequest(table_id=table_id, after_seq=after, page_size=3)))
            for after in range(0, last_seq + 1, 17)
        ],
    }


async def test_an_archived_game_is_read_as_before(tables: Tables, store_url: str) -> None:
    """Given a finished game, when it has been packed away, everything that is asked of it gets the same answer, also
    from a replica that has never seen the game."""
    table_id, tokens = await _finished(tables, 17)
    before = await _seen(tables, table_id, tokens[0])
    rows, snapshots = await _hot_rows(tables, table_id)
    assert (rows > 17, snapshots) == (True, 1)
    await tables.application.archiver.run_once()
    assert await _hot_rows(tables, table_id) == (rows, 1)
    tables.clock.unix += _DAY_MS + 1
    await tables.application.archiver.run_once()
    assert await _hot_rows(tables, table_id) == (0, 0)
    assert await _count(tables, schema.game_archives, table_id) == 3
    tables.clock.unix -= _DAY_MS + 1
    assert await _seen(tables, table_id, tokens[0]) == before
    fresh = await open_tables(store_url, options=_OPTIONS, clock=tables.clock)
    assert await _seen(fresh, table_id, tokens[0]) == before
    await fresh.close()


async def test_half_an_archive_is_read_as_a_whole_one(tables: Tables) -> None:
    """Given an archive that was broken off between two steps, whoever reads then finds each command once."""
    table_id, tokens = await _finished(tables, 17)
    before = await _seen(tables, table_id, tokens[0])
    later_ms = tables.clock.unix + 2 * _DAY_MS
    for packed in (8, 16):
        step = await tables.store.archive_step(later_ms, later_ms)
        assert step is not None
        assert (step.table_id, step.commands, step.is_whole) == (table_id, 8, False)
        assert await _seen(tables, table_id, tokens[0]) == before, packed
    last = await tables.store.archive_step(later_ms, later_ms)
    assert last is not None
    assert last.is_whole
    assert await tables.store.archive_step(later_ms, later_ms) is None


async def test_an_archived_game_takes_nothing_but_repeats(tables: Tables) -> None:
    table_id, tokens = await tables.running()
    done = await tables.next_command(table_id, "done")
    first = await tables.submit(tokens[done.seat], table_id, done)
    while not (update := await tables.last(table_id)).game_over:
        tables.clock.play = update.deadlines[0].opened_at_ms + update.deadlines[0].budget_ms + 500
        request = pb.ExpireDeadlineRequest(table_id=table_id, deadline_id=update.deadlines[0].deadline_id)
        await tables.client.ExpireDeadline(request)
    await _publish(tables)
    tables.clock.unix += _DAY_MS + 1
    await tables.application.archiver.run_once()
    assert await _hot_rows(tables, table_id) == (0, 0)
    again = await tables.submit(tokens[done.seat], table_id, done)
    assert (again.first_seq, again.last_seq, again.repeated) == (first.first_seq, first.last_seq, True)
    done.command_id = "new"
    assert await refusal(tables.submit(tokens[done.seat], table_id, done)) == "game_over"


async def test_many_replicas_archive_each_game_once_while_others_are_played(store_url: str) -> None:
    """Given some finished games, when three replicas archive at once, no command is lost or there twice."""
    clock = HandClock()
    replicas = [await open_tables(store_url, options=_OPTIONS, clock=clock) for _ in range(3)]
    tables = replicas[0]
    ended = [(await _finished(tables, 2))[0] for _ in range(9)]
    before = {table_id: await tables.updates(table_id) for table_id in ended}
    clock.unix += _DAY_MS + 1
    live, tokens = await tables.running()
    archiving = [asyncio.create_task(replica.application.archiver.run_once()) for replica in replicas]
    await tables.play(live, tokens, 20)
    await asyncio.gather(*archiving)
    for table_id in ended:
        assert await _hot_rows(tables, table_id) == (0, 0)
        assert await _count(tables, schema.game_archives, table_id) == 1
        assert await tables.updates(table_id) == before[table_id]
    assert len(await tables.updates(live)) == 21
    assert await _hot_rows(tables, live) == (21, 1)
    for replica in replicas:
        await replica.close()


async def test_what_is_not_published_yet_is_not_archived(store_url: str) -> None:
    tables = await open_tables(store_url, options=_OPTIONS, publishing=False)
    table_id, _ = await _finished(tables, 2)
    tables.clock.unix += _DAY_MS + 1
    await tables.application.archiver.run_once()
    rows, _ = await _hot_rows(tables, table_id)
    assert rows > 2
    await tables.close()


async def test_archives_are_forgotten_after_their_time_and_others_stay(tables: Tables) -> None:
    old, tokens = await _finished(tables, 3)
    tables.clock.unix += _DAY_MS + 1
    await tables.application.archiver.run_once()
    young, _ = await _finished(tables, 3)
    tables.clock.unix += _DAY_MS + 1
    await tables.application.archiver.run_once()
    assert await refusal(tables.client.DescribeTable(pb.DescribeTableRequest(table_id=old))) == "no_table"
    assert (await tables.client.ListMyTables(pb.ListMyTablesRequest(session_token=tokens[0]))).tables == []
    for of in (schema.game_archives, schema.game_results, schema.games, schema.tables, schema.seats, schema.game_log):
        assert await _count(tables, of, old) == 0, of.name
    assert (await tables.updates(young))[-1].game_over


async def test_of_an_expired_lobby_nothing_is_left(tables: Tables) -> None:
    token = await tables.session()
    table_id = (await tables.table(token)).table.table_id
    await tables.client.LeaveTable(pb.LeaveTableRequest(session_token=token, table_id=table_id))
    await _publish(tables)
    described = await tables.client.DescribeTable(pb.DescribeTableRequest(table_id=table_id))
    assert described.table.status == table_pb2.TABLE_STATUS_EXPIRED
    tables.clock.unix += _DAY_MS + 1
    await tables.application.archiver.run_once()
    assert await refusal(tables.client.DescribeTable(pb.DescribeTableRequest(table_id=table_id))) == "no_table"
    for of in (schema.game_results, schema.games, schema.tables):
        assert await _count(tables, of, table_id) == 0, of.name


async def _status(tables: Tables, table_id: str) -> int:
    return int((await tables.client.DescribeTable(pb.DescribeTableRequest(table_id=table_id))).table.status)


async def test_a_game_that_nobody_plays_expires_and_is_archived(tables: Tables) -> None:
    """IND-TABLE-18: a game may be dropped once its person has not come back; what was played stays readable."""
    await tables.listen()
    table_id, tokens = await tables.running()
    await tables.play(table_id, tokens, 4)
    before = await tables.updates(table_id)
    tables.clock.pass_ms(2 * _DAY_MS + 1)
    await tables.application.archiver.run_once()
    assert await _status(tables, table_id) == table_pb2.TABLE_STATUS_EXPIRED
    command = await tables.next_command(table_id, "late")
    assert await refusal(tables.submit(tokens[command.seat], table_id, command)) == "no_table"
    await _publish(tables)
    told = [message.table for message in tables.heard if message.WhichOneof("message") == "table"]
    assert (told[-1].table_id, told[-1].status) == (table_id, table_pb2.TABLE_STATUS_EXPIRED)
    tables.clock.pass_ms(_DAY_MS + 1)
    await tables.application.archiver.run_once()
    assert await _hot_rows(tables, table_id) == (0, 0)
    assert await tables.updates(table_id) == before
    assert (await tables.client.ListDeadlines(pb.ListDeadlinesRequest())).tables == []


async def test_time_in_which_the_site_could_not_be_played_lets_no_game_expire(tables: Tables) -> None:
    table_id, tokens = await tables.running()
    await tables.play(table_id, tokens, 4)
    tables.clock.unix += 20 * _DAY_MS
    await tables.application.archiver.run_once()
    assert await _status(tables, table_id) == table_pb2.TABLE_STATUS_RUNNING
    await tables.play(table_id, tokens, 4, "later")


async def test_a_game_with_somebody_there_does_not_expire(tables: Tables) -> None:
    table_id, tokens = await tables.running()
    tables.clock.pass_ms(2 * _DAY_MS + 1)
    session_id = (await tables.client.GetSession(pb.GetSessionRequest(session_token=tokens[1]))).session.session_id
    watched = pb.TouchPresenceRequest.Watched(table_id=table_id, session_ids=[session_id])
    await tables.client.TouchPresence(pb.TouchPresenceRequest(watched=[watched]))
    await tables.application.archiver.run_once()
    assert await _status(tables, table_id) == table_pb2.TABLE_STATUS_RUNNING


async def test_a_command_that_comes_while_a_game_expires_saves_it(tables: Tables) -> None:
    """Given a table as the archiver has read it, when a command is done before it is stored, the game goes on."""
    from services.table.application.ports import TableKey
    from services.table.domain.table import abandon

    table_id, tokens = await tables.running()
    found = await tables.store.load_table(TableKey(shard_of(table_id), table_id))
    assert found is not None
    await tables.play(table_id, tokens, 1)
    assert not await tables.store.abandon_game(abandon(found))
    await tables.play(table_id, tokens, 1, "later")
    assert await _status(tables, table_id) == table_pb2.TABLE_STATUS_RUNNING


async def test_the_probes_row_stays_one_for_each_shard(tables: Tables) -> None:
    for number in range(70):
        await tables.client.Probe(pb.ProbeRequest(probe_id=f"p{number}"))
    query = sa.select(sa.func.count()).select_from(schema.probes)
    assert await tables.store._database.read(lambda connection: connection.scalar(query)) == 64  # type: ignore[attr-defined]
