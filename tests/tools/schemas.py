"""Keeps a store as this program makes it, and the statements that it gives to one: what later programs must cope with.

`python -m tests.tools.schemas NAME` writes `tests/table/schemas/NAME`: a dump of a Postgres and of an SQLite file with
a lobby, games in the middle and a finished one; `facts.json` with what a test must know of them; `statements.json`
with every statement of a replica that served players on that Postgres afterwards. Run it with the code of the release
that is to be kept (PYTHONPATH may name another checkout).
"""

from __future__ import annotations

import asyncio
import base64
import json
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from magnate.table.v1 import table_service_pb2 as pb

from services.clock.adapters.databases import Database as ClockDatabase
from services.clock.adapters.databases import open_database as open_clock_database
from services.clock.adapters.store import SqlStore as ClockStore
from services.clock.application.ports import Kept, Outage, Terms
from services.clock.domain.play_time import Cause, Checkpoint, Instant
from services.table.adapters import postgres
from services.table.application.ports import Sweep, TableKey
from tests.support.servers import PostgresServer
from tests.support.site_of_tables import HandClock, Tables, open_tables, with_options

_PLAY_MS = 3_000
_SNAPSHOT_EVERY = 16


async def main(name: str, root: Path) -> None:
    """Makes the folder `name` below `root`."""
    folder = root / name
    folder.mkdir(parents=True, exist_ok=True)
    server = PostgresServer()
    try:
        with tempfile.TemporaryDirectory() as scratch:
            path = Path(scratch) / "magnate.db"
            facts = {"sqlite": await _fill(f"sqlite:///{path}")}
            with sqlite3.connect(path) as connection:
                (folder / "sqlite.sql").write_text("\n".join(connection.iterdump()) + "\n")
        url = server.new_database()
        facts["postgres"] = await _fill(url)
        (folder / "postgres.sql").write_text(_dump(server, url))
        (folder / "facts.json").write_text(json.dumps(facts, indent=1, sort_keys=True) + "\n")
        statements = await _record(url, facts["postgres"])
        (folder / "statements.json").write_text(json.dumps(statements, separators=(",", ":")) + "\n")
    finally:
        server.remove()


async def _fill(url: str) -> dict[str, Any]:
    """A store with something of everything; what there is in it."""
    clock = HandClock(play=100_000)
    tables = await open_tables(url, clock=clock, options=with_options(snapshot_every=_SNAPSHOT_EVERY))
    facts: dict[str, Any] = {}
    waiting = await tables.session("Waiting")
    lobby = (await tables.table(waiting)).table.table_id
    facts["lobby"] = {"table_id": lobby, "tokens": [waiting]}
    for kind, commands in (("finished", 6), ("running", 20)):
        table_id, tokens = await tables.running()
        for number in range(commands):
            clock.pass_ms(_PLAY_MS)
            await tables.play(table_id, tokens, 1, f"{kind}{number}")
        if kind == "finished":
            await _finish(tables, table_id)
        last = await tables.last(table_id)
        facts[kind] = {
            "table_id": table_id,
            "tokens": tokens,
            "last_seq": last.last_seq,
            "state_hash": last.state_hash.hex(),
            "commands": len(await tables.updates(table_id)),
        }
    bots, host = await tables.running_bots()
    facts["bots"] = {"table_id": bots, "tokens": [host], "last_seq": (await tables.last(bots)).last_seq}
    await tables.settle()
    await tables.application.outbox.write_marks()
    await tables.close()
    facts["unix_ms"], facts["play_time_ms"] = clock.unix, clock.play
    await _keep_time(url, clock)
    return facts


async def _finish(tables: Tables, table_id: str) -> None:
    """The clock runs out on whoever is asked, until one is left."""
    while not (update := await tables.last(table_id)).game_over:
        deadline = update.deadlines[0]
        tables.clock.play = max(tables.clock.play or 0, deadline.opened_at_ms + deadline.budget_ms + 500)
        await tables.client.ExpireDeadline(
            pb.ExpireDeadlineRequest(table_id=table_id, deadline_id=deadline.deadline_id)
        )


async def _keep_time(url: str, clock: HandClock) -> None:
    store = _clock_store(open_clock_database(url), clock)
    await _tick(store, clock)
    await store.close()


class _ClockTime:
    """The clock's time is that of the tables."""

    def __init__(self, clock: HandClock) -> None:
        self._clock = clock

    def now(self) -> Instant:
        return Instant(mono_ns=0, unix_ms=self._clock.unix)


def _clock_store(database: ClockDatabase, clock: HandClock) -> ClockStore:
    return ClockStore(database, replica="kept", terms=Terms(lease_ms=3_000, join_ms=0), timepiece=_ClockTime(clock))


async def _tick(store: ClockStore, clock: HandClock) -> None:
    [taken] = (await store.look((), None)).taken
    checkpoint = Checkpoint(play_time_ms=clock.play or 0, given_back_ms=1_500, uncounted_ms=0, cause=None)
    outage = Outage(
        outage_id=1,
        from_unix_ms=clock.unix - 9_000,
        to_unix_ms=clock.unix - 7_500,
        cause=Cause.PROBE_LOST,
        given_back_ms=1_500,
        shards=taken.shards,
    )
    await store.save([Kept(shards=taken.shards, epoch=taken.epoch, checkpoint=checkpoint)], [outage])
    await store.list_outages(before_id=None, limit=10)


