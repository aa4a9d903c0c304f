"""Follows the readings of all replicas of the clock service."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Protocol

from magnate.clock.v1 import clock_service_pb2 as clock_pb

from services.kit.calls import Following, Replicas, Stream
from services.table.application.ports import Wall
from services.table.domain.play_time import PILED_UP_S, Reading, Track
from services.table.domain.shards import SHARDS

# How long a command waits for the first reading after the start of this process.
_FIRST_READING_S = 1.0
# How long for one that is due, before it takes play time to stand still.
_DUE_READING_S = 0.3
# Between two attempts to hear a replica of the clock: while none is heard, nothing can be played.
_PAUSE_S = 0.2


class ClockClient(Protocol):
    """The one call of the clock service that tables need."""

    def WatchPlayTime(self, request: clock_pb.WatchPlayTimeRequest) -> Stream: ...


class ClockPlayTime:
    """See `ports.PlayTime`. While readings of a shard stay away, its play time stands still.

    Whoever was stopped, or lost his connection, must not take an old reading for the present, for a deadline that he
    opens would be over too early: he waits a moment for a new one.
    """

    def __init__(self, clocks: Replicas[ClockClient], wall: Wall) -> None:
        self._wall = wall
        self._tracks = [Track() for _ in range(SHARDS)]
        self._heard = asyncio.Event()
        self._following = Following(
            clocks,
            open_stream=lambda clock: clock.WatchPlayTime(clock_pb.WatchPlayTimeRequest()),
            take=lambda _, answer: self.follow(answer),
            what="play_time",
            longest_pause_s=_PAUSE_S,
        )

    def now_ms(self, shard: int) -> int | None:
        now_s, track = self._wall.monotonic_s(), self._tracks[shard]
        return None if track.is_stale(now_s) else track.now_ms(now_s)

    async def first_ms(self, shard: int) -> int | None:
        track = self._tracks[shard]
        limit_s = _FIRST_READING_S if track.now_ms(self._wall.monotonic_s()) is None else _DUE_READING_S
        with suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                while self.now_ms(shard) is None:
                    if not track.is_heard(self._wall.monotonic_s()):
                        await self._heard.wait()
                    await asyncio.sleep(PILED_UP_S)
        return track.now_ms(self._wall.monotonic_s())

    def is_heard(self, shard: int) -> bool:
        return self._tracks[shard].is_heard(self._wall.monotonic_s())

    def held(self, shard: int) -> str | None:
        return self._tracks[shard].held

    async def run(self) -> None:
        """Follows for ever; for one background task."""
        await self._following.run()

    def follow(self, answer: clock_pb.WatchPlayTimeResponse) -> None:
        """Takes the readings of one replica over."""
        received_s = self._wall.monotonic_s()
        for play_time in answer.play_times:
            reading = Reading(
                play_time_ms=play_time.play_time_ms,
                epoch=play_time.epoch,
                running=play_time.running,
                valid_for_ms=play_time.valid_for_ms,
                received_s=received_s,
                held=play_time.hold.reason if play_time.cause == clock_pb.OUTAGE_CAUSE_HELD else None,
            )
            for track in self._tracks if answer.same_for_all else self._tracks[play_time.shard : play_time.shard + 1]:
                track.follow(reading)
        self._heard.set()
        self._heard = asyncio.Event()
