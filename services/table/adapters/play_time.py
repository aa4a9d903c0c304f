"""Follows the clock service's readings."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from magnate.clock.v1 import clock_service_pb2 as clock_pb

from services.kit.calls import Stream
from services.kit.errors import ServiceError
from services.kit.logs import get_log
from services.table.application.ports import Wall
from services.table.domain.play_time import Reading, Track
from services.table.domain.shards import SHARDS

_log = get_log(__name__)
_FIRST_BACKOFF_S = 0.05
_LAST_BACKOFF_S = 1.0
# How long a command waits for the first reading after the start of this process.
_FIRST_READING_S = 1.0


class ClockClient(Protocol):
    """The one call of the clock service that tables need."""

    def WatchPlayTime(self, request: clock_pb.WatchPlayTimeRequest) -> Stream: ...


class ClockPlayTime:
    """See `ports.PlayTime`. While readings stay away, play time stands still."""

    def __init__(self, find_clock: Callable[[], ClockClient], wall: Wall) -> None:
        self._find_clock = find_clock
        self._wall = wall
        self._common = Track()
        self._tracks = [self._common] * SHARDS
        self._heard = asyncio.Event()

    def now_ms(self, shard: int) -> int | None:
        return self._tracks[shard].now_ms(self._wall.monotonic_s())

    async def first_ms(self, shard: int) -> int | None:
        with suppress(TimeoutError):
            async with asyncio.timeout(_FIRST_READING_S):
                await self._heard.wait()
        return self.now_ms(shard)

    async def run(self) -> None:
        """Follows for ever; for one background task."""
        backoff_s = _FIRST_BACKOFF_S
        while True:
            began_s = self._wall.monotonic_s()
            try:
                async with self._find_clock().WatchPlayTime(clock_pb.WatchPlayTimeRequest()) as answers:
                    async for answer in answers:
                        self.follow(answer)
                reason = "the stream ended"
            except ServiceError as error:
                reason = error.reason
            if self._wall.monotonic_s() - began_s > _LAST_BACKOFF_S:
                backoff_s = _FIRST_BACKOFF_S
            _log.warning("play_time_lost", reason=reason)
            await asyncio.sleep(backoff_s)
            backoff_s = min(backoff_s * 2, _LAST_BACKOFF_S)

    def follow(self, answer: clock_pb.WatchPlayTimeResponse) -> None:
        """Takes readings over."""
        received_s = self._wall.monotonic_s()
        for play_time in answer.play_times:
            reading = Reading(
                play_time_ms=play_time.play_time_ms,
                epoch=play_time.epoch,
                running=play_time.running,
                valid_for_ms=play_time.valid_for_ms,
                received_s=received_s,
            )
            if answer.same_for_all:
                self._common.follow(reading)
                self._tracks = [self._common] * SHARDS
            elif play_time.shard < SHARDS:
                if self._tracks[play_time.shard] is self._common:
                    self._tracks[play_time.shard] = Track()
                self._tracks[play_time.shard].follow(reading)
        self._heard.set()
