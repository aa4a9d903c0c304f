"""The table service with the real rules, for tests: any store, a clock that stands where the test puts it."""

from __future__ import annotations

import asyncio
import hashlib
import random
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from magnate.game.v1 import command_pb2, update_pb2
from magnate.table.v1 import table_pb2
from magnate.table.v1 import table_service_pb2 as pb

from services.kit.calls import LocalClient
from services.kit.errors import ServiceError
from services.kit.streams import Batch
from services.kit.streams_memory import MemoryStream
from services.kit.telemetry import Telemetry
from services.rules.main import DESCRIPTOR as RULES
from services.rules.main import build_handler
from services.rules.settings import RulesSettings
from services.table.adapters.instruments import Instruments
from services.table.adapters.publisher import StreamPublisher
from services.table.adapters.rules_calls import RulesCalls
from services.table.adapters.store import SqlStore, open_database
from services.table.adapters.system import SystemChance
from services.table.application.options import Options
from services.table.application.ports import Rules, Store
from services.table.domain.buckets import Rate
from services.table.domain.fallback import least_spending
from services.table.main import DESCRIPTOR, Application, Outside, compose

FREE = Rate(burst=0, per_second=1)
UNLIMITED = Options(sessions_per_address=FREE, tables_per_session=FREE, submits_per_session=FREE)
SEED = hashlib.sha256(b"a seed for tests").hexdigest()


@dataclass(slots=True)
class HandClock:
    """Wall-clock and play time that only the test moves."""

    unix: int = 1_700_000_000_000
    play: int | None = 0
    hold: str | None = None
    is_deaf: bool = False

    def unix_ms(self) -> int:
        return self.unix

    def monotonic_s(self) -> float:
        return self.unix / 1000

    def now_ms(self, shard: int) -> int | None:
        return self.play

    def held(self, shard: int) -> str | None:
        return self.hold

    async def first_ms(self, shard: int) -> int | None:
        return self.play

    def is_heard(self, shard: int) -> bool:
        return not self.is_deaf

    def pass_ms(self, milliseconds: int) -> None:
        """Lets both advance."""
        self.unix += milliseconds
        self.play = (self.play or 0) + milliseconds


