"""Tables that nobody plays at now, many of them, in the store of a distributed site: copies of a real one.

The real one is a person who thinks, with a bot at the table; its copies have one row of the log each, the newest, in
which the person's deadline is far off.
"""

from __future__ import annotations

import asyncio
import secrets
import time

import asyncpg
from magnate.game.v1 import update_pb2
from magnate.gateway.v1 import gateway_service_pb2 as pb
from magnate.table.v1 import table_pb2

from tests.bench.load import Connection

_FAR_MS = 10**9
_LIMIT_S = 60.0
_SHARDS = 64
# What each copy has of its own; everything else is as in the real one.
_OWN = {
    "shard": f"(n % {_SHARDS})::smallint",
    "table_id": "'idle' || lpad(n::text, 12, '0')",
    "host_session_id": "'idler' || n",
    "session_id": "CASE WHEN session_id = '' THEN '' ELSE 'idler' || n END",
    "present": "present AND session_id = ''",
    "update_bytes": "$4::bytea",
    "published_seq": "last_seq",
    "published_version": "lobby_version",
}
_COPIED = ("tables", "seats", "games", "game_log")


def add_idle_tables(address: str, database_url: str, first: int, count: int) -> None:
    """Adds so many, numbered from `first`. RuntimeError when the real one does not get to a person's turn."""
    asyncio.run(_add(address, database_url, first, count))


async def _add(address: str, database_url: str, first: int, count: int) -> None:
    table_id, last = await _thinking_person(address)
    for deadline in last.deadlines:
        deadline.budget_ms = _FAR_MS
    connection = await asyncpg.connect(database_url)
    try:
        async with connection.transaction():
            for name in _COPIED:
                columns = await _columns(connection, name)
                wanted = ", ".join(_OWN.get(column, column) for column in columns)
                newest = f"AND last_seq = {last.last_seq}" if name == "game_log" else ""
                update = "AND $4::bytea IS NOT NULL"
                await connection.execute(
                    f"INSERT INTO {name} ({', '.join(columns)}) SELECT {wanted} FROM {name}, "
                    f"generate_series($1::int, $2::int) n WHERE table_id = $3 {newest} {update}",
                    first,
                    first + count - 1,
                    table_id,
                    last.SerializeToString(),
                    timeout=600,
                )
        await connection.execute("VACUUM ANALYZE", timeout=600)
    finally:
        await connection.close()


async def _columns(connection: asyncpg.Connection, name: str) -> list[str]:
    found = await connection.fetch(
        "SELECT column_name FROM information_schema.columns WHERE table_schema = 'public' AND table_name = $1", name
    )
    return [record[0] for record in found]


async def _thinking_person(address: str) -> tuple[str, update_pb2.Update]:
    """A table whose person is asked, and the last update of its log."""
    connection = Connection(address)
    token = await connection.session("the one who thinks")
    settings = table_pb2.TableSettings(edition="industry", seats=2, spectators=True)
    created = await connection.call(pb.CreateTableRequest(settings=settings, command_id=secrets.token_hex(8)), token)
    table_id = str(created.table.table_id)
    await connection.call(pb.AddBotsRequest(table_id=table_id, count=1), token)
    started = await connection.call(pb.StartGameRequest(table_id=table_id), token)
    own_seat = next(number for number, seat in enumerate(started.table.seats) if not seat.bot_level)
    limit_s = time.monotonic() + _LIMIT_S
    watch = connection.watch(token, [table_id], after_seq=0)
    async for message in watch:
        if message.WhichOneof("message") == "update" and list(message.update.decision.seats) == [own_seat]:
            update = update_pb2.Update()
            update.CopyFrom(message.update)
            watch.cancel()
            await connection.channel.close()
            return table_id, update
        if time.monotonic() > limit_s:
            break
    raise RuntimeError("the table that is to be copied does not get to its person's turn")
