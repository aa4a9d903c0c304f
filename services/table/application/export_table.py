"""The log of a game as a file; its format is described in docs/log-file.md."""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator, Mapping

from google.protobuf.json_format import MessageToDict
from magnate.game.v1 import update_pb2
from magnate.rules.v1 import rules_service_pb2 as rules_pb

from services.table.application.ports import LoggedUpdate, Store, TableKey
from services.table.application.read_updates import Watching
from services.table.domain.refusals import Reason, RefusalError
from services.table.domain.table import Status, Table

FORMAT = "magnate-log"
VERSION = 1
# Each takes about a millisecond, in which nothing else runs.
_ROWS_AT_A_TIME = 8


class ExportTable:
    """JSON Lines: a header, then a line for each command; with the secrets once the game is over. Each line carries a
    digest of all up to it, so that a reader finds the first one that was changed."""

    def __init__(self, store: Store, watching: Watching) -> None:
        self._store = store
        self._watching = watching

    async def run(self, token: str, table_id: str) -> AsyncIterator[bytes]:
        """The file in pieces. Refuses with `not_started` in the lobby, and who may not watch."""
        table = await self._watching.require(token, table_id)
        if not table.last_seq:
            raise RefusalError(Reason.NOT_STARTED, "the game has not been started")
        finished = table.status == Status.FINISHED
        lines = ChainedLines()
        yield lines.add(header_of(table))
        key, after = TableKey(table.shard, table.table_id), 0
        while after < table.last_seq:
            rows, _ = await self._store.read_log(key, after, _ROWS_AT_A_TIME, with_secrets=finished)
            yield b"".join(lines.add(entry_of(row)) for row in rows if row.last_seq <= table.last_seq)
            if not rows:
                return
            after = rows[-1].last_seq


class ChainedLines:
    """Makes lines of values. The `chain` of a line is the hexadecimal SHA-256 over the chain before it (empty before
    the first line) and the line as it would be without it."""

    def __init__(self) -> None:
        self._chain = ""

    def add(self, value: Mapping[str, object]) -> bytes:
        """The next line of the file."""
        self._chain = hashlib.sha256(self._chain.encode() + _canonical(value)).hexdigest()
        return _canonical({**value, "chain": self._chain}) + b"\n"


def header_of(table: Table) -> dict[str, object]:
    """The first line of the file."""
    return {
        "edition": table.seats_of_edition.edition,
        "edition_version": table.seats_of_edition.version,
        "finished": table.status == Status.FINISHED,
        "format": FORMAT,
        "table_id": table.table_id,
        "version": VERSION,
    }


def entry_of(row: LoggedUpdate) -> dict[str, object]:
    """The line of one command: a LogEntry of the rules' contract as JSON."""
    entry = rules_pb.LogEntry.FromString(row.secrets) if row.secrets else rules_pb.LogEntry()
    entry.update.CopyFrom(update_pb2.Update.FromString(row.update))
    return MessageToDict(entry, preserving_proto_field_name=True)


def _canonical(value: Mapping[str, object]) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()
