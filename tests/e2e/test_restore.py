"""A site is restored from a backup while its clients have seen more: they are told so, begin anew, and play on."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import asyncpg
import pytest
from magnate.gateway.v1 import gateway_service_pb2 as pb

from services.clock.adapters.databases import open_database as open_clock_database
from services.clock.adapters.epochs import leave_behind
from tests.support.backups import Backup, DumpBackup, FileBackup, PointInTimeBackup, begin_history
from tests.support.servers import PostgresServer
from tests.support.site_clients import Guest, People, Visitors, Watcher
from tests.support.sites import LiveSite, distributed_site, embedded_site

_SERVICES = ("gateway", "bots", "clock", "table", "rules")


class Case:
    """A site of its own, for its store is exchanged, and the backup of it."""

    def __init__(self, site: LiveSite, backup: Backup) -> None:
        self.site = site
        self.backup = backup

    @property
    def database(self) -> str:
        """Where the store is."""
        if self.site.is_embedded:
            return f"sqlite:///{self.site.folder / 'data' / 'magnate.db'}"
        return self.site.settings["MAGNATE_DATABASE_URL"]

    def go_back(self) -> None:
        """As docs/operate.md tells, but that Redis is not emptied: it still has what came after the backup."""
        self.backup.restore()
        assert begin_history(self.database).startswith("restored: the store holds history ")


@contextmanager
def _embedded() -> Iterator[Case]:
    with embedded_site() as site:
        yield Case(site, FileBackup(site.folder))


@contextmanager
def _dumped() -> Iterator[Case]:
    server = PostgresServer()
    with distributed_site(server, dict.fromkeys(_SERVICES, 1)) as site:
        yield Case(site, DumpBackup(server, site.folder))
    server.remove()


@contextmanager
def _to_a_moment() -> Iterator[Case]:
    server = PostgresServer()
    backup = PointInTimeBackup(server)
    with distributed_site(server, dict.fromkeys(_SERVICES, 1)) as site:
        yield Case(site, backup)
    backup.remove()
    server.remove()


@pytest.fixture(params=[pytest.param(_embedded, marks=pytest.mark.full), _dumped, _to_a_moment])
def case(request: pytest.FixtureRequest) -> Iterator[Case]:
    """Each way to back up."""
    with request.param() as case:
        case.backup.begin(case.database)
        yield case


async def _start_all(site: LiveSite) -> None:
    if site.local is None:
        await site.start("gateway")
        return
    for name in site.replicas:
        site.local.launch(name)
    await site.alive()


async def _play(people: People, commands: int) -> None:
    for _ in range(commands):
        await people.submit(people.command(await people.decision()))


async def _seen(guest: Guest, table_id: str) -> tuple[str, int]:
    """The history and the last number of a client that has just looked."""
    async with guest.watching(table_id) as watcher:
        history_id = (await watcher.table()).history_id
        return history_id, (await watcher.snapshot()).seq


async def _resumed(guest: Guest, table_id: str, after_seq: int, history_id: str) -> pb.WatchEnded:
    wanted = pb.WatchTarget(table_id=table_id, after_seq=after_seq, history_id=history_id)
    async with guest.raw.Watch(pb.WatchRequest(targets=[wanted]), metadata=guest.metadata, raw=True) as stream:
        return await Watcher(stream, guest.heard).ended()


async def test_a_client_that_is_ahead_of_a_restored_site_begins_anew_and_plays_on(
    case: Case,
) -> None:
    site = case.site
    visitors = Visitors(site)
    people = await visitors.people(2)
    guest, table_id = people.guests[0], people.table_id
    await _play(people, 4)
    before = await guest.log(table_id)
    case.backup.mark()
    await _play(people, 6)
    history_id, seq = await _seen(guest, table_id)
    for service in _SERVICES:
        site.part(service).end()
    case.go_back()
    await _start_all(site)
    told = await _resumed(guest, table_id, seq, history_id)
    assert (told.reason, told.table_id) == ("seq_ahead", table_id)
    assert await guest.log(table_id) == before
    await _play(people, 12)
    assert (await _resumed(guest, table_id, seq, history_id)).reason == "seq_ahead"
    after = await guest.log(table_id)
    assert after[: len(before)] == before
    assert len(after) == len(before) + 12
    await visitors.close()


async def test_a_clock_of_after_the_backup_is_fenced(postgres_url: str) -> None:
    """Whatever it was given then, the restored store gives more; what was never held is still that."""
    told = begin_history(postgres_url)
    connection = await asyncpg.connect(postgres_url)
    assert await connection.fetchval("SELECT max(epoch) FROM clock_shards") == 0
    await connection.execute("UPDATE clock_shards SET epoch = 7 WHERE shard < 3")
    clock = open_clock_database(postgres_url)
    await clock.run(leave_behind)
    await clock.close()
    rows = await connection.fetch("SELECT epoch, count(*) AS shards FROM clock_shards GROUP BY epoch ORDER BY epoch")
    assert [tuple(row) for row in rows] == [(0, 61), (1_000_007, 3)]
    history_id = await connection.fetchval("SELECT history_id FROM histories")
    assert told == f"restored: the store holds history {history_id} from now on\n"
    await connection.close()


def test_a_database_that_is_not_there_is_named() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "services.site", "restored"],
        env={**os.environ, "MAGNATE_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "magnate: the store of tables does not answer" in done.stderr
