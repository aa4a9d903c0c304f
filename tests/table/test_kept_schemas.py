"""What earlier programs have stored, this one goes on with; and what it makes of it, they can still use."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import asyncpg
import pytest
from google.protobuf.json_format import ParseDict
from magnate.rules.v1 import rules_service_pb2 as rules_pb
from magnate.table.v1 import table_pb2
from magnate.table.v1 import table_service_pb2 as pb

from services.clock.adapters.databases import open_database as open_clock_database
from services.clock.adapters.store import SqlStore as ClockStore
from services.clock.application.ports import SystemTime, Terms
from services.kit.calls import LocalClient
from services.rules.main import DESCRIPTOR as RULES
from services.rules.main import build_handler
from services.rules.settings import RulesSettings
from services.site.migrating import migrate
from tests.support.kept_schemas import FOLDER, KEPT, load, say, statements
from tests.support.site_of_tables import HandClock, Tables, open_tables


async def _open(url: str, facts: dict[str, Any]) -> Tables:
    if not url.startswith("sqlite:"):
        await migrate(url, lambda _: None)
    return await open_tables(url, clock=HandClock(unix=facts["unix_ms"], play=facts["play_time_ms"]))


def test_every_folder_is_tested() -> None:
    assert sorted(KEPT) == sorted(path.name for path in FOLDER.iterdir())


@pytest.mark.parametrize("name", KEPT)
async def test_a_game_that_an_earlier_program_began_goes_on(name: str, store_url: str) -> None:
    """Given a game in the middle, when this program starts on its store, its seats play on from the same state."""
    facts = await load(name, store_url)
    running = facts["running"]
    tables = await _open(store_url, facts)
    before = await tables.updates(running["table_id"])
    assert len(before) == running["commands"]
    assert (before[-1].last_seq, before[-1].state_hash.hex()) == (running["last_seq"], running["state_hash"])
    await tables.play(running["table_id"], running["tokens"], 5, "later")
    after = await tables.updates(running["table_id"])
    assert after[: len(before)] == before
    assert len(after) == len(before) + 5
    table = pb.DescribeTableRequest(session_token=running["tokens"][1], table_id=running["table_id"])
    assert (await tables.client.DescribeTable(table)).own_seat == 1
    await tables.close()


@pytest.mark.parametrize("name", KEPT)
async def test_a_game_that_an_earlier_program_finished_replays(name: str, store_url: str) -> None:
    facts = await load(name, store_url)
    finished = facts["finished"]
    tables = await _open(store_url, facts)
    text = b""
    request = pb.ExportTableRequest(session_token=finished["tokens"][0], table_id=finished["table_id"])
    async with tables.client.ExportTable(request) as pieces:
        async for piece in pieces:
            text += piece.piece
    header, *entries = [json.loads(line) for line in text.splitlines()]
    assert header["finished"] is True
    replay = rules_pb.ReplayRequest()
    for entry in entries:
        entry.pop("chain")
        ParseDict(entry, replay.entries.add())
    assert len(replay.entries) == finished["commands"]
    assert replay.entries[-1].update.state_hash.hex() == finished["state_hash"]
    answer = await LocalClient(RULES, build_handler(RulesSettings())).Replay(replay)
    assert (answer.same, answer.chance_verified) == (True, True)
    await tables.close()


@pytest.mark.parametrize("name", KEPT)
async def test_lobbies_bots_and_play_time_of_an_earlier_program_are_taken_over(name: str, store_url: str) -> None:
    facts = await load(name, store_url)
    tables = await _open(store_url, facts)
    host, lobby = facts["lobby"]["tokens"][0], facts["lobby"]["table_id"]
    guest = await tables.session("Guest")
    await tables.client.JoinTable(pb.JoinTableRequest(session_token=guest, table_id=lobby))
    started = await tables.client.StartGame(pb.StartGameRequest(session_token=host, table_id=lobby))
    assert started.table.status == table_pb2.TABLE_STATUS_RUNNING
    turns = (await tables.client.ListBotTurns(pb.ListBotTurnsRequest())).turns
    assert [(turn.table_id, turn.seq) for turn in turns] == [(facts["bots"]["table_id"], facts["bots"]["last_seq"])]
    await tables.close()
    clock = ClockStore(
        open_clock_database(store_url),
        replica="new",
        terms=Terms(lease_ms=3_000, join_ms=0),
        timepiece=SystemTime(),
    )
    [taken] = (await clock.look((), None)).taken
    assert (taken.shards, taken.start.play_time_ms) == (tuple(range(64)), facts["play_time_ms"])
    assert [outage.given_back_ms for outage in await clock.list_outages(before_id=None, limit=9)] == [1_500]
    await clock.close()


async def test_the_program_before_still_serves_on_the_newest_tables(postgres_url: str) -> None:
    """Every statement that the release before gave to its store does the same after the migration."""
    await load(KEPT[-1], postgres_url)
    await migrate(postgres_url, lambda _: None)
    connection = await asyncpg.connect(postgres_url)
    kept = statements(KEPT[-1])
    done = [await say(connection, statement) for statement in kept]
    await connection.close()
    assert len(kept) > 200
    for statement, rows in zip(kept, done, strict=True):
        assert statement.rows in (None, rows), statement.sql


async def test_the_program_before_serves_while_the_tables_are_migrated(postgres_url: str) -> None:
    """Its statements are given before, during and after the migration; none of them fails or does something else."""
    await load(KEPT[-1], postgres_url)
    connection = await asyncpg.connect(postgres_url, command_timeout=5)
    migrating: asyncio.Task[None] | None = None
    kept = statements(KEPT[-1])
    for number, statement in enumerate(kept):
        if number == len(kept) // 4:
            migrating = asyncio.create_task(migrate(postgres_url, lambda _: None))
        rows = await say(connection, statement)
        assert statement.rows in (None, rows), statement.sql
    assert migrating is not None
    await migrating
    await connection.close()


async def test_a_migration_that_meets_a_lock_holds_nobody_up(postgres_url: str) -> None:
    """Given somebody who reads a table in a long transaction, when it is to be changed, the others go on."""
    await load("core", postgres_url)
    reader, player = await asyncpg.connect(postgres_url), await asyncpg.connect(postgres_url, command_timeout=4)
    reading = reader.transaction()
    await reading.start()
    await reader.fetch("SELECT * FROM tables")
    migrating = asyncio.create_task(migrate(postgres_url, lambda _: None))
    while not await player.fetchval("SELECT count(*) FROM pg_locks WHERE NOT granted"):
        await asyncio.sleep(0.01)
    assert await player.execute("UPDATE tables SET changed_at_ms = changed_at_ms") == "UPDATE 4"
    assert not migrating.done()
    await reading.rollback()
    await migrating
    assert await player.fetchval("SELECT count(*) FROM tables WHERE held_ms = 0") == 4
    await reader.close()
    await player.close()
