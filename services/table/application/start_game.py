"""Starts the game of a table."""

from __future__ import annotations

from dataclasses import replace

from magnate.game.v1 import event_pb2, update_pb2
from magnate.rules.v1 import rules_service_pb2 as rules_pb

from services.table.application.bot_watch import BotWatch
from services.table.application.commands import secrets_of
from services.table.application.hot_tables import HotTables
from services.table.application.lobby import Lobby, key_of, version_race
from services.table.application.options import Options
from services.table.application.outbox import Outbox
from services.table.application.play_time import known_ms
from services.table.application.ports import LogRow, OwnTime, PlayTime, Rules, Store, TableKey, Wall
from services.table.application.sessions import Sessions
from services.table.application.turns import turns_of
from services.table.domain.table import Table, launch


class StartGame:
    """The first update of a log: the rules make it from the seats, the seeds and the play time."""

    def __init__(
        self,
        *,
        store: Store,
        rules: Rules,
        play_time: PlayTime,
        lobby: Lobby,
        sessions: Sessions,
        hot_tables: HotTables,
        outbox: Outbox,
        bots: BotWatch,
        wall: Wall,
        options: Options,
    ) -> None:
        self._store = store
        self._rules = rules
        self._play_time = play_time
        self._lobby = lobby
        self._sessions = sessions
        self._hot_tables = hot_tables
        self._outbox = outbox
        self._bots = bots
        self._wall = wall
        self._options = options

    async def run(self, token: str, table_id: str) -> tuple[Table, int]:
        """The running table and the number of the last event. Refuses as the contract says."""
        session = await self._sessions.require(token)
        for _ in range(self._options.max_attempts):
            table, _seating = launch(await self._lobby.find(table_id), session.session_id)
            key = TableKey(table.shard, table.table_id)
            row = await self._first_row(table)
            started = replace(table, last_seq=row.last_seq, grace_ms=self._options.grace_ms)
            if await self._store.start_game(started, row):
                self._published(started, key, row)
                return started, row.last_seq
        raise version_race()

    async def _first_row(self, table: Table) -> LogRow:
        play_time_ms = await known_ms(self._play_time, table.shard)
        edition = table.seats_of_edition
        answer = await self._rules.new_game(
            rules_pb.NewGameRequest(
                table_id=table.table_id,
                edition=edition.edition,
                version=edition.version,
                overrides=[event_pb2.Override(parameter=name, value=value) for name, value in table.wishes.overrides],
                seats=[
                    event_pb2.SeatSetup(
                        kind=event_pb2.SEAT_KIND_BOT if seat.is_bot else event_pb2.SEAT_KIND_PERSON,
                        team=number,
                        nonce=seat.nonce,
                    )
                    for number, seat in enumerate(table.seats)
                ],
                server_seed=table.server_seed,
                play_time_ms=play_time_ms,
                grace_ms=self._options.grace_ms,
            )
        )
        applied = answer.applied
        return LogRow(
            shard=table.shard,
            table_id=table.table_id,
            first_seq=1,
            last_seq=applied.seq,
            holders_version=table.holders_version,
            command_id="",
            digest=b"",
            play_time_ms=play_time_ms,
            update=applied.update,
            secrets=secrets_of(applied),
            at_unix_ms=self._wall.unix_ms(),
            snapshot=applied.snapshot,
        )

    def _published(self, table: Table, key: TableKey, row: LogRow) -> None:
        self._hot_tables.forget(key_of(table.table_id))
        turns = turns_of(key, table.bot_levels(), update_pb2.Update.FromString(row.update))
        self._outbox.table_changed(table)
        self._outbox.update_committed(key, row.last_seq, row.update, OwnTime.of(table), turns)
        self._bots.game_moved(key, row.last_seq, turns)
