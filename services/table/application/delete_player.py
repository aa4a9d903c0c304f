"""Deletes what is kept of a player."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

from magnate.admin.v1 import admin_service_pb2 as admin_pb

from services.kit.errors import ServiceError
from services.table.application.audit import AuditEntry
from services.table.application.hot_tables import HotTables
from services.table.application.lobby import Lobby
from services.table.application.outbox import Outbox
from services.table.application.ports import Chance, Store, TableKey
from services.table.application.sessions import Sessions
from services.table.application.withdraw_seat import WithdrawSeat
from services.table.domain.refusals import Reason, RefusalError
from services.table.domain.shards import shard_of
from services.table.domain.table import Status, Table, leave

_PAGE = 100
# The seat is out already, or nobody can take it out now: then it keeps its place, without a name.
_STAYS = frozenset({"seat_out", "game_over", "table_stopped", "table_paused", "no_table"})


@dataclass(frozen=True, slots=True)
class Deleted:
    """How many seats were withdrawn and renamed, and how many lobbies left."""

    withdrawn: int
    left: int
    renamed: int


class DeletePlayer:
    """His games go on without him. The logs hold no names and stay as they are, so that they replay."""

    def __init__(
        self,
        *,
        store: Store,
        lobby: Lobby,
        sessions: Sessions,
        withdraw_seat: WithdrawSeat,
        hot_tables: HotTables,
        outbox: Outbox,
        chance: Chance,
    ) -> None:
        self._store = store
        self._lobby = lobby
        self._sessions = sessions
        self._withdraw_seat = withdraw_seat
        self._hot_tables = hot_tables
        self._outbox = outbox
        self._chance = chance

    async def run(self, session_id: str, entry: AuditEntry) -> Deleted:
        """Refuses with `no_session` when nothing is kept. Each seat that is withdrawn has an entry of its own."""
        withdrawn = left = 0
        async for table in self._tables_of(session_id):
            if table.status == Status.RUNNING:
                withdrawn += await self._withdraw(table, session_id, entry)
            elif table.status == Status.LOBBY:
                left += await self._leave(table, session_id)
        changed = await self._store.forget_player(shard_of(session_id), session_id, entry)
        self._sessions.forget(session_id)
        if changed is None:
            if left:
                await self._store.record(entry)
                return Deleted(withdrawn, left, 0)
            raise RefusalError(Reason.NO_SESSION, "nothing is kept of a player with this session")
        for table in changed:
            self._hot_tables.forget(TableKey(table.shard, table.table_id))
            self._outbox.table_changed(table)
        return Deleted(withdrawn, left, len(changed))

    async def _tables_of(self, session_id: str) -> AsyncIterator[Table]:
        before: tuple[int, str] | None = None
        while True:
            page = await self._store.list_held(session_id, before, _PAGE)
            for table in page:
                yield table
            if len(page) < _PAGE:
                return
            before = (page[-1].created_at_ms, page[-1].table_id)

    async def _withdraw(self, table: Table, session_id: str, entry: AuditEntry) -> bool:
        seat = table.seat_of(session_id)
        if seat is None:
            return False
        own = replace(
            entry,
            audit_id=self._chance.public_id(),
            action=admin_pb.AUDIT_ACTION_WITHDRAW_SEAT,
            shard=table.shard,
            table_id=table.table_id,
            session_id="",
            seat=seat,
        )
        try:
            done = await self._withdraw_seat.run(table.table_id, seat, own)
        except ServiceError as error:
            if error.reason in _STAYS:
                return False
            raise
        return not done.repeated

    async def _leave(self, table: Table, session_id: str) -> bool:
        try:
            await self._lobby.change(table.table_id, lambda found: leave(found, session_id))
        except RefusalError as refused:
            # It has been started, or ended, meanwhile: what is left there is renamed with the rest.
            return refused.reason not in (Reason.ALREADY_STARTED, Reason.NO_TABLE, Reason.NOT_YOUR_SEAT)
        return True
