"""The log of a game as a file; its format is described in docs/log-file.md."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

from google.protobuf.json_format import MessageToDict
from magnate.game.v1 import update_pb2
from magnate.rules.v1 import rules_service_pb2 as rules_pb

from services.table.application.ports import LoggedUpdate, Store, TableKey
from services.table.application.read_updates import Watching
from services.table.domain.refusals import Reason, RefusalError
from services.table.domain.table import Status, Table

FORMAT = "magnate-log"
VERSION = 1
_ROWS_AT_A_TIME = 20


class ExportTable:
    """JSON Lines: a header, then a line for each command; with the secrets once the game is over."""

    def __init__(self, store: Store, watching: Watching) -> None:
        self._store = store
        self._watching = watching

    async def run(self, token: str, table_id: str) -> AsyncIterator[bytes]:
        """The file in pieces. Refuses with `not_started` in the lobby, and who may not watch."""
        table = await self._watching.require(token, table_id)
        if table.status in (Status.LOBBY, Status.EXPIRED):
            raise RefusalError(Reason.NOT_STARTED, "the game has not been started")
        finished = table.status == Status.FINISHED
        yield header_line(table)
        key, after = TableKey(table.shard, table.table_id), 0
        while after < table.last_seq:
            rows, _ = await self._store.read_log(key, after, _ROWS_AT_A_TIME, with_secrets=finished)
            yield b"".join(entry_line(row) for row in rows if row.last_seq <= table.last_seq)
            if not rows:
                return
            after = rows[-1].last_seq


def header_line(table: Table) -> bytes:
    """The first line of the file."""
    return _line(
        {
            "edition": table.seats_of_edition.edition,
            "edition_version": table.seats_of_edition.version,
            "finished": table.status == Status.FINISHED,
            "format": FORMAT,
            "table_id": table.table_id,
            "version": VERSION,
        }
    )


def entry_line(row: LoggedUpdate) -> bytes:
    """The line of one command: a LogEntry of the rules' contract as JSON."""
    entry = rules_pb.LogEntry.FromString(row.secrets) if row.secrets else rules_pb.LogEntry()
    entry.update.CopyFrom(update_pb2.Update.FromString(row.update))
    return _line(MessageToDict(entry, preserving_proto_field_name=True))


def _line(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode() + b"\n"
