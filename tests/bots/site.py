"""Rules, tables and bots in one process, with play time that always runs."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from magnate.clock.v1 import clock_service_pb2 as clock_pb
from magnate.table.v1 import table_pb2
from magnate.table.v1 import table_service_pb2 as pb

import services.bots.main
import services.rules.main
import services.table.main
from services.bots.settings import BotsSettings
from services.kit.batches import LocalCaller
from services.kit.calls import Call, LocalClient, OneReplica
from services.kit.server import Service
from services.kit.streams import EventStream
from services.rules.settings import RulesSettings
from services.table.settings import TableSettings

CLOCK = clock_pb.DESCRIPTOR.services_by_name["ClockService"]
_STARTED_S = time.monotonic()


class RunningClock:
    """ClockService whose play time never stands still."""

    async def WatchPlayTime(
        self, request: clock_pb.WatchPlayTimeRequest, call: Call
    ) -> AsyncIterator[clock_pb.WatchPlayTimeResponse]:
        now_ms = int((time.monotonic() - _STARTED_S) * 1000)
        reading = clock_pb.PlayTime(play_time_ms=now_ms, epoch=1, running=True, valid_for_ms=3_600_000)
        yield clock_pb.WatchPlayTimeResponse(play_times=[reading], same_for_all=True)
        await call.draining.wait()

    def __getattr__(self, name: str) -> Any:
        if not name[0].isupper():
            raise AttributeError(name)
        return self.WatchPlayTime


class Site:
    """A table service with its client; bots are added by `add_bots`."""

    def __init__(self, table: Service, stream: EventStream) -> None:
        self.table = table.local(services.table.main.DESCRIPTOR)
        self.stream = stream
        self.bots: list[Service] = []

    async def add_bots(self, **settings: int) -> Service:
        """One more replica of the bots service."""
        service = services.bots.main.build(
            BotsSettings(**settings),  # type: ignore[arg-type]
            table_client=self.table,
            submitter=LocalCaller(self.table.Submit),
            stream=self.stream,
        )
        await service.start()
        self.bots.append(service)
        return service

    async def open_session(self) -> str:
        """A guest's token."""
        answer = await self.table.CreateSession(pb.CreateSessionRequest(name="Ada"))
        token: str = answer.session_token
        return token

    async def start_bot_game(self, token: str, *, seats: int, seed: int) -> str:
        """A game of bots alone; gives the table's id."""
        created = await self.table.CreateTable(
            pb.CreateTableRequest(
                session_token=token,
                settings=table_pb2.TableSettings(edition="industry", seats=seats, spectators=True),
                spectate=True,
                fixed_seed=f"{seed:064x}",
                command_id=f"create-{seed}",
            )
        )
        table_id: str = created.table.table_id
        await self.table.AddBots(pb.AddBotsRequest(session_token=token, table_id=table_id, count=seats))
        await self.table.StartGame(pb.StartGameRequest(session_token=token, table_id=table_id))
        return table_id

    async def updates(self, table_id: str, after_seq: int = 0) -> list[bytes]:
        """All updates after a number."""
        found: list[bytes] = []
        while True:
            page = await self.table.ReadUpdates(
                pb.ReadUpdatesRequest(table_id=table_id, after_seq=after_seq, page_size=1000)
            )
            if not page.updates:
                return found
            found.extend(page.updates)
            after_seq = _last_seq(page.updates[-1])


def _last_seq(update: bytes) -> int:
    from magnate.game.v1 import update_pb2

    return update_pb2.Update.FromString(update).last_seq


@asynccontextmanager
async def running_site(folder: Path, stream: EventStream, *, bot_answer_ms: int = 60_000) -> AsyncIterator[Site]:
    """Rules and tables that run, over a database in the folder. Bots that stay away are not replaced for a minute."""
    rules = services.rules.main.build(RulesSettings())
    clock = LocalClient(CLOCK, RunningClock())
    settings = TableSettings(
        database_url=f"sqlite:///{folder / 'tables.db'}",
        allow_fixed_seed=True,
        bot_answer_ms=bot_answer_ms,
        submits_burst=0,
        tables_burst=0,
        sessions_burst=0,
    )
    table = await services.table.main.build(
        settings,
        rules_client=rules.local(services.rules.main.DESCRIPTOR),
        clocks=OneReplica(lambda: clock),
        stream=stream,
    )
    site = Site(table, stream)
    started = [rules, table]
    for service in started:
        await service.start()
    try:
        yield site
    finally:
        for service in (*reversed(site.bots), *reversed(started)):
            await service.stop()
        await stream.close()
