"""What the database has of a table, and what the clients noted about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import asyncpg

from tests.chaos.journal import Note


class Row(NamedTuple):
    """A row of the log, as it is stored."""

    first_seq: int
    last_seq: int
    command_id: str
    digest: bytes
    play_time_ms: int
    update: bytes
    secrets: bytes


class Stored(NamedTuple):
    """A table in the database: its log in order, the number its game stands at, its newest snapshot and its result."""

    table_id: str
    rows: Sequence[Row]
    last_seq: int
    snapshot_seq: int
    snapshot: bytes
    is_over: bool


class Noted(NamedTuple):
    """What one client noted of one table, in order."""

    client: str
    notes: Sequence[Note]


_ROWS = """
    SELECT first_seq, last_seq, command_id, digest, play_time_ms, update_bytes, secrets
    FROM game_log WHERE table_id = $1 ORDER BY last_seq, first_seq
"""
_GAME = """
    SELECT g.last_seq, g.is_over, s.seq, s.snapshot
    FROM games g LEFT JOIN game_snapshots s USING (shard, table_id) WHERE table_id = $1
"""


async def read_stored(database: asyncpg.Connection, table_id: str) -> Stored:
    """A table as it is in the database; without rows if it is not there."""
    rows = [Row(*record) for record in await database.fetch(_ROWS, table_id)]
    game = await database.fetchrow(_GAME, table_id)
    if game is None:
        return Stored(table_id, rows, 0, 0, b"", False)
    last_seq, is_over, seq, snapshot = game
    return Stored(table_id, rows, last_seq, seq or 0, snapshot or b"", is_over)


async def last_seqs(database: asyncpg.Connection) -> dict[str, int]:
    """How far the game of each table has come."""
    return {record[0]: record[1] for record in await database.fetch("SELECT table_id, last_seq FROM games")}
