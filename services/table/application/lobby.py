"""What the use cases of the lobby share: finding a table, changing it against others, telling the event stream."""

from __future__ import annotations

from collections.abc import Callable

from services.table.application.options import Options
from services.table.application.outbox import Outbox
from services.table.application.ports import Store, TableKey
from services.table.domain.refusals import Reason, RefusalError
from services.table.domain.shards import is_table_id, shard_of
from services.table.domain.table import Table


def key_of(table_id: str) -> TableKey:
    """Where a table is stored; refuses with `no_table` what cannot be a table's id."""
    if not is_table_id(table_id):
        raise no_table()
    return TableKey(shard_of(table_id), table_id)


def no_table() -> RefusalError:
    """There is no such table."""
    return RefusalError(Reason.NO_TABLE, "there is no such table")


class Lobby:
    """Loads tables and stores their changes, each against the version that it was made for."""

    def __init__(self, store: Store, outbox: Outbox, options: Options) -> None:
        self._store = store
        self._outbox = outbox
        self._options = options

    async def find(self, table_id: str) -> Table:
        """The table; refuses with `no_table`."""
        table = await self._store.load_table(key_of(table_id))
        if table is None:
            raise no_table()
        return table

    async def change(self, table_id: str, how: Callable[[Table], Table]) -> Table:
        """Applies a change of the domain; again on the newer table when another one was quicker, then gives up."""
        for _ in range(self._options.max_attempts):
            table = await self.find(table_id)
            changed = how(table)
            if changed is table:
                return table
            if await self._store.save_table(changed):
                self._outbox.table_changed(changed)
                return changed
        raise version_race()


def version_race() -> RefusalError:
    """Others were quicker, after bounded retries."""
    return RefusalError(Reason.VERSION_RACE, "others were quicker; try again", retry_after_ms=50)
