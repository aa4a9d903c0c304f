"""What running games wait for: deadlines for the clock, turns for the bots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from magnate.table.v1 import table_pb2, table_service_pb2

from services.table.application import page_tokens
from services.table.application.last_updates import read_update
from services.table.application.ports import LiveGame, Store, TableKey
from services.table.application.turns import turns_of

_DEFAULT_PAGE = 500


class Stopping(Protocol):
    """Lets a table stand still whose log cannot be read."""

    async def stop_unreadable(self, key: TableKey) -> None: ...


class ListDeadlines:
    """Deadlines in force, table by table."""

    def __init__(self, store: Store, stopping: Stopping) -> None:
        self._store = store
        self._stopping = stopping

    async def run(
        self, shards: Sequence[int], page_size: int, page_token: str
    ) -> tuple[list[table_service_pb2.TableDeadlines], str]:
        """The page and the token of the next one; tables without a deadline are left out."""
        games, token = await _live(self._store, "deadlines", shards, page_size, page_token)
        found = []
        for game in games:
            update = read_update(game.table_id, game.last_update)
            if update is None:
                # No clock will ever ask for it.
                await self._stopping.stop_unreadable(TableKey(game.shard, game.table_id))
                continue
            for deadline in update.deadlines:
                deadline.opened_at_ms += game.held_ms
            if update.deadlines:
                found.append(
                    table_service_pb2.TableDeadlines(
                        table_id=game.table_id,
                        shard=game.shard,
                        seq=update.last_seq,
                        deadlines=update.deadlines,
                        grace_ms=game.grace_ms,
                    )
                )
        return found, token


class ListBotTurns:
    """Bots that are asked now."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def run(self, shards: Sequence[int], page_size: int, page_token: str) -> tuple[list[table_pb2.BotTurn], str]:
        """The page and the token of the next one."""
        games, token = await _live(self._store, "turns", shards, page_size, page_token)
        turns: list[table_pb2.BotTurn] = []
        for game in games:
            update = read_update(game.table_id, game.last_update) if game.bot_levels else None
            if update is not None:
                turns += turns_of(TableKey(game.shard, game.table_id), game.bot_levels, update)
        return turns, token


async def _live(
    store: Store, kind: str, shards: Sequence[int], page_size: int, page_token: str
) -> tuple[list[LiveGame], str]:
    size = page_size or _DEFAULT_PAGE
    games = await store.list_live(sorted(set(shards)), page_tokens.decode(kind, page_token), size + 1)
    if len(games) <= size:
        return games, ""
    last = games[size - 1]
    return games[:size], page_tokens.encode(kind, last.shard, last.table_id)
