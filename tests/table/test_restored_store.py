"""A replica under which the store is restored from a backup goes on from what the store holds, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import sqlalchemy as sa
from magnate.rules.v1 import rules_service_pb2 as rules_pb
from magnate.table.v1 import table_pb2
from magnate.table.v1 import table_service_pb2 as pb

from services.kit.calls import LocalClient
from services.rules.main import DESCRIPTOR as RULES
from services.rules.main import build_handler
from services.rules.settings import RulesSettings
from services.table.adapters import sql_histories
from services.table.adapters.schema import metadata
from services.table.adapters.store import open_database
from services.table.application.lobby import key_of
from tests.support.site_of_tables import Tables, open_tables, refusal

# Rows of the audit log cannot be taken away, and no game depends on them.
_TABLES = [table for table in metadata.sorted_tables if table.name != "audit_log"]


async def _in_the_store(url: str, work: Callable[[sa.Connection], None]) -> None:
    database = open_database(url)
    await database.start()
    await database.write(work)
    await database.close()


def _back_up(connection: sa.Connection) -> None:
    for table in _TABLES:
        connection.execute(sa.text(f"CREATE TABLE kept_{table.name} AS SELECT * FROM {table.name}"))


def _restore(connection: sa.Connection) -> None:
    for table in _TABLES:
        connection.execute(sa.text(f"DELETE FROM {table.name}"))
        connection.execute(sa.text(f"INSERT INTO {table.name} SELECT * FROM kept_{table.name}"))
    sql_histories.begin(connection)


async def _replays(tables: Tables, table_id: str) -> bool:
    """Whether the log in the store is one that the rules make."""
    request = rules_pb.ReplayRequest()
    rows, _ = await tables.store.read_log(key_of(table_id), 0, 1_000, with_secrets=True)
    for row in rows:
        entry = rules_pb.LogEntry.FromString(row.secrets)
        entry.update.ParseFromString(row.update)
        request.entries.append(entry)
    return bool((await LocalClient(RULES, build_handler(RulesSettings())).Replay(request)).same)


async def test_a_forgotten_replica_goes_on_from_the_log(store_url: str) -> None:
    """Given a replica that knows a game up to an event, when the store is restored to an earlier one, its next commands
    are decided on the log and not on its memory."""
    forgotten = await open_tables(store_url)
    table_id, tokens = await forgotten.running()
    await forgotten.play(table_id, tokens, 6)
    await _in_the_store(store_url, _back_up)
    await forgotten.play(table_id, tokens, 4, "lost")
    await _in_the_store(store_url, _restore)
    fresh = await open_tables(store_url, clock=forgotten.clock)
    deadline = (await fresh.last(table_id)).deadlines[0]
    forgotten.clock.pass_ms(deadline.opened_at_ms + deadline.budget_ms - (forgotten.clock.play or 0) - 1_000)
    await forgotten.play(table_id, tokens, 3, "after")
    ids = [update.command.command_id for update in await fresh.updates(table_id)]
    assert len(ids) == 10
    assert ids[-3:] == ["after-0", "after-1", "after-2"]
    assert await _replays(fresh, table_id)
    await fresh.close()
    await forgotten.close()


async def test_a_replica_that_notices_a_restore_publishes_nothing_of_before(store_url: str) -> None:
    tables = await open_tables(store_url, publishing=False)
    table_id, tokens = await tables.running()
    await tables.listen()
    await _in_the_store(store_url, _back_up)
    await tables.play(table_id, tokens, 2)
    await _in_the_store(store_url, _restore)
    before = tables.store.history_id
    await tables.application.histories.check()
    assert tables.store.history_id != before
    await tables.play(table_id, tokens, 1, "kept")
    tables.tasks.append(asyncio.create_task(tables.application.outbox.run()))
    await tables.settle()
    heard = [message for message in tables.heard if message.WhichOneof("message") == "update"]
    assert [message.history_id for message in heard] == [tables.store.history_id]
    assert b"kept-0" in heard[0].update
    await tables.close()


async def test_what_came_after_the_backup_is_unknown_and_what_came_before_is_not(store_url: str) -> None:
    """Sessions and tables of after the backup are gone; a command of then may be given again under its id."""
    tables = await open_tables(store_url)
    table_id, tokens = await tables.running()
    done = await tables.next_command(table_id, "before")
    await tables.submit(tokens[done.seat], table_id, done)
    await _in_the_store(store_url, _back_up)
    later = await tables.next_command(table_id, "later")
    await tables.submit(tokens[later.seat], table_id, later)
    stranger = await tables.session("Later")
    created = (await tables.table(tokens[0])).table
    await _in_the_store(store_url, _restore)
    restarted = await open_tables(store_url, clock=tables.clock)
    assert (await restarted.submit(tokens[done.seat], table_id, done)).repeated
    assert not (await restarted.submit(tokens[later.seat], table_id, later)).repeated
    wanted = pb.GetSessionRequest(session_token=stranger)
    assert await refusal(restarted.client.GetSession(wanted)) == "no_session"
    gone = pb.DescribeTableRequest(table_id=created.table_id)
    assert await refusal(restarted.client.DescribeTable(gone)) == "no_table"
    described = (await restarted.client.DescribeTable(pb.DescribeTableRequest(table_id=table_id))).table
    assert (described.status, described.history_id) == (
        table_pb2.TABLE_STATUS_RUNNING,
        restarted.store.history_id,
    )
    await restarted.close()
    await tables.close()