@dataclass(slots=True)
class Tables:
    """One replica of the table service, and what it publishes."""

    store: Store
    application: Application
    client: LocalClient
    clock: HandClock
    stream: MemoryStream
    heard: list[table_pb2.StreamMessage] = field(default_factory=list)
    tasks: list[asyncio.Task[Any]] = field(default_factory=list)

    async def session(self, name: str = "Olena") -> str:
        """The token of a new session."""
        answer = await self.client.CreateSession(pb.CreateSessionRequest(name=name, address="10.0.0.1"))
        return str(answer.session_token)

    async def table(self, token: str, *, seats: int = 4, **wishes: Any) -> pb.CreateTableResponse:
        """A new table of the flagship edition."""
        settings = table_pb2.TableSettings(edition="industry", seats=seats, **wishes)
        request = pb.CreateTableRequest(session_token=token, settings=settings, command_id=f"t{random.random()}")
        answer: pb.CreateTableResponse = await self.client.CreateTable(request)
        return answer

    async def running(self, people: int = 2, **wishes: Any) -> tuple[str, list[str]]:
        """A running game of people: the table's id, and their tokens by seat."""
        tokens = [await self.session(f"Player {number}") for number in range(people)]
        table_id = (await self.table(tokens[0], **wishes)).table.table_id
        for token in tokens[1:]:
            await self.client.JoinTable(pb.JoinTableRequest(session_token=token, table_id=table_id))
        await self.client.StartGame(pb.StartGameRequest(session_token=tokens[0], table_id=table_id))
        return table_id, tokens

    async def running_bots(self, bots: int = 2) -> tuple[str, str]:
        """A running game of bots alone: the table's id, and the token of its host."""
        token = await self.session("Host")
        request = pb.CreateTableRequest(
            session_token=token,
            settings=table_pb2.TableSettings(edition="industry", seats=bots, spectators=True),
            spectate=True,
            command_id=f"t{random.random()}",
        )
        table_id = (await self.client.CreateTable(request)).table.table_id
        await self.client.AddBots(pb.AddBotsRequest(session_token=token, table_id=table_id, count=bots))
        await self.client.StartGame(pb.StartGameRequest(session_token=token, table_id=table_id))
        return table_id, token

    async def updates(self, table_id: str, after_seq: int = 0) -> list[update_pb2.Update]:
        """The log as a service reads it."""
        answer = await self.client.ReadUpdates(
            pb.ReadUpdatesRequest(table_id=table_id, after_seq=after_seq, page_size=1000)
        )
        return [update_pb2.Update.FromString(raw) for raw in answer.updates]

    async def last(self, table_id: str) -> update_pb2.Update:
        """The newest update."""
        described = await self.client.DescribeTable(pb.DescribeTableRequest(table_id=table_id))
        return (await self.updates(table_id, described.table.last_seq - 1))[-1]

    async def submit(self, token: str, table_id: str, command: command_pb2.Command) -> pb.SubmitResponse:
        """Gives one command."""
        request = pb.SubmitRequest(session_token=token, table_id=table_id, command=command)
        answer: pb.SubmitResponse = await self.client.Submit(request)
        return answer

    async def next_command(self, table_id: str, command_id: str) -> command_pb2.Command:
        """A command that the open decision takes."""
        decision = (await self.last(table_id)).decision
        command = least_spending(decision, decision.seats[0], "x")[0]
        command.command_id = command_id
        return command

    async def play(self, table_id: str, tokens: Sequence[str], commands: int, name: str = "c") -> None:
        """Lets the seats play on, as cheaply as they can."""
        for number in range(commands):
            command = await self.next_command(table_id, f"{name}-{number}")
            await self.submit(tokens[command.seat] if tokens else "", table_id, command)

    async def listen(self) -> None:
        """Begins to note what is published."""
        subscription = await self.stream.subscribe([f"shard:{shard}" for shard in range(64)])

        async def note() -> None:
            async for item in subscription:
                if isinstance(item, Batch):
                    self.heard += [table_pb2.StreamMessage.FromString(entry.payload) for entry in item.entries]

        self.tasks.append(asyncio.create_task(note()))

    async def settle(self) -> None:
        """Lets what is on its way arrive."""
        for _ in range(20):
            await asyncio.sleep(0)

    async def close(self, *, with_store: bool = True) -> None:
        for task in self.tasks:
            task.cancel()
        for task in self.tasks:
            with suppress(asyncio.CancelledError):
                await task
        if with_store:
            await self.store.close()


def real_rules(**settings: int) -> Rules:
    """The rules service in this process."""
    return RulesCalls(LocalClient(RULES, build_handler(RulesSettings(**settings))))  # type: ignore[arg-type]


async def open_tables(
    url: str,
    *,
    options: Options = UNLIMITED,
    rules: Rules | None = None,
    clock: HandClock | None = None,
    stream: MemoryStream | None = None,
    publishing: bool = True,
) -> Tables:
    """A replica over the store at this URL; `publishing` runs its outbox."""
    clock, stream = clock or HandClock(), stream or MemoryStream()
    store = SqlStore(open_database(url), clock)
    await store.start()
    outside = Outside(
        store=store,
        rules=rules or real_rules(),
        play_time=clock,
        publisher=StreamPublisher(stream),
        wall=clock,
        chance=SystemChance(),
        meter=Instruments(Telemetry.off()),
    )
    application = compose(outside, options)
    tables = Tables(store, application, LocalClient(DESCRIPTOR, application.handler), clock, stream)
    if publishing:
        tables.tasks.append(asyncio.create_task(application.outbox.run()))
    return tables


def with_options(**changes: Any) -> Options:
    """The options of tests with some changed."""
    return replace(UNLIMITED, **changes)


async def refusal(awaited: Any) -> str:
    """The reason with which a call is refused."""
    try:
        await awaited
    except ServiceError as error:
        return error.reason
    return "done"