def _dump(server: PostgresServer, url: str) -> str:
    """Plain SQL that any Postgres from 14 on takes, without the orders to one program that reads it."""
    program = server.programs / "pg_dump"
    done = subprocess.run(
        [str(program), "--inserts", "--no-owner", "--no-privileges", "--no-comments", "--dbname", url],
        check=True,
        capture_output=True,
        text=True,
    )
    unwanted = ("--", "SET ", "\\", "SELECT pg_catalog.set_config")
    lines = [line for line in done.stdout.splitlines() if line and not line.startswith(unwanted)]
    return "\n".join(lines) + "\n"


async def _record(url: str, facts: dict[str, Any]) -> list[dict[str, Any]]:
    """What a replica says to the store while it serves: each statement, its values, and how many rows it touched."""
    clock = HandClock(unix=facts["unix_ms"], play=facts["play_time_ms"])
    tables = await open_tables(url, clock=clock, options=with_options(snapshot_every=_SNAPSHOT_EVERY))
    said: list[dict[str, Any]] = []
    database = tables.store._database  # type: ignore[attr-defined]

    def note(_conn: Any, cursor: Any, statement: str, values: Any, _context: Any, many: bool) -> None:
        for some in values if many else [values]:
            said.append({"sql": statement, "values": _written(some), "rows": None if many else cursor.rowcount})

    append = database._append

    async def noted(rows: Any) -> Any:
        done = await append(rows)
        columns = [list(column) for column in zip(*(postgres._values(row) for row in rows), strict=True)]
        said.append({"sql": postgres._APPEND, "values": _written(columns), "rows": len(done)})
        return done

    of_clock = open_clock_database(url)
    for engine in (database._engine, of_clock._engine):  # type: ignore[attr-defined]
        sa.event.listen(engine.sync_engine, "after_cursor_execute", note)
    database._append = noted
    await _serve(tables, facts)
    await tables.close()
    store = _clock_store(of_clock, clock)
    store._migrated = True  # or its own revisions would be among the statements
    await _tick(store, clock)
    await store.close()
    return said


async def _serve(tables: Tables, facts: dict[str, Any]) -> None:
    """A little of everything that a replica does."""
    store, clock, running = tables.store, tables.clock, facts["running"]
    table_id, tokens = running["table_id"], running["tokens"]
    for number in range(_SNAPSHOT_EVERY):
        clock.pass_ms(_PLAY_MS)
        await tables.play(table_id, tokens, 1, f"again{number}")
    other, others = await tables.running()
    await tables.play(other, others, 3)
    await _finish(tables, other)
    joining = await tables.session("Joins")
    lobby = facts["lobby"]["table_id"]
    await tables.client.JoinTable(pb.JoinTableRequest(session_token=joining, table_id=lobby))
    await tables.client.LeaveTable(pb.LeaveTableRequest(session_token=joining, table_id=lobby))
    await tables.client.RenewSession(pb.RenewSessionRequest(session_token=joining))
    for game in (running, facts["finished"]):
        reading, token = game["table_id"], game["tokens"][0]
        await tables.updates(reading)
        await tables.client.GetSnapshot(pb.GetSnapshotRequest(session_token=token, table_id=reading))
        exporting = pb.ExportTableRequest(session_token=token, table_id=reading)
        async with tables.client.ExportTable(exporting) as pieces:
            async for _ in pieces:
                pass
    await tables.client.ListTables(pb.ListTablesRequest(session_token=tokens[0]))
    await tables.client.ListMyTables(pb.ListMyTablesRequest(session_token=tokens[0]))
    await tables.client.ListDeadlines(pb.ListDeadlinesRequest())
    await tables.client.ListBotTurns(pb.ListBotTurnsRequest())
    await tables.client.Probe(pb.ProbeRequest(probe_id="kept"))
    await tables.settle()
    await tables.application.outbox.write_marks()
    await store.unpublished(clock.unix + 1, 10)
    await store.unpublished_lobbies(clock.unix + 1, 10)
    await store.list_quiet(clock.unix + 1, None, 10)
    sweep = Sweep(now_ms=clock.unix, absent_before_ms=clock.unix, vacated_before_ms=0, lobby_before_ms=0)
    await store.mark_absent(sweep, 10)
    await store.abandoned(sweep, 10)
    shard = (await tables.client.DescribeTable(pb.DescribeTableRequest(table_id=table_id))).table.shard
    seat = (await store.load_table(TableKey(shard, table_id))).seats[0]  # type: ignore[union-attr]
    await store.touch([(TableKey(shard, table_id), seat.session_id)], clock.unix)
    await store.delete_expired_sessions(0, 10)


def _written(values: Any) -> Any:
    """Values as JSON; bytes as an object of their own."""
    if isinstance(values, bytes | memoryview):
        return {"base64": base64.b64encode(bytes(values)).decode()}
    if isinstance(values, list | tuple):
        return [_written(value) for value in values]
    return values


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path("tests/table/schemas")))
