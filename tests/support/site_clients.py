"""Clients of a whole site: guests who note every byte they get, watchers who fold, people at one table."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc
from magnate.game.v1 import command_pb2, decision_pb2, update_pb2
from magnate.gateway.v1 import gateway_service_pb2 as pb
from magnate.table.v1 import table_pb2

from services.kit.errors import ServiceError
from services.rules.codec.messages import read_decision, write_command
from services.rules.domain.commands import Action, Basket, Command, OfferTrade
from services.rules.domain.options import Option
from services.rules.domain.parties import NONE
from tests.support.gateways import Client, target
from tests.support.play import random_action
from tests.support.sites import LiveSite

#: answers that bring their one caller a secret of his own
_WITH_SECRET = frozenset({"CreateSession", "RenewSession", "CreateTable", "JoinTable", "ReclaimSeat"})
_WAIT_S = 30.0
_RUINOUS = ("declare_bankruptcy", "accept_trade", "offer_trade", "buy", "roll", "decline", "pass", "end_turn")
_CONNECTS_S = 10.0
_numbers = itertools.count(1)


class Guest(Client):
    """A native client with a session and a connection of its own. `heard` is all that the server sent, but for the
    answers that hold a secret meant for this client; those secrets stand in `secrets`."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        super().__init__(channel)
        self.channel: Any = channel
        self.heard: list[bytes] = []
        self.secrets: list[str] = []

    async def ask(self, request: Any) -> Any:
        """A unary call named after its request."""
        name = type(request).__name__.removesuffix("Request")
        raw = await getattr(self.raw, name)(request, metadata=self.metadata, raw=True)
        answer = getattr(pb, name + "Response").FromString(raw)
        if name in _WITH_SECRET:
            self.secrets += [secret for key in ("session_token", "seat_secret") if (secret := getattr(answer, key, ""))]
        else:
            self.heard.append(raw)
        return answer

    async def begin(self, name: str) -> None:
        """Opens a session; on a busy machine a connection may take more than one try."""
        ends_s = asyncio.get_running_loop().time() + _CONNECTS_S
        while True:
            try:
                answer = await self.ask(pb.CreateSessionRequest(name=name))
                break
            except ServiceError as error:
                if error.reason != "unavailable" or asyncio.get_running_loop().time() > ends_s:
                    raise
            await asyncio.sleep(0.1)
        self.token, self.session = answer.session_token, answer.session

    @asynccontextmanager
    async def watching(self, table_id: str, after_seq: int | None = None) -> AsyncIterator[Watcher]:
        """A watch of one table, closed at the end."""
        request = pb.WatchRequest(targets=[target(table_id, after_seq)])
        async with self.raw.Watch(request, metadata=self.metadata, raw=True) as stream:
            yield Watcher(stream, self.heard)

    async def log(self, table_id: str) -> list[bytes]:
        """The whole log as the gateway tells it: the frame of every update up to now."""
        async with self.watching(table_id) as watcher:
            last_seq = (await watcher.snapshot()).seq
        async with self.watching(table_id, 0) as watcher:
            await watcher.reach(last_seq)
            return watcher.frames

    async def export(self, table_id: str) -> bytes:
        """The log as a file."""
        pieces = b""
        request = pb.ExportTableRequest(table_id=table_id)
        async with self.raw.ExportTable(request, metadata=self.metadata) as stream:
            async for piece in stream:
                pieces += piece.piece
        self.heard.append(pieces)
        return pieces


