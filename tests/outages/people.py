"""People at a real distributed site: they reach it through whichever gateway answers, and know the time by their own
clock alone.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any

import grpc
from google.rpc import error_details_pb2, status_pb2
from magnate.gateway.v1 import gateway_service_pb2 as pb
from magnate.gateway.v1 import gateway_service_pb2_grpc
from magnate.table.v1 import table_pb2

_OPTIONS = [
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.initial_reconnect_backoff_ms", 50),
    ("grpc.min_reconnect_backoff_ms", 50),
    ("grpc.max_reconnect_backoff_ms", 200),
]
_CALL_S = 1.0
_AWAY = {
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.CANCELLED,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
    grpc.StatusCode.ABORTED,
    grpc.StatusCode.INTERNAL,
    grpc.StatusCode.UNKNOWN,
}
_numbers = itertools.count(1)


#: when it was heard, how much play time, whether it advances
Reading = tuple[float, int, bool]


class RefusedError(Exception):
    """The site says no, and gives a reason."""


class AwayError(Exception):
    """No gateway gave an answer in time; what was asked may be done or not."""


class Doorstep:
    """The gateways of a site, as all people of a test share them. One that does not answer is left for the next."""

    def __init__(self, addresses: Sequence[str]) -> None:
        self._channels = [grpc.aio.insecure_channel(address, options=_OPTIONS) for address in addresses]
        self._stubs: list[Any] = [gateway_service_pb2_grpc.GatewayServiceStub(channel) for channel in self._channels]
        self._first = 0

    async def close(self) -> None:
        """Ends the connections."""
        for channel in self._channels:
            await channel.close()

    async def ask(self, request: Any, token: str = "") -> Any:
        """The call named after its request, tried once at each gateway. RefusedError, AwayError."""
        name = type(request).__name__.removesuffix("Request")
        metadata = (("authorization", f"Bearer {token}"),) if token else ()
        for _ in self._stubs:
            asked = self._first
            try:
                return await getattr(self._stubs[asked], name)(request, timeout=_CALL_S, metadata=metadata)
            except grpc.aio.AioRpcError as error:
                if error.code() not in _AWAY:
                    raise RefusedError(reason_of(error)) from None
                self._leave(asked)
        raise AwayError(name)

    async def insist(self, request: Any, token: str = "") -> Any:
        """`ask`, again and again until there is an answer. RefusedError."""
        while True:
            try:
                return await self.ask(request, token)
            except AwayError:
                await asyncio.sleep(0.1)

    async def watch(self, table_id: str, after_seq: int, token: str) -> AsyncGenerator[pb.WatchResponse, None]:
        """The messages of one watch; it ends with its connection, or when nothing at all is heard for too long."""
        watched = self._first
        stub = self._stubs[watched]
        request = pb.WatchRequest(targets=[pb.WatchTarget(table_id=table_id, after_seq=after_seq)])
        call = stub.Watch(request, metadata=(("authorization", f"Bearer {token}"),))
        try:
            while True:
                async with asyncio.timeout(_CALL_S):
                    message = await call.read()
                if message is grpc.aio.EOF or message.HasField("ended"):
                    return
                yield message
        except (grpc.aio.AioRpcError, TimeoutError):
            self._leave(watched)
        finally:
            call.cancel()

    def _leave(self, number: int) -> None:
        """For the next one, unless others have done so already: two who leave the same one must not come back to it."""
        if self._first == number:
            self._first = (number + 1) % len(self._stubs)


def reason_of(error: grpc.aio.AioRpcError) -> str:
    """The reason of a refusal, or the status where there is none."""
    details = dict(error.trailing_metadata() or ()).get("grpc-status-details-bin", b"")
    info = error_details_pb2.ErrorInfo()
    raw = details if isinstance(details, bytes) else details.encode()
    named = (info.reason for detail in status_pb2.Status.FromString(raw).details if detail.Unpack(info))
    return next(named, error.code().name)


class Party:
    """People of one table, its game and what it has told so far; subclasses play it."""

    def __init__(self, doorstep: Doorstep, edition: str, people: int) -> None:
        self.doorstep = doorstep
        self.edition = edition
        self.people = people
        self.table_id = ""
        self.tokens: list[str] = []
        self.held_ms = 0
        #: for each game, what the heartbeats of its watch told of play time
        self.told: list[list[Reading]] = []

    @property
    def readings(self) -> list[Reading]:
        """Those of the game that is being played."""
        return self.told[-1] if self.told else []

    async def begin(self) -> None:
        """A new table and its game, whatever the site does meanwhile."""
        while True:
            try:
                await self._begin()
            except RefusedError:
                # An outage outlasted the lobby, in which nobody was seen for a while.
                continue
            self.told.append([])
            return

    async def _begin(self) -> None:
        insist = self.doorstep.insist
        while len(self.tokens) < self.people:
            answer = await insist(pb.CreateSessionRequest(name=f"Player {len(self.tokens) + 1}"))
            self.tokens.append(answer.session_token)
        wish = table_pb2.TableSettings(edition=self.edition, seats=self.people)
        request = pb.CreateTableRequest(settings=wish, command_id=f"{id(self)}-{next(_numbers)}")
        self.table_id = (await insist(request, self.tokens[0])).table.table_id
        for token in self.tokens[1:]:
            await self._once(pb.JoinTableRequest(table_id=self.table_id), token)
        await self._once(pb.StartGameRequest(table_id=self.table_id), self.tokens[0])

    async def messages(self) -> AsyncGenerator[tuple[pb.WatchResponse, bool], None]:
        """What a watch of the new game tells, over as many connections as it takes, and whether it is news: what comes
        first when a connection was lost may have happened a while ago."""
        seq, began_s = 0, 0.0
        while True:
            async with aclosing(self.doorstep.watch(self.table_id, seq, self.tokens[0])) as messages:
                async for message in messages:
                    self._hear(message)
                    if message.HasField("update"):
                        seq = message.update.last_seq
                    yield message, time.monotonic() - began_s > _CALL_S
            await asyncio.sleep(0.05)
            began_s = time.monotonic()

    def play_time_ms(self) -> float | None:
        """Play time as a client reckons it now; None before the first reading."""
        if not self.readings:
            return None
        heard_s, play_time_ms, running = self.readings[-1]
        return play_time_ms + (time.monotonic() - heard_s) * 1000 * running

    def _hear(self, message: pb.WatchResponse) -> None:
        if message.HasField("heartbeat"):
            self.readings.append((time.monotonic(), message.heartbeat.play_time_ms, message.heartbeat.running))
        elif message.HasField("table"):
            self.held_ms = message.table.held_ms

    async def _once(self, request: Any, token: str) -> None:
        try:
            await self.doorstep.insist(request, token)
        except RefusedError as refused:
            # Done the first time, and unheard.
            if str(refused) not in {"already_seated", "already_started", "not_allowed"}:
                raise
