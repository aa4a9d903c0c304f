"""A client of a site with several gateways that keeps to "Trying again" of docs/client-guide.md, to the letter."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Sequence
from typing import Any

import grpc
from magnate.game.v1 import update_pb2
from magnate.gateway.v1 import gateway_service_pb2 as pb

from gateway.main import DESCRIPTOR
from services.kit.calls import RemoteClient
from services.kit.errors import ServiceError

#: bounds of the guide, in seconds: of one try, of all tries of a call, of the pause between two
ANSWER_S = 5.0
PATIENCE_S = 30.0
FIRST_PAUSE_S, LAST_PAUSE_S = 0.1, 2.0
_SILENCES = 3
_AGAIN = frozenset(
    {
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        grpc.StatusCode.ABORTED,
    }
)
_OWN_CONNECTION = (
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1_000),
    ("grpc.keepalive_time_ms", 5_000),
    ("grpc.keepalive_timeout_ms", 3_000),
)


class BrokenSequenceError(Exception):
    """A watch that left something out, or told it twice."""


class SteadyClient:
    """Has a session, and a connection to each gateway of which it uses one. `retries` counts the tries after a first
    one, `longest_s` is the longest time to an answer."""

    def __init__(self, addresses: Sequence[str], *, first: int = 0, seed: int = 0) -> None:
        self.token = ""
        self.retries = 0
        self.resumed = 0
        self.longest_s = 0.0
        self._channels = [grpc.aio.insecure_channel(address, options=_OWN_CONNECTION) for address in addresses]
        self._gateways: list[Any] = [RemoteClient(DESCRIPTOR, channel) for channel in self._channels]
        self._at = first % len(addresses)
        self._draw = random.Random(seed)

    async def begin(self, name: str) -> None:
        """Opens the session."""
        self.token = (await self.ask(pb.CreateSessionRequest(name=name))).session_token

    async def ask(self, request: Any) -> Any:
        """The answer of the call named after its request. ServiceError for a refusal that another try would not
        change, or when the guide's patience is over."""
        name = type(request).__name__.removesuffix("Request")
        began_s = time.monotonic()
        number = 0
        while True:
            try:
                answer = await getattr(self._gateways[self._at], name)(
                    request, timeout_ms=int(ANSWER_S * 1000), metadata=self._metadata
                )
            except ServiceError as error:
                if error.code not in _AGAIN or time.monotonic() - began_s > PATIENCE_S:
                    raise
                await self._rest(number, error)
                number += 1
                self.retries += 1
            else:
                self.longest_s = max(self.longest_s, time.monotonic() - began_s)
                return answer

    async def updates(self, table_id: str, after_seq: int = 0) -> AsyncIterator[update_pb2.Update]:
        """All updates after a number, each once, through whatever happens to gateways. BrokenSequenceError when one
        is missing or repeated; ServiceError when the table's part ends for good, or nobody answers for long."""
        silent_since_s, number = time.monotonic(), 0
        while True:
            try:
                async for update in self._watch(table_id, after_seq):
                    if update.first_seq != after_seq + 1:
                        raise BrokenSequenceError(f"{update.first_seq} follows {after_seq}")
                    after_seq, number, silent_since_s = update.last_seq, 0, time.monotonic()
                    yield update
            except ServiceError as error:
                if error.code not in _AGAIN or time.monotonic() - silent_since_s > PATIENCE_S:
                    raise
                await self._rest(number, error)
                number += 1
            self.resumed += 1

    async def close(self) -> None:
        """Closes the connections."""
        for channel in self._channels:
            await channel.close()

    @property
    def _metadata(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.token}"} if self.token else {}

    async def _watch(self, table_id: str, after_seq: int) -> AsyncIterator[update_pb2.Update]:
        request = pb.WatchRequest(targets=[pb.WatchTarget(table_id=table_id, after_seq=after_seq)])
        silence_s = ANSWER_S
        async with self._gateways[self._at].Watch(request, metadata=self._metadata) as messages:
            while True:
                try:
                    async with asyncio.timeout(silence_s):
                        message = await anext(messages)
                except (TimeoutError, StopAsyncIteration):
                    raise ServiceError(grpc.StatusCode.UNAVAILABLE, "silent", "the watch is dead") from None
                kind = message.WhichOneof("message")
                if kind == "opened":
                    silence_s = max(1.0, _SILENCES * message.opened.heartbeat_ms / 1000)
                elif kind == "update":
                    yield message.update
                elif kind == "ended":
                    raise _ended(message.ended)

    async def _rest(self, number: int, error: ServiceError) -> None:
        """The pause before the next try, which goes to another gateway unless this one has only too much to do."""
        if error.code not in (grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.ABORTED):
            self._at = (self._at + 1) % len(self._gateways)
        if error.reason == "draining":
            return
        pause_s = min(FIRST_PAUSE_S * 2**number, LAST_PAUSE_S) * self._draw.uniform(0.5, 1.0)
        await asyncio.sleep(max(pause_s, (error.retry_after_ms or 0) / 1000))


def _ended(ended: pb.WatchEnded) -> ServiceError:
    passing = ended.reason in ("draining", "slow_client", "unreachable")
    code = grpc.StatusCode.UNAVAILABLE if passing else grpc.StatusCode.FAILED_PRECONDITION
    return ServiceError(code, ended.reason, "the watch has ended")
