"""Which bots a game asks."""

from __future__ import annotations

from collections.abc import Mapping

from magnate.game.v1 import update_pb2
from magnate.table.v1 import table_pb2

from services.table.application.ports import TableKey


def turns_of(key: TableKey, bot_levels: Mapping[int, str], update: update_pb2.Update) -> list[table_pb2.BotTurn]:
    """The turns of bots, whose levels are given by seat, that an update's decision asks for."""
    return [
        table_pb2.BotTurn(
            table_id=key.table_id,
            shard=key.shard,
            seat=seat,
            level=bot_levels[seat],
            decision_id=update.decision.decision_id,
            seq=update.last_seq,
        )
        for seat in update.decision.seats
        if seat in bot_levels
    ]