class Watcher:
    """What a watch brings. `frames` are the messages with updates, as they came over the wire."""

    def __init__(self, stream: Any, heard: list[bytes]) -> None:
        self._stream = stream
        self._heard = heard
        self.frames: list[bytes] = []
        self.updates: list[update_pb2.Update] = []

    async def next(self) -> pb.WatchResponse:
        """The next message, whatever it is."""
        raw = await anext(self._stream)
        self._heard.append(raw)
        message = pb.WatchResponse.FromString(raw)
        if message.HasField("update"):
            self.frames.append(raw)
            self.updates.append(message.update)
        return message

    async def first(self, kind: str) -> pb.WatchResponse:
        """The next message of a kind; a test fails if none comes for long, or the watch ends before."""
        async with asyncio.timeout(_WAIT_S):
            while not (message := await self.next()).HasField(kind):  # type: ignore[arg-type]
                assert not message.HasField("ended"), message
        return message

    async def snapshot(self) -> update_pb2.Snapshot:
        """The snapshot that it begins with."""
        return (await self.first("snapshot")).snapshot

    async def update(self) -> update_pb2.Update:
        """The next update."""
        return (await self.first("update")).update

    async def table(self) -> table_pb2.Table:
        """The next message about the table outside its game."""
        return (await self.first("table")).table

    async def ended(self) -> pb.WatchEnded:
        """How it ends for the table."""
        return (await self.first("ended")).ended

    async def reach(self, seq: int) -> update_pb2.Update:
        """The update that reaches this number."""
        while not self.updates or self.updates[-1].last_seq < seq:
            await self.update()
        return self.updates[-1]

    async def over(self, limit: int = 10_000) -> update_pb2.Update:
        """The last update of the game, which comes within so many."""
        while not self.updates or not self.updates[-1].game_over:
            assert len(self.updates) < limit, f"no end after {limit} commands"
            await self.update()
        return self.updates[-1]


@dataclass
class People:
    """A running game whose seats are all guests', in the order of their seats."""

    table_id: str
    guests: list[Guest]
    draw: random.Random = field(default_factory=lambda: random.Random(5))

    def command(self, decision: decision_pb2.Decision, *, command_id: str = "") -> command_pb2.Command:
        """A legal command for this decision, drawn from all there are; nobody gives up who need not."""
        known, options = read_decision(decision)
        mine = [option for option in options if option.seat == known.seats[0]]
        option = self.draw.choice([option for option in mine if option.kind != "declare_bankruptcy"] or mine)
        chosen = Command(option.seat, known.id, random_action(self.draw, [option]))
        return command_pb2.Command.FromString(write_command(chosen, command_id or f"c{next(_numbers)}"))

    def ruinous(self, decision: decision_pb2.Decision) -> command_pb2.Command:
        """What brings a game of two to its end soon: who gets a deed for all of his money takes it, and then gives
        up."""
        known, options = read_decision(decision)
        seat = known.seats[0]
        mine: dict[str, Option] = {option.kind: option for option in options if option.seat == seat}
        name = next((name for name in _RUINOUS if name in mine), "")
        action: Action = random_action(self.draw, [mine[name] if name else next(iter(mine.values()))])
        trade = mine["offer_trade"].trade if name == "offer_trade" else None
        if trade is not None and trade.get_cells:
            cash = trade.exchange_range(trade.get_cells[0], NONE)
            if cash is not None and cash.greatest > 0:
                action = OfferTrade(trade.to, Basket(cash.greatest), Basket(cells=trade.get_cells[:1]))
        chosen = Command(seat, known.id, action)
        return command_pb2.Command.FromString(write_command(chosen, f"c{next(_numbers)}"))

    def offering(self, decision: decision_pb2.Decision) -> command_pb2.Command:
        """An offer to somebody where one may be made; else what brings one nearer."""
        known, options = read_decision(decision)
        kinds: dict[str, Option] = {option.kind: option for option in options if option.seat == known.seats[0]}
        name = next(name for name in ("offer_trade", *_RUINOUS, *kinds) if name in kinds)
        chosen = Command(known.seats[0], known.id, random_action(self.draw, [kinds[name]]))
        return command_pb2.Command.FromString(write_command(chosen, f"c{next(_numbers)}"))

    async def submit(self, command: command_pb2.Command, *, guest: Guest | None = None) -> pb.SubmitResponse:
        """Gives a command in the name of whoever holds its seat."""
        by = guest or self.guests[command.seat]
        answer: pb.SubmitResponse = await by.ask(pb.SubmitRequest(table_id=self.table_id, command=command))
        return answer

    async def decision(self) -> decision_pb2.Decision:
        """What the game waits for."""
        async with self.guests[0].watching(self.table_id) as watcher:
            return (await watcher.snapshot()).decision

    async def play(self, watcher: Watcher, commands: int) -> None:
        """So many commands, each an answer to what the watcher of the first seat has seen, or to the end."""
        if not watcher.updates:
            await watcher.update()
        for _ in range(commands):
            if watcher.updates[-1].game_over:
                return
            done = await self.submit(self.command(watcher.updates[-1].decision))
            await watcher.reach(done.last_seq)

    async def ruin(self, watcher: Watcher, limit: int = 600) -> None:
        """Plays to the end, which comes soon."""
        if not watcher.updates:
            await watcher.update()
        while not watcher.updates[-1].game_over:
            assert len(watcher.updates) < limit
            done = await self.submit(self.ruinous(watcher.updates[-1].decision))
            await watcher.reach(done.last_seq)


