"""`python -m tests.chaos.defects NAME up SERVICE`: a service with a defect planted in it, to see the checks find it.

The defects live in this process alone; the product knows nothing of them.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Mapping
from typing import Any

from magnate.rules.v1 import rules_service_pb2 as rules_pb

import gateway.application.feeds
import gateway.application.watch
from gateway.domain.continuity import Place, place_of
from services.site.__main__ import main as run_magnate
from services.table.application.commands import Commands
from services.table.application.hot_tables import HotTable
from services.table.application.outbox import Outbox
from services.table.application.ports import LogRow, TableKey

_BEHIND_S = 0.3
_SKIP_EVERY = 20


def acknowledge_before_commit() -> None:
    """The table service answers first and writes a little later."""
    late: set[asyncio.Task[bool]] = set()

    async def write(commands: Commands, row: LogRow) -> bool:
        await asyncio.sleep(_BEHIND_S)
        return await commands._store.append(row)

    async def commit(self: Commands, hot: HotTable, row: LogRow, applied: rules_pb.Applied) -> bool:
        task = asyncio.create_task(write(self, row))
        late.add(task)
        task.add_done_callback(late.discard)
        return True

    _replace(Commands, "_commit", commit)


def skip_in_relay() -> None:
    """The relay leaves an update out now and then, and takes it for published."""
    publish = Outbox.update_committed
    count = 0

    def update_committed(self: Outbox, key: TableKey, last_seq: int, *rest: Any) -> None:
        nonlocal count
        count += 1
        if count % _SKIP_EVERY:
            publish(self, key, last_seq, *rest)
        else:
            self._game_marks[key] = max(self._game_marks.get(key, 0), last_seq)

    _replace(Outbox, "update_committed", update_committed)


def repeat_to_watchers() -> None:
    """The gateway gives its watchers whatever comes over the event stream, seen before or not."""

    def place(sent_seq: int, first_seq: int, last_seq: int) -> Place:
        found = place_of(sent_seq, first_seq, last_seq)
        return Place.NEXT if found is Place.SEEN else found

    for module in (gateway.application.feeds, gateway.application.watch):
        _replace(module, "place_of", place)


DEFECTS: Mapping[str, Callable[[], None]] = {
    defect.__name__: defect for defect in (acknowledge_before_commit, skip_in_relay, repeat_to_watchers)
}


def _replace(owner: object, name: str, value: object) -> None:
    """A defect that no longer fits the code it is planted in must not pass for one."""
    if not hasattr(owner, name):
        raise AttributeError(f"{owner} has no {name} to be replaced")
    setattr(owner, name, value)


if __name__ == "__main__":
    DEFECTS[sys.argv[1]]()
    sys.exit(run_magnate(sys.argv[2:]))
