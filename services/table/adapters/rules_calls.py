"""The rules service through its contract, in this process or behind the network."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Protocol, TypeVar

import grpc
from magnate.game.v1 import edition_pb2
from magnate.rules.v1 import rules_service_pb2 as pb

from services.kit.batches import Caller
from services.kit.errors import ServiceError
from services.kit.telemetry import current_traceparent

T = TypeVar("T")
# Has one command decided.
Applier = Caller[pb.ApplyRequest, pb.ApplyResponse]

# A log of thousands of commands takes seconds, beside whatever else the rules do.
_REPLAY_LIMIT_MS = 120_000
_AWAY = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)


class RulesClient(Protocol):
    """The calls of the rules service that tables need; LocalClient and RemoteClient have them."""

    async def Describe(self, request: pb.DescribeRequest) -> pb.DescribeResponse: ...

    async def NewGame(self, request: pb.NewGameRequest) -> pb.NewGameResponse: ...

    async def Apply(self, request: pb.ApplyRequest) -> pb.ApplyResponse: ...

    async def View(self, request: pb.ViewRequest) -> pb.ViewResponse: ...

    async def Probe(self, request: pb.ProbeRequest) -> pb.ProbeResponse: ...

    async def ReplayStream(
        self, request: AsyncIterator[pb.ReplayStreamRequest], *, timeout_ms: int
    ) -> pb.ReplayStreamResponse: ...


class RulesCalls:
    """See `ports.Rules`. Commands travel by the applier where there is one, and one by one when traced; probes by its
    streams where it takes them."""

    def __init__(
        self, client: RulesClient, applier: Applier | None = None, probe: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        self._client = client
        self._applier = applier
        self._probe = probe

    async def describe(self, edition: str, version: int) -> edition_pb2.Edition:
        answer = await _reported(self._client.Describe(pb.DescribeRequest(edition=edition, version=version)))
        if not answer.editions:
            raise ServiceError(grpc.StatusCode.NOT_FOUND, "no_edition", f"there is no edition {edition}")
        return answer.editions[0]

    async def new_game(self, request: pb.NewGameRequest) -> pb.NewGameResponse:
        return await _reported(self._client.NewGame(request))

    async def apply(self, request: pb.ApplyRequest) -> pb.ApplyResponse:
        applier = self._applier
        if applier is None or current_traceparent():
            return await _reported(self._client.Apply(request))
        return await _reported(applier.call(request))

    async def view(self, request: pb.ViewRequest) -> pb.ViewResponse:
        return await _reported(self._client.View(request))

    async def probe(self) -> None:
        # A probe measures what is: it is not asked again.
        if self._probe is None:
            await self._client.Probe(pb.ProbeRequest())
        else:
            await self._probe()

    async def replay(self, log: AsyncIterator[pb.ReplayStreamRequest]) -> pb.ReplayStreamResponse:
        return await self._client.ReplayStream(log, timeout_ms=_REPLAY_LIMIT_MS)


async def _reported(asked: Awaitable[T]) -> T:
    try:
        return await asked
    except ServiceError as error:
        if error.code not in _AWAY:
            raise
        raise ServiceError(
            grpc.StatusCode.UNAVAILABLE, "unreachable", "the rules do not answer", retry_after_ms=500
        ) from None
