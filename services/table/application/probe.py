"""The clock's probe: the whole way of a command, without a game."""

from __future__ import annotations

import grpc

from services.kit.errors import ServiceError
from services.kit.rounds import Rounds
from services.table.application.outbox import Outbox
from services.table.application.ports import PlayTime, Rules, Store, Wall
from services.table.domain.shards import shard_of

# As many commands are on their way to the store at a time; so that a slow one is told from one that hangs.
_ROUNDS = 4


class Probe:
    """Asks the rules, commits, and publishes on the event stream of shard 0. Every gateway sends probes through every
    replica: each has a row to itself, as good as always, so that none waits for another's lock.

    While the store hangs they come on and on. Those that wait are one commit when it goes on: a command that waits is
    not to queue up behind all of them.
    """

    def __init__(self, store: Store, rules: Rules, play_time: PlayTime, outbox: Outbox, wall: Wall) -> None:
        self._store = store
        self._commits = Rounds[str](self._commit, most=_ROUNDS)
        self._rules = rules
        self._play_time = play_time
        self._outbox = outbox
        self._wall = wall

    async def run(self, probe_id: str, shard: int | None = None) -> None:
        """ServiceError when a part of the way is broken: also that on which play time comes here, for the clock that
        sent the probe tells that of `shard`."""
        self._check_hearing(shard)
        await self._rules.probe()
        await self._commits.join(probe_id)
        # A commit may take long, and what opened meanwhile must not be over too early.
        self._check_hearing(shard)
        self._outbox.probe_committed(probe_id)

    async def _commit(self, probe_id: str) -> None:
        await self._store.commit_probe(shard_of(probe_id), probe_id, self._wall.unix_ms())

    def _check_hearing(self, shard: int | None) -> None:
        if shard is not None and not self._play_time.is_heard(shard):
            raise ServiceError(grpc.StatusCode.UNAVAILABLE, "unreachable", "this table does not hear the clock")
