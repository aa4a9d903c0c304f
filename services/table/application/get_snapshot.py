"""The view of a game after its newest command."""

from __future__ import annotations

from magnate.game.v1 import update_pb2
from magnate.rules.v1 import rules_service_pb2 as rules_pb

from services.table.application.lobby import no_table, version_race
from services.table.application.ports import Game, PlayTime, Rules, Store, TableKey
from services.table.application.read_updates import Watching
from services.table.application.states import by_name, by_value, digest_of
from services.table.domain.refusals import Reason, RefusalError
from services.table.domain.table import Status, Table

_MOST_TRIES = 5


class GetSnapshot:
    """The rules show the state; play time is that of now."""

    def __init__(self, store: Store, rules: Rules, play_time: PlayTime, watching: Watching) -> None:
        self._store = store
        self._rules = rules
        self._play_time = play_time
        self._watching = watching

    async def run(self, token: str, table_id: str) -> tuple[update_pb2.Snapshot, Table]:
        """Refuses with `not_started` in the lobby, and who may not watch."""
        seen = await self._watching.require(token, table_id)
        if seen.status == Status.EXPIRED and not seen.last_seq:
            raise no_table()
        key = TableKey(seen.shard, seen.table_id)
        for _ in range(_MOST_TRIES):
            game = await self._store.load_game(key)
            if game is None or game.table.status == Status.LOBBY:
                raise RefusalError(Reason.NOT_STARTED, "the game has not been started yet")
            snapshot = await self._view(key, game)
            if snapshot is not None:
                return snapshot, game.table
        raise version_race()

    async def _view(self, key: TableKey, game: Game) -> update_pb2.Snapshot | None:
        """The view after the game's last update; None when it has gone on too far meanwhile."""
        update = update_pb2.Update.FromString(game.last_update)
        name = by_name(key, update.last_seq, update.state_hash, digest_of(game.last_update))
        request = rules_pb.ViewRequest(state=name)
        answer = await self._rules.view(request)
        if answer.state_needed:
            source = await by_value(self._store, key, name)
            if source is None:
                return None
            request.state.CopyFrom(source)
            answer = await self._rules.view(request)
        if answer.state_needed:
            raise RefusalError(Reason.INTERNAL, "the rules service does not take the state of this table")
        snapshot = update_pb2.Snapshot()
        snapshot.CopyFrom(answer.snapshot)
        snapshot.table_id = key.table_id
        now_ms = self._play_time.now_ms(key.shard) or 0
        # Of the shard, as every other reading that a client gets.
        snapshot.play_time_ms = max(game.table.stood_at_ms(now_ms), update.play_time_ms + game.table.held_ms)
        return snapshot
