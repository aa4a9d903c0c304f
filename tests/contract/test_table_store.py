"""Both stores of the table service keep the same promises."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from services.table.adapters import sql_histories
from services.table.adapters.schema import seats
from services.table.adapters.store import SqlStore, open_database
from services.table.adapters.system import SystemWall
from services.table.application.ports import LoggedCommand, LogRow, Looked, TableKey
from services.table.domain.seating import EditionSeats, Seating
from services.table.domain.shards import shard_of
from services.table.domain.table import Seat, Status, Table, Wishes

EDITION = EditionSeats(edition="any", version=3, least=2, most=4, seatings=frozenset({Seating.PEOPLE, Seating.BOTS}))


@pytest.fixture(params=["sqlite", "postgres"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty store."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/tables.db"
    return str(request.getfixturevalue("postgres_url"))


@pytest.fixture
async def store(store_url: str) -> AsyncIterator[SqlStore]:
    opened = SqlStore(open_database(store_url), SystemWall())
    await opened.start()
    yield opened
    await opened.close()


def _table(table_id: str) -> Table:
    return Table(
        table_id=table_id,
        shard=shard_of(table_id),
        status=Status.LOBBY,
        seats_of_edition=EDITION,
        wishes=Wishes(overrides=(("start_cash", "900"),), capacity=3, spectators=True),
        seats=(Seat(name="A", session_id="a", secret_hash=b"h", nonce="00"), Seat(name="Bot 1", bot_level="easy")),
        host_session_id="a",
        host_seated=True,
        server_seed=b"s" * 32,
        seed_hash="f" * 64,
        created_at_ms=5,
        create_digest=b"d",
    )


def _row(table: Table, first: int, last: int, command_id: str) -> LogRow:
    return LogRow(
        shard=table.shard,
        table_id=table.table_id,
        first_seq=first,
        last_seq=last,
        holders_version=table.holders_version,
        command_id=command_id,
        digest=command_id.encode(),
        play_time_ms=first * 10,
        update=f"{table.table_id}:{first}-{last}".encode(),
        secrets=b"secret" if first == 1 else b"",
        at_unix_ms=1_000,
    )


async def _started(store: SqlStore, table_id: str) -> Table:
    table = _table(table_id)
    assert await store.create_table(table)
    running = replace(table, status=Status.RUNNING, lobby_version=2, grace_ms=500)
    assert await store.start_game(running, replace(_row(table, 1, 4, ""), snapshot=b"snap-4"))
    return replace(running, last_seq=4)


def _key(table: Table) -> TableKey:
    return TableKey(table.shard, table.table_id)


async def test_a_table_comes_back_as_it_was_stored(store: SqlStore) -> None:
    table = _table("one")
    assert await store.create_table(table)
    assert await store.load_table(_key(table)) == table
    assert not await store.create_table(table)
    assert await store.load_table(TableKey(0, "none")) is None


async def test_a_change_counts_only_on_the_version_before(store: SqlStore) -> None:
    table = _table("one")
    await store.create_table(table)
    changed = replace(table, lobby_version=2, host_session_id="b", seats=())
    assert await store.save_table(changed)
    assert not await store.save_table(replace(table, lobby_version=2, host_session_id="c"))
    assert await store.load_table(_key(table)) == changed


async def test_a_log_grows_command_by_command(store: SqlStore) -> None:
    table = await _started(store, "one")
    assert await store.load_table(_key(table)) == table
    assert await store.append(_row(table, 5, 7, "c1"))
    assert await store.append(replace(_row(table, 8, 8, "c2"), snapshot=b"snap-8"))
    rows, last_seq = await store.read_log(_key(table), 0, 10, with_secrets=True)
    assert [(row.last_seq, row.update, row.secrets) for row in rows] == [
        (4, b"one:1-4", b"secret"),
        (7, b"one:5-7", b""),
        (8, b"one:8-8", b""),
    ]
    assert last_seq == 8
    rows, _ = await store.read_log(_key(table), 5, 1)
    assert [(row.last_seq, row.secrets) for row in rows] == [(7, b"")]
    assert await store.load_snapshot(_key(table)) == (8, b"snap-8")
    assert await store.find_command(_key(table), "c1") == Looked(8, 1, LoggedCommand(b"c1", 5, 7))
    assert await store.find_command(_key(table), "c3") == Looked(8, 1)


async def test_of_many_commands_at_once_each_succeeds_or_fails_for_itself(store: SqlStore) -> None:
    tables = [await _started(store, f"t{number}") for number in range(40)]
    await store.append(_row(tables[3], 5, 5, "again"))
    rows = [_row(table, 5, 6, "c") for table in tables]
    rows[3] = _row(tables[3], 6, 6, "again")
    rows[7] = _row(tables[7], 4, 9, "stale")
    rows[9] = replace(rows[9], holders_version=2)
    rows[11] = replace(rows[11], snapshot=b"snap")
    rows.append(_row(tables[0], 5, 6, "second"))
    done = await asyncio.gather(*(store.append(row) for row in rows))
    assert [number for number, one in enumerate(done) if not one] == [3, 7, 9, 40]
    for number, table in enumerate(tables):
        _, last_seq = await store.read_log(_key(table), 0, 10)
        assert last_seq == {3: 5, 7: 4, 9: 4}.get(number, 6)
    assert await store.load_snapshot(_key(tables[11])) == (6, b"snap")
    assert await store.load_snapshot(_key(tables[12])) == (4, b"snap-4")


async def test_the_last_command_finishes_the_table(store: SqlStore) -> None:
    table = await _started(store, "one")
    assert not await store.append(replace(_row(table, 4, 5, "x"), result=b"r"))
    assert await store.append(replace(_row(table, 5, 5, "end"), result=b"r"))
    assert not await store.append(replace(_row(table, 6, 6, "end"), result=b"r"))
    loaded = await store.load_table(_key(table))
    assert loaded is not None
    assert (loaded.status, loaded.last_seq, loaded.lobby_version) == (Status.FINISHED, 5, 3)
    assert await store.list_live([], None, 10) == []


async def test_commands_behind_the_last_snapshot_are_counted(store: SqlStore) -> None:
    table = await _started(store, "one")
    for number in range(3):
        await store.append(_row(table, 5 + number, 5 + number, f"c{number}"))
    game = await store.load_game(_key(table))
    assert game is not None
    assert (game.since_snapshot, game.last_update, game.table.last_seq) == (3, b"one:7-7", 7)


async def test_marks_take_a_game_off_the_list_of_the_unpublished(store: SqlStore) -> None:
    table = await _started(store, "one")
    assert [(item.table_id, item.published_seq) for item in await store.unpublished(1_001, 10)] == [("one", 0)]
    assert await store.unpublished(1_000, 10) == []
    await store.mark_published([(_key(table), 4)])
    await store.mark_published([(_key(table), 2)])
    assert await store.unpublished(1_001, 10) == []
    await store.append(replace(_row(table, 5, 5, "end"), result=b"r"))
    assert [item.published_seq for item in await store.unpublished(1_001, 10)] == [4]
    await store.mark_published([(_key(table), 5)])
    assert await store.unpublished(1_001, 10) == []


async def test_the_unpublished_are_looked_for_among_some_games_at_a_time(store: SqlStore) -> None:
    """From the last one that was looked at on; what the passes find together is what one that sees all finds."""
    tables = [await _started(store, f"t{number}") for number in range(12)]
    await store.mark_published([(_key(table), 4) for table in tables[::3]])
    expected = sorted((table.shard, table.table_id) for number, table in enumerate(tables) if number % 3)
    found: list[tuple[int, str]] = []
    looked_at, passes = None, 0
    while not passes or looked_at is not None:
        page = await store.unpublished(1_001, 10, after=looked_at, rows=5)
        found += [(game.shard, game.table_id) for game in page]
        looked_at = await store.live_edge(looked_at, 5)
        passes += 1
    assert found == expected
    assert passes == 3


async def test_live_games_are_listed_by_shard_page_by_page(store: SqlStore) -> None:
    tables = [await _started(store, f"t{number}") for number in range(12)]
    expected = sorted((table.shard, table.table_id) for table in tables)
    first = await store.list_live([], None, 5)
    rest = await store.list_live([], (first[-1].shard, first[-1].table_id), 50)
    assert [(game.shard, game.table_id) for game in (*first, *rest)] == expected
    assert {
        (game.last_update, game.grace_ms, tuple(game.bot_levels.items())) for game in first if game.table_id == "t1"
    } <= {(b"t1:1-4", 500, ((1, "easy"),))}
    some = await store.list_live([expected[0][0]], None, 50)
    assert {game.shard for game in some} == {expected[0][0]}


async def test_bots_are_there_and_not_among_those_looked_through_for_absent_people(store: SqlStore) -> None:
    table = await _started(store, "one")
    loaded = await store.load_table(_key(table))
    assert loaded is not None
    assert [(seat.name, seat.present) for seat in loaded.seats] == [("A", True), ("Bot 1", True)]
    stored = sa.select(seats.c.name).where(seats.c.present)
    looked_through = await store._database.read(lambda connection: connection.execute(stored).scalars().all())
    assert looked_through == ["A"]


def _place(table: Table) -> tuple[int, str]:
    return table.shard, table.table_id


async def test_a_page_of_live_games_is_filled_past_those_that_are_paused(store: SqlStore) -> None:
    tables = sorted([await _started(store, f"t{number}") for number in range(9)], key=_place)
    for table in tables[1:5]:
        assert await store.save_table(replace(table, lobby_version=3, paused_at_ms=1))
    first = await store.list_live([], None, 2)
    rest = await store.list_live([], (first[-1].shard, first[-1].table_id), 50)
    assert [game.table_id for game in first] == [tables[0].table_id, tables[5].table_id]
    assert [game.table_id for game in rest] == [table.table_id for table in tables[6:]]


async def test_a_failing_piece_of_work_leaves_the_others_of_its_batch_alone(store: SqlStore) -> None:
    table = await _started(store, "one")
    other = replace(_table("two"), host_session_id="x" * 10)
    results = await asyncio.gather(
        store.create_table(other),
        store.start_game(replace(table, lobby_version=3), _row(table, 1, 4, "")),
        store.append(_row(table, 5, 5, "c")),
        return_exceptions=True,
    )
    assert (results[0], results[2]) == (True, True)
    assert isinstance(results[1], Exception)
    loaded = await store.load_table(_key(table))
    assert loaded is not None
    assert (loaded.lobby_version, loaded.last_seq) == (2, 5)


async def test_a_command_of_another_history_is_not_committed(store: SqlStore, store_url: str) -> None:
    """Given a replica that knows nothing of a restore, what it has decided does not get into the log."""
    table = await _started(store, "one")
    before = store.history_id
    assert (len(before), await store.check_history()) == (16, False)
    loaded = await store.load_table(_key(table))
    assert loaded is not None
    assert loaded.history_id == before
    assert await store.append(replace(_row(table, 5, 5, "c1"), history_id=before))
    other = open_database(store_url)
    await other.start()
    after = await other.write(sql_histories.begin)
    await other.close()
    assert after != before
    assert not await store.append(replace(_row(table, 6, 6, "c2"), history_id=before))
    assert not await store.append(replace(_row(table, 6, 6, "c2"), history_id=before, result=b"r"))
    assert (await store.check_history(), store.history_id) == (True, after)
    assert await store.append(replace(_row(table, 6, 6, "c2"), history_id=after))
    assert (await store.find_command(_key(table), "c2")).last_seq == 6
