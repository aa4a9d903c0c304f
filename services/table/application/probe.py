"""The clock's probe: the whole way of a command, without a game."""

from __future__ import annotations

from services.table.application.outbox import PROBE_SHARD, Outbox
from services.table.application.ports import Rules, Store, Wall


class Probe:
    """Asks the rules, commits, and publishes on the event stream of shard 0."""

    def __init__(self, store: Store, rules: Rules, outbox: Outbox, wall: Wall) -> None:
        self._store = store
        self._rules = rules
        self._outbox = outbox
        self._wall = wall

    async def run(self, probe_id: str) -> None:
        """ServiceError when a part of the way is broken."""
        await self._rules.probe()
        await self._store.commit_probe(PROBE_SHARD, probe_id, self._wall.unix_ms())
        self._outbox.probe_committed(probe_id)
