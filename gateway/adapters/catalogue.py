"""Editions and levels of bots, as the rules and the bots service tell; kept for a while, since they hardly change."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from magnate.bots.v1 import bots_service_pb2 as bots_pb
from magnate.game.v1 import edition_pb2
from magnate.rules.v1 import rules_service_pb2 as rules_pb

from services.kit.errors import ServiceError

_KEPT_S = 60.0
_MAX_KEPT = 256


class RulesClient(Protocol):
    """The call of the rules service that is needed here."""

    async def Describe(self, request: rules_pb.DescribeRequest) -> rules_pb.DescribeResponse: ...


class BotsClient(Protocol):
    """The call of the bots service that is needed here."""

    async def ListLevels(self, request: bots_pb.ListLevelsRequest) -> bots_pb.ListLevelsResponse: ...


class ServicesCatalogue:
    """See Catalogue. Without bots there are no levels."""

    def __init__(self, rules: RulesClient, bots: BotsClient | None, *, now_s: Callable[[], float] = time.monotonic):
        self._rules = rules
        self._bots = bots
        self._now_s = now_s
        self._kept: dict[tuple[str, int], tuple[float, list[edition_pb2.Edition]]] = {}
        self._levels: tuple[float, list[str]] | None = None

    async def editions(self) -> list[edition_pb2.Edition]:
        return await self._described("", 0)

    async def edition(self, name: str, version: int) -> edition_pb2.Edition:
        return (await self._described(name, version))[0]

    async def bot_levels(self) -> list[str]:
        if self._bots is None:
            return []
        if self._levels is None or self._now_s() - self._levels[0] > _KEPT_S:
            try:
                answer = await self._bots.ListLevels(bots_pb.ListLevelsRequest())
            except ServiceError:
                # The site can be played without bots; the next one who asks tries again.
                return self._levels[1] if self._levels else []
            self._levels = (self._now_s(), [level.level for level in answer.levels])
        return self._levels[1]

    async def _described(self, name: str, version: int) -> list[edition_pb2.Edition]:
        kept = self._kept.get((name, version))
        if kept is not None and self._now_s() - kept[0] <= _KEPT_S:
            return kept[1]
        answer = await self._rules.Describe(rules_pb.DescribeRequest(edition=name, version=version))
        editions = list(answer.editions)
        if len(self._kept) >= _MAX_KEPT:
            self._kept.clear()
        self._kept[name, version] = (self._now_s(), editions)
        return editions