@dataclass
class Visitors:
    """Makes guests for a site, at one gateway after the other, and closes their connections at the end."""

    site: LiveSite
    channels: list[grpc.aio.Channel] = field(default_factory=list)

    def stranger(self) -> Guest:
        """A client without a session."""
        # A subchannel of its own: otherwise all channels of a process share one connection.
        channel = grpc.aio.insecure_channel(
            self.site.addresses[len(self.channels) % len(self.site.addresses)],
            options=[
                ("grpc.use_local_subchannel_pool", 1),
                ("grpc.initial_reconnect_backoff_ms", 50),
                ("grpc.min_reconnect_backoff_ms", 50),
                ("grpc.max_reconnect_backoff_ms", 200),
                ("grpc.max_receive_message_length", -1),
            ],
        )
        self.channels.append(channel)
        return Guest(channel)

    async def guest(self, name: str = "Ada") -> Guest:
        """A client with a new session."""
        guest = self.stranger()
        await guest.begin(name)
        return guest

    async def guests(self, count: int) -> list[Guest]:
        """So many of them."""
        return [await self.guest(f"Guest {number}") for number in range(count)]

    async def table(self, host: Guest, **wishes: Any) -> table_pb2.Table:
        """A new table of the flagship edition with the host in its first seat."""
        settings = table_pb2.TableSettings(**{"edition": "industry", "seats": 4, "spectators": True, **wishes})
        request = pb.CreateTableRequest(settings=settings, command_id=f"t{next(_numbers)}")
        answer: pb.CreateTableResponse = await host.ask(request)
        return answer.table

    async def people(self, count: int, **wishes: Any) -> People:
        """A running game of so many people."""
        guests = await self.guests(count)
        table_id = (await self.table(guests[0], **wishes)).table_id
        for guest in guests[1:]:
            await guest.ask(pb.JoinTableRequest(table_id=table_id))
        await guests[0].ask(pb.StartGameRequest(table_id=table_id))
        return People(table_id, guests)

    async def solo(self, bots: int = 3) -> People:
        """A running game of one person and bots."""
        person = await self.guest()
        table_id = (await self.table(person, seats=bots + 1)).table_id
        await person.ask(pb.AddBotsRequest(table_id=table_id, count=bots))
        await person.ask(pb.StartGameRequest(table_id=table_id))
        return People(table_id, [person])

    async def bots(self, count: int) -> tuple[Guest, str]:
        """A host who watches a running game of bots, and its table."""
        host = await self.guest("Host")
        settings = table_pb2.TableSettings(edition="industry", seats=count, spectators=True)
        request = pb.CreateTableRequest(settings=settings, spectate=True, command_id=f"t{next(_numbers)}")
        table_id = (await host.ask(request)).table.table_id
        await host.ask(pb.AddBotsRequest(table_id=table_id, count=count))
        await host.ask(pb.StartGameRequest(table_id=table_id))
        return host, table_id

    async def close(self) -> None:
        """Closes the connections."""
        for channel in self.channels:
            await channel.close()


async def refusal(awaited: Any) -> tuple[str, str]:
    """Status and reason with which a call is refused."""
    try:
        await awaited
    except ServiceError as error:
        return error.code.name, error.reason
    return "OK", ""
