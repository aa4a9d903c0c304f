"""A table that stood still goes on: the clock and the bots are told of what waits there."""

from __future__ import annotations

from magnate.game.v1 import update_pb2

from services.table.application.bot_watch import BotWatch
from services.table.application.outbox import Outbox
from services.table.application.ports import OwnTime, Store, TableKey
from services.table.application.turns import turns_of


class GoingOn:
    """Repeats the last update of a table: watchers know it, the clock arms its deadlines at their new times."""

    def __init__(self, store: Store, outbox: Outbox, bots: BotWatch) -> None:
        self._store = store
        self._outbox = outbox
        self._bots = bots

    async def tell(self, key: TableKey) -> None:
        """Nothing for a table that stands still for another cause."""
        game = await self._store.load_game(key)
        if game is None or game.table.is_paused:
            return
        update = update_pb2.Update.FromString(game.last_update)
        turns = turns_of(key, game.table.bot_levels(), update)
        self._outbox.update_committed(key, update.last_seq, game.last_update, OwnTime.of(game.table), turns)
        self._bots.game_moved(key, update.last_seq, turns)
