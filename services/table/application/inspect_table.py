"""Where a table stands, for operators: everything but its secrets."""

from __future__ import annotations

from dataclasses import dataclass

from google.protobuf.message import DecodeError
from magnate.game.v1 import update_pb2

from services.table.application.audit import AuditEntry, Marks
from services.table.application.lobby import key_of, no_table
from services.table.application.ports import PlayTime, Store
from services.table.application.redeciding import LogCheck, Redeciding
from services.table.domain.table import Status, Table

_RECENT = 5


@dataclass(frozen=True, slots=True)
class Inspected:
    """The table, its last update (empty where there is none that can be read), and what is known around it."""

    table: Table
    update: update_pb2.Update
    marks: Marks
    shard_play_time_ms: int
    check: LogCheck | None
    recent: list[AuditEntry]


class InspectTable:
    """Reads only; the log is decided anew where that is asked for."""

    def __init__(self, store: Store, play_time: PlayTime, redeciding: Redeciding) -> None:
        self._store = store
        self._play_time = play_time
        self._redeciding = redeciding

    async def run(self, table_id: str, *, check: bool) -> Inspected:
        """Refuses with `no_table`."""
        key = key_of(table_id)
        game = await self._store.load_game(key)
        if game is None:
            raise no_table()
        table = game.table
        try:
            update = update_pb2.Update.FromString(game.last_update)
        except DecodeError:
            update = update_pb2.Update()
        checked = await self._redeciding.check(key, table.last_seq) if check and table.last_seq else None
        if checked is not None and table.status != Status.FINISHED:
            # What differs might be the seed.
            checked = LogCheck(
                checked.same, checked.first_difference, "" if checked.same else "it differs", checked.commands, b""
            )
        return Inspected(
            table=table,
            update=update,
            marks=await self._store.load_marks(table),
            shard_play_time_ms=self._play_time.now_ms(key.shard) or 0,
            check=checked,
            recent=await self._store.list_audit(table_id, None, _RECENT),
        )
