"""Notes which sessions have a live connection."""

from __future__ import annotations

from collections.abc import Sequence

from services.table.application.outbox import Outbox
from services.table.application.ports import Store, TableKey, Wall
from services.table.domain.shards import is_table_id, shard_of

_AT_A_TIME = 200


class TouchPresence:
    """Gateways say it every few seconds for the tables that their clients watch."""

    def __init__(self, store: Store, outbox: Outbox, wall: Wall) -> None:
        self._store = store
        self._outbox = outbox
        self._wall = wall

    async def run(self, seen: Sequence[tuple[str, str]]) -> None:
        """Pairs of table and session; those that do not sit together mean nothing."""
        pairs = [
            (TableKey(shard_of(table_id), table_id), session_id)
            for table_id, session_id in seen
            if is_table_id(table_id) and is_table_id(session_id)
        ]
        now_ms = self._wall.unix_ms()
        for start in range(0, len(pairs), _AT_A_TIME):
            for key in await self._store.touch(pairs[start : start + _AT_A_TIME], now_ms):
                table = await self._store.load_table(key)
                if table is not None:
                    self._outbox.table_changed(table)
