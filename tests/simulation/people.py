"""The people at the tables, as clients of the gateways: they watch, ask for the time, and answer, or do not."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

import grpc
from magnate.game.v1 import command_pb2, decision_pb2, update_pb2
from magnate.gateway.v1 import gateway_service_pb2 as pb
from magnate.table.v1 import table_pb2

from services.kit.errors import ServiceError
from services.table.domain.fallback import least_spending
from tests.simulation.loop import VirtualLoop
from tests.simulation.network import Client, Network

_AGAIN = (
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.ABORTED,
    # More has come than the table service can do in time.
    grpc.StatusCode.RESOURCE_EXHAUSTED,
)
_TRIES = 12
_SYNC_S = (0.4, 1.2)


@dataclass(frozen=True, slots=True)
class Sample:
    """What a gateway said of play time, somewhere between two moments of the world."""

    asked_s: float
    heard_s: float
    play_time_ms: int
    running: bool
    gateway: str


@dataclass(slots=True)
class Sight:
    """What one person sees of a table: samples, and from when to when he knew of each deadline as in force."""

    table_id: str
    samples: list[Sample] = field(default_factory=list)
    deadlines: dict[int, decision_pb2.Deadline] = field(default_factory=dict)
    known: dict[int, tuple[float, float]] = field(default_factory=dict)


class People:
    """Opens tables and keeps them in play for as long as the schedule lasts."""

    def __init__(self, loop: VirtualLoop, network: Network, rng: random.Random, *, edition: str) -> None:
        self.loop = loop
        self.sights: list[Sight] = []
        self.on_opened: Callable[[str], None] = lambda table_id: None
        self._network = network
        self._rng = rng
        self._edition = edition
        self._commands = 0

    async def keep_playing(self, number: int) -> None:
        """One table after the other, for ever."""
        seats = self._rng.randint(2, 4)
        tokens = [await self._session(f"{number}-{seat}") for seat in range(seats)]
        while True:
            table = _Table(self, tokens, random.Random(self._rng.random()))
            await table.play(self._edition)

    def client(self, wanted: str | None = None) -> Client:
        """A client with a connection of its own, to this gateway while it is there."""
        return Client(self._network, None, ("person", "gateway"), wanted)

    def command_id(self) -> str:
        self._commands += 1
        return f"c{self._commands}"

    async def ask(self, call: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
        """Asks again while the answer is that nobody can say."""
        for attempt in range(_TRIES):
            try:
                return await call()
            except ServiceError as error:
                if error.code not in _AGAIN or attempt == _TRIES - 1:
                    raise
            await asyncio.sleep(self._rng.uniform(0.1, 0.5))
        return None

    async def _session(self, name: str) -> str:
        client = self.client()
        answer = await self.ask(lambda: client.CreateSession(pb.CreateSessionRequest(name=f"Person {name}")))
        return str(answer.session_token)


class _Table:
    """One game: its seats in the order of their tokens."""

    def __init__(self, people: People, tokens: list[str], rng: random.Random) -> None:
        self._people = people
        self._tokens = tokens
        self._rng = rng
        self._client = people.client()
        self._over = asyncio.Event()
        self._seen = 0
        self.table_id = ""

    async def play(self, edition: str) -> None:
        """From the lobby to the end of the game."""
        try:
            await self._open(edition)
        except ServiceError:
            await asyncio.sleep(1.0)
            return
        watchers = [self._watch(self._tokens[0], answers=True), self._watch(self._tokens[1], answers=False)]
        tasks = [asyncio.create_task(watcher) for watcher in watchers]
        await self._over.wait()
        for task in tasks:
            task.cancel()

    async def _open(self, edition: str) -> None:
        settings = table_pb2.TableSettings(edition=edition, seats=len(self._tokens))
        create = pb.CreateTableRequest(settings=settings, command_id=self._people.command_id())
        self.table_id = (await self._ask(0, "CreateTable", create)).table.table_id
        self._people.on_opened(self.table_id)
        for seat in range(1, len(self._tokens)):
            try:
                await self._ask(seat, "JoinTable", pb.JoinTableRequest(table_id=self.table_id))
            except ServiceError as error:
                if error.reason.lower() != "seated_already":
                    raise
        try:
            await self._ask(0, "StartGame", pb.StartGameRequest(table_id=self.table_id))
        except ServiceError as error:
            if error.reason.lower() != "already_started":
                raise

    async def _ask(self, seat: int, name: str, request: Any) -> Any:
        call = getattr(self._client, name)
        return await self._people.ask(lambda: call(request, metadata=_metadata(self._tokens[seat])))

    # ---- watching ---------------------------------------------------------------------------------------------

    async def _watch(self, token: str, *, answers: bool) -> None:
        """Keeps a watch open, on another gateway after each break, and asks for the time."""
        sight = Sight(self.table_id)
        self._people.sights.append(sight)
        client = self._people.client()
        timing = asyncio.create_task(self._sync(client, token, sight))
        after = 0
        try:
            while not self._over.is_set():
                try:
                    after = await self._follow(client, token, sight, after, answers=answers)
                except ServiceError:
                    client.wanted = None
                await asyncio.sleep(self._rng.uniform(0.05, 0.3))
        finally:
            timing.cancel()

    async def _follow(self, client: Client, token: str, sight: Sight, after: int, *, answers: bool) -> int:
        request = pb.WatchRequest(targets=[pb.WatchTarget(table_id=self.table_id, after_seq=after)])
        async with client.Watch(request, metadata=_metadata(token)) as messages:
            if messages.peer is not None:
                client.wanted = messages.peer.process.name
            async for message in messages:
                kind = message.WhichOneof("message")
                if kind == "update":
                    after = message.update.last_seq
                    self._take(sight, message.update, answers=answers)
                elif kind == "ended":
                    return after
        return after

    def _take(self, sight: Sight, update: update_pb2.Update, *, answers: bool) -> None:
        now_s = self._people.loop.now_s
        in_force = {deadline.deadline_id: deadline for deadline in update.deadlines}
        for deadline_id, (begin_s, end_s) in list(sight.known.items()):
            if end_s == float("inf") and (deadline_id not in in_force or update.game_over):
                sight.known[deadline_id] = (begin_s, now_s)
        for deadline_id, deadline in in_force.items():
            if deadline_id not in sight.known:
                sight.known[deadline_id] = (now_s, float("inf"))
                sight.deadlines[deadline_id] = deadline
        if update.game_over:
            self._over.set()
        elif answers and update.last_seq > self._seen:
            self._seen = update.last_seq
            self._think(update)

    async def _sync(self, client: Client, token: str, sight: Sight) -> None:
        request = pb.SyncTimeRequest(table_id=self.table_id)
        while True:
            await asyncio.sleep(self._rng.uniform(*_SYNC_S))
            asked_s = self._people.loop.now_s
            # The watch may be on another gateway by the time of the answer.
            asker = self._people.client(client.wanted)
            try:
                answer = await asker.SyncTime(request, timeout_ms=1_000, metadata=_metadata(token))
            except ServiceError:
                continue
            heard_s = self._people.loop.now_s
            sight.samples.append(Sample(asked_s, heard_s, answer.play_time_ms, answer.running, asker.asked))

    # ---- playing ----------------------------------------------------------------------------------------------

    def _think(self, update: update_pb2.Update) -> None:
        budget_s = max((deadline.budget_ms for deadline in update.deadlines), default=1_000) / 1000
        for seat in update.decision.seats:
            if self._rng.random() < 0.45 or seat >= len(self._tokens):
                continue
            near = self._rng.random() < 0.3
            wait_s = self._rng.uniform(budget_s - 0.3, budget_s + 0.8) if near else self._rng.uniform(0.05, budget_s)
            self._people.loop.create_task(self._answer(update, seat, wait_s))

    async def _answer(self, update: update_pb2.Update, seat: int, wait_s: float) -> None:
        await asyncio.sleep(wait_s)
        if self._seen != update.last_seq:
            return
        for command in least_spending(update.decision, seat, self._people.command_id()):
            if await self._submit(seat, command):
                return

    async def _submit(self, seat: int, command: command_pb2.Command) -> bool:
        request = pb.SubmitRequest(table_id=self.table_id, command=command)
        try:
            await self._ask(seat, "Submit", request)
        except ServiceError as error:
            return error.code in _AGAIN
        return True


def _metadata(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}
