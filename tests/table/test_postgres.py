"""The Postgres of the table service when its connections break."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import asyncpg
import pytest
import sqlalchemy as sa
from magnate.table.v1 import table_service_pb2 as pb

from services.kit.errors import ServiceError
from services.table.adapters.postgres import PostgresDatabase
from services.table.application.ports import LogRow
from tests.support.site_of_tables import Tables, open_tables

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

_COUNT_COMMITS = """
    CREATE SEQUENCE commits;
    CREATE FUNCTION count_commit() RETURNS trigger AS 'BEGIN PERFORM nextval(''commits''); RETURN NEW; END'
        LANGUAGE plpgsql;
    CREATE TRIGGER counted AFTER UPDATE ON probes FOR EACH ROW EXECUTE FUNCTION count_commit();
"""

_WAITING = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'probes'::regclass"


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


def _probe(tables: Tables, number: int) -> asyncio.Task[None]:
    return asyncio.create_task(tables.client.Probe(pb.ProbeRequest(probe_id=f"p{number}")))


async def test_probes_that_piled_up_do_not_stand_in_the_way(postgres_url: str) -> None:
    """Given a store that hangs while a hundred probes come, when it goes on, then all of them come back, and those that
    waited were one commit: commands would queue up behind each."""
    tables = await open_tables(postgres_url)
    keeper = await asyncpg.connect(postgres_url)
    await keeper.execute(_COUNT_COMMITS)
    hang = keeper.transaction()
    await hang.start()
    await keeper.execute("LOCK TABLE probes IN EXCLUSIVE MODE")
    probes: list[asyncio.Task[None]] = []
    for under_way in (1, 2, 3, 4):
        probes.append(_probe(tables, len(probes)))
        while await keeper.fetchval(_WAITING) < under_way:
            await asyncio.sleep(0.01)
    probes += [_probe(tables, number) for number in range(4, 100)]
    await asyncio.sleep(0)
    await hang.rollback()
    async with asyncio.timeout(5):
        await asyncio.gather(*probes)
    assert await keeper.fetchval("SELECT last_value FROM commits") == 5
    await keeper.close()
    await tables.close()
