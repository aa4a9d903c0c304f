"""Play time at the gateway: the clock's last reading, extrapolated for as long as it is good."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from dataclasses import dataclass

from magnate.clock.v1 import clock_service_pb2 as clock_pb

from gateway.application.ports import ClockCalls
from services.kit.calls import as_service_error
from services.kit.errors import ServiceError
from services.kit.logs import get_log

_log = get_log(__name__)
_FIRST_BACKOFF_S = 0.1
_LAST_BACKOFF_S = 2.0


@dataclass(frozen=True, slots=True)
class Reading:
    """Play time now, whether it is advancing, and what did not count in total; all in milliseconds."""

    play_time_ms: int
    running: bool
    given_back_ms: int


@dataclass(frozen=True, slots=True)
class _Heard:
    play_time: clock_pb.PlayTime
    at_s: float


class PlayTimes:
    """Follows the clock. Before the first reading, and when it has aged, play time stands still here too."""

    def __init__(self, now_s: Callable[[], float] = time.monotonic) -> None:
        self._now_s = now_s
        self._heard: dict[int, _Heard] = {}
        self._same_for_all = True

    def at(self, shard: int) -> Reading | None:
        """The reading of a shard; None when the clock has not been heard yet."""
        heard = self._heard.get(0 if self._same_for_all else shard)
        if heard is None:
            return None
        last = heard.play_time
        if not last.running:
            return Reading(last.play_time_ms, False, last.given_back_ms)
        age_ms = int((self._now_s() - heard.at_s) * 1000)
        good = age_ms <= last.valid_for_ms
        return Reading(last.play_time_ms + min(age_ms, last.valid_for_ms), good, last.given_back_ms)

    def hear(self, message: clock_pb.WatchPlayTimeResponse) -> None:
        """Takes readings in; one of a lower epoch than the last is void."""
        now_s = self._now_s()
        self._same_for_all = message.same_for_all
        for play_time in message.play_times:
            shard = 0 if message.same_for_all else play_time.shard
            before = self._heard.get(shard)
            if before is None or play_time.epoch >= before.play_time.epoch:
                self._heard[shard] = _Heard(play_time, now_s)

    async def follow(self, clock: ClockCalls) -> None:
        """Listens to the clock for ever, through its absences."""
        backoff_s = _FIRST_BACKOFF_S
        while True:
            try:
                async with clock.WatchPlayTime(clock_pb.WatchPlayTimeRequest()) as readings:
                    async for message in readings:
                        self.hear(message)
                        backoff_s = _FIRST_BACKOFF_S
                reason = "the stream ended"
            except ServiceError as error:
                reason = str(error)
            except Exception as error:
                reason = str(as_service_error(error, "play_time"))
            _log.warning("clock_lost", reason=reason, retry_ms=int(backoff_s * 1000))
            await asyncio.sleep(backoff_s * random.uniform(0.5, 1.0))
            backoff_s = min(backoff_s * 2, _LAST_BACKOFF_S)
