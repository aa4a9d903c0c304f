"""Tables, one game after another in the same slot, and the scripted clients who play, watch and look at them."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from magnate.game.v1 import command_pb2
from magnate.gateway.v1 import gateway_service_pb2 as pb
from magnate.table.v1 import table_pb2

from services.kit.ending import end_tasks
from services.kit.errors import ServiceError
from tests.chaos import journal as j
from tests.chaos.choosing import choose
from tests.chaos.clients import ANSWER_S, Client, RefusedError
from tests.chaos.journal import now_ns
from tests.chaos.watching import Place, Watching

SEATS = 4
_REST_S = 0.3
_LOOK_EVERY_S = 0.6
_STILL_S = 2.0


@dataclass(slots=True)
class Stage:
    """How far the run is: clients act, then only watch to the end. `tables` are those that have begun."""

    acts: bool = True
    tables: list[str] = field(default_factory=list)


class Player:
    """A person at one table after another; answers whatever asks his seat."""

    def __init__(self, client: Client, stage: Stage) -> None:
        self.client = client
        self._stage = stage
        self._news = asyncio.Event()
        self.watching = Watching(client, lambda _: self._news.set())

    async def play(self, table_id: str, seat: int) -> None:
        """Plays a game to its end, or until the clients are told to act no more."""
        place = self.watching.add(table_id)
        was_refused = False
        while self._stage.acts and not place.is_over:
            if not self._is_asked(place, seat):
                await _news_of(self._news)
                continue
            seq = place.seq
            command = self._choose(place, seat, bold=not was_refused)
            was_refused = False
            if command is None:
                await asyncio.sleep(_REST_S)
                continue
            try:
                done = await self.client.submit(table_id, command)
            except RefusedError:
                # Somebody else was quicker, which the watch will show; or the choice was none.
                was_refused = True
                if place.seq == seq:
                    await asyncio.sleep(_REST_S)
                continue
            while place.seq < done.last_seq and not place.is_over:
                await _news_of(self._news)
        if place.is_over:
            self.watching.forget(table_id)

    def _is_asked(self, place: Place, seat: int) -> bool:
        return place.decision is not None and seat in place.decision.seats

    def _choose(self, place: Place, seat: int, *, bold: bool) -> command_pb2.Command | None:
        assert place.decision is not None
        return choose(self.client.rng, place.decision, seat, self.client.new_id(), bold=bold)


class Spectator:
    """Watches many tables on one watch, and leaves each when its game is over."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.watching = Watching(client, self._moved)

    def _moved(self, table_id: str) -> None:
        if self.watching.places[table_id].is_over:
            self.watching.forget(table_id)


class Looker:
    """Asks now and then how far a table has come, by two calls that read the store."""

    def __init__(self, client: Client, stage: Stage) -> None:
        self.client = client
        self._stage = stage

    async def run(self) -> None:
        """Looks until it is cancelled."""
        while True:
            await asyncio.sleep(_LOOK_EVERY_S * self.client.rng.uniform(0.5, 1.5))
            if not self._stage.tables:
                continue
            table_id = self.client.rng.choice(self._stage.tables[-100:])
            began_ns = now_ns()
            try:
                async with asyncio.timeout(ANSWER_S):
                    seq = await (self._describe(table_id) if self.client.rng.random() < 0.5 else self._view(table_id))
            except (ServiceError, TimeoutError):
                self.client.move()
                continue
            if seq is not None:
                self.client.journal.note(j.Read(now_ns(), table_id, began_ns, seq))

    async def _describe(self, table_id: str) -> int:
        request = pb.DescribeTableRequest(table_id=table_id)
        return int((await self.client.line.ask(request, self.client.token, ANSWER_S)).table.last_seq)

    async def _view(self, table_id: str) -> int | None:
        request = pb.WatchRequest(targets=[pb.WatchTarget(table_id=table_id)])
        async with self.client.line.watch(request, self.client.token) as messages:
            while (raw := await anext(messages, None)) is not None:
                message = pb.WatchResponse.FromString(raw)
                if message.HasField("snapshot"):
                    return int(message.snapshot.seq)
                if message.HasField("ended"):
                    break
        return None


class Slot:
    """A place where a game is always on: with these players and bots, or with bots alone."""

    def __init__(
        self,
        host: Client,
        players: Sequence[Player],
        stage: Stage,
        tell: Callable[[str], None],
        editions: Sequence[str],
    ) -> None:
        self.table_id = ""
        self._host = host
        self._players = players
        self._stage = stage
        self._tell = tell
        self._editions = editions
        self._watching = Watching(host, lambda _: self._moved.set())
        self._moved = asyncio.Event()

    @property
    def watchings(self) -> list[Watching]:
        """Those of its players, or of the host of bots."""
        return [player.watching for player in self._players] or [self._watching]

    @property
    def progress(self) -> int:
        """How many commands one of them has seen by now, in all games."""
        return max(watching.moves for watching in self.watchings)

    async def run(self) -> None:
        """One game after another, until the clients are told to act no more."""
        watching = [asyncio.create_task(one.run()) for one in self.watchings]
        try:
            while self._stage.acts:
                table = await self._start()
                if table is not None:
                    await self._play(table)
            # The watches go on until the run closes them.
            await asyncio.gather(*watching)
        finally:
            await end_tasks(watching)

    async def _play(self, table: table_pb2.Table) -> None:
        self.table_id = table.table_id
        self._stage.tables.append(table.table_id)
        self._tell(table.table_id)
        if not self._players:
            place = self._watching.add(table.table_id)
            while self._stage.acts and not place.is_over:
                await _news_of(self._moved)
            if place.is_over:
                self._watching.forget(table.table_id)
            return
        seats = {seat.session_id: seat.seat for seat in table.seats}
        await asyncio.gather(
            *(player.play(table.table_id, seats[player.client.session_id]) for player in self._players)
        )

    async def _start(self) -> table_pb2.Table | None:
        """A table whose game has begun; None if the run ends before. Every step may have been done already."""
        wish = table_pb2.TableSettings(edition=self._host.rng.choice(self._editions), seats=SEATS, spectators=True)
        create = pb.CreateTableRequest(settings=wish, spectate=not self._players, command_id=self._host.new_id())
        table_id = (await self._host.insist(create)).message.table.table_id
        while self._stage.acts:
            found = (await self._host.insist(pb.DescribeTableRequest(table_id=table_id))).message.table
            if found.status != table_pb2.TABLE_STATUS_LOBBY:
                return found if found.status == table_pb2.TABLE_STATUS_RUNNING else None
            try:
                await self._step(found)
            except RefusedError:
                await asyncio.sleep(_REST_S * random.random())
        return None

    async def _step(self, table: table_pb2.Table) -> None:
        """What the lobby lacks."""
        seated = {seat.session_id for seat in table.seats}
        for player in self._players:
            if player.client.session_id not in seated:
                await player.client.insist(pb.JoinTableRequest(table_id=table.table_id))
                return
        if len(table.seats) < SEATS:
            await self._host.insist(pb.AddBotsRequest(table_id=table.table_id, count=SEATS - len(table.seats)))
        else:
            await self._host.insist(pb.StartGameRequest(table_id=table.table_id))


async def _news_of(event: asyncio.Event) -> None:
    """Waits for it to be set anew, but not for ever: the clients may be told to act no more meanwhile."""
    event.clear()
    try:
        async with asyncio.timeout(_STILL_S):
            await event.wait()
    except TimeoutError:
        pass
