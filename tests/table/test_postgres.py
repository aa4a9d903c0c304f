"""The Postgres of the table service when its connections break."""

from __future__ import annotations

from collections.abc import Sequence

import asyncpg
import pytest

from services.kit.errors import ServiceError
from services.table.adapters.postgres import PostgresDatabase
from services.table.application.ports import LogRow

_ROW = LogRow(
    shard=1,
    table_id="nowhere",
    first_seq=2,
    last_seq=3,
    holders_version=0,
    command_id="c",
    digest=b"d",
    play_time_ms=0,
    update=b"u",
    secrets=b"",
    at_unix_ms=0,
)


@pytest.mark.parametrize(
    "error", [asyncpg.InternalClientError("cannot switch to state 12"), ValueError("a fault of our own")]
)
async def test_whatever_an_append_fails_with_is_told_to_whom_it_concerns(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """Given a connection that fails in a way that nobody expects, when commands wait for it, then each is told that the
    store does not answer, since its table waits with it; and the next command is appended as ever."""
    database = PostgresDatabase(postgres_url)
    await database.start()
    append = database._append

    async def broken(rows: Sequence[LogRow]) -> set[str]:
        monkeypatch.setattr(database, "_append", append)
        raise error

    monkeypatch.setattr(database, "_append", broken)
    waiting = database.append(_ROW)
    with pytest.raises(ServiceError) as raised:
        await waiting
    assert (raised.value.reason, raised.value.retry_after_ms) == ("unreachable", 500)
    assert await database.append(_ROW) is False
    await database.close()
