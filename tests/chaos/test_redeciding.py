"""Stored games decide again to what is stored; one changed byte of what is stored does not."""

from __future__ import annotations

from collections.abc import Callable

import asyncpg
import pytest
from magnate.game.v1 import update_pb2

from services.rules.codec.states import read_state, write_state
from tests.chaos.redeciding import redecide
from tests.chaos.tables import Stored, last_seqs, read_stored
from tests.support.site_of_tables import open_tables, with_options


@pytest.fixture
async def stored(postgres_url: str) -> Stored:
    """A running game in a real database, some commands after its last snapshot."""
    tables = await open_tables(postgres_url, options=with_options(snapshot_every=8))
    table_id, tokens = await tables.running(3)
    await tables.play(table_id, tokens, 30)
    await tables.close()
    database = await asyncpg.connect(postgres_url)
    found = await read_stored(database, table_id)
    assert await last_seqs(database) == {table_id: found.last_seq}
    await database.close()
    return found


def _changed(stored: Stored, number: int, change: Callable[[update_pb2.Update], None]) -> Stored:
    update = update_pb2.Update.FromString(stored.rows[number].update)
    change(update)
    rows = list(stored.rows)
    rows[number] = rows[number]._replace(update=update.SerializeToString())
    return stored._replace(rows=rows)


def _with_cash(stored: Stored) -> Stored:
    state = read_state(stored.snapshot)
    state.cash[0] += 1
    return stored._replace(snapshot=write_state(state))


async def test_a_stored_game_decides_again_to_its_state(stored: Stored) -> None:
    """Given a game as it was played, then its log, its snapshot and where it stands agree."""
    assert len(stored.rows) == 31
    assert 0 < stored.snapshot_seq < stored.last_seq
    assert redecide(stored) == []


async def test_what_was_changed_in_the_database_is_found(stored: Stored) -> None:
    """Given a stored game with one thing changed, then it is found to differ."""
    doctored = {
        "the play time of a command": _changed(stored, 9, lambda update: setattr(update, "play_time_ms", 77)),
        "the seat of a command": _changed(
            stored, 9, lambda update: setattr(update.command, "seat", update.command.seat ^ 1)
        ),
        "a state hash": _changed(stored, 12, lambda update: setattr(update, "state_hash", b"12345678")),
        "a command is left out": stored._replace(rows=[*stored.rows[:9], *stored.rows[10:]]),
        "the last command is left out": stored._replace(rows=stored.rows[:-1]),
        "the stored state": _with_cash(stored),
        "the place of the snapshot": stored._replace(snapshot_seq=stored.rows[3].last_seq),
        "the number of the game": stored._replace(last_seq=stored.last_seq + 1),
        "the end of the game": stored._replace(is_over=True),
    }
    found = {what: [trouble.sort for trouble in redecide(damaged)] for what, damaged in doctored.items()}
    assert {what for what, sorts in found.items() if "differs" not in sorts} == set()
