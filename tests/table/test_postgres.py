"""The Postgres of the table service when its connections break."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import asyncpg
import pytest
import sqlalchemy as sa

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


async def test_a_probe_waits_for_the_way_of_reads_as_commands_do(postgres_url: str) -> None:
    """Given reads that hang on all their connections, then a probe does not come back, for no command does that has to
    look something up; as soon as one is free it does."""
    database = PostgresDatabase(postgres_url, connections=2)
    await database.start()
    keeper = await asyncpg.connect(postgres_url)
    await keeper.execute("SELECT pg_advisory_lock(7)")
    hang = sa.text("SELECT pg_advisory_xact_lock(7)")
    hanging = [asyncio.create_task(database.read(lambda c: c.execute(hang).rowcount)) for _ in range(2)]
    while await keeper.fetchval("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted") < 2:
        await asyncio.sleep(0.01)
    probe = asyncio.create_task(database.commit_probe(3, "p", 1))
    _, waiting = await asyncio.wait([probe], timeout=0.3)
    assert waiting == {probe}
    await keeper.execute("SELECT pg_advisory_unlock(7)")
    async with asyncio.timeout(5):
        await probe
        await asyncio.gather(*hanging)
    assert await keeper.fetchval("SELECT probe_id FROM probes WHERE shard = 3") == "p"
    await keeper.close()
    await database.close()
