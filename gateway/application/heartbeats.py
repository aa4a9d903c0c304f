"""A sign of life for every watch, spread over time so that thousands of them do not come at once."""

from __future__ import annotations

import asyncio
import time

from magnate.gateway.v1 import gateway_service_pb2 as pb

from gateway.application.frames import Frame, heartbeat_frame
from gateway.application.heard import Standing
from gateway.application.hub import Hub
from gateway.application.play_time import SHARDS, PlayTimes
from gateway.application.watch import Watch

_SLOTS = 10
# Sent a little more often than announced, so that the announcement holds.
_SHARE = 0.8
_LOOK_S = 0.1
_AT_ONCE = 500
_SPREAD_S = 0.02


class Heartbeats:
    """Also ends the watches whose session has expired."""

    def __init__(self, hub: Hub, play_times: PlayTimes) -> None:
        self._hub = hub
        self._play_times = play_times
        self._told: list[Standing | None] = [None] * SHARDS

    async def run(self) -> None:
        """Goes on for ever."""
        step_s = self._hub.limits.heartbeat_ms / 1000 * _SHARE / _SLOTS
        slot = 0
        while True:
            await asyncio.sleep(step_s)
            self.beat(slot, unix_ms=int(time.time() * 1000))
            slot = (slot + 1) % _SLOTS

    async def tell_changes(self) -> None:
        """Goes on for ever: when play time of a shard stops or goes on, or a hold is announced, its watches hear at
        once, some hundreds at a time."""
        while True:
            await asyncio.sleep(_LOOK_S)
            changed = self._changed()
            if not changed:
                continue
            for count, watch in enumerate(list(self._hub.watches.values()), start=1):
                for shard in self._shards_of(watch) & changed:
                    watch.put(self._frame(shard))
                if count % _AT_ONCE == 0:
                    await asyncio.sleep(_SPREAD_S)

    def beat(self, slot: int, *, unix_ms: int) -> None:
        """One step: the watches of this slot get a heartbeat, unless something waits for them anyway."""
        frames: dict[int, Frame] = {}
        for watch in list(self._hub.watches.values()):
            if hash(watch.watch_id) % _SLOTS != slot or watch.over:
                continue
            if 0 < watch.expires_at_unix_ms <= unix_ms:
                self._hub.end_watch(watch, "no_session")
            elif not watch.waiting:
                for shard in self._shards_of(watch):
                    frame = frames.get(shard)
                    if frame is None:
                        frame = frames[shard] = self._frame(shard)
                    watch.put(frame)

    def _changed(self) -> set[int]:
        """The shards of which there is something to tell since the last look."""
        standings = self._play_times.standings()
        if standings == self._told:
            return set()
        pairs = enumerate(zip(self._told, standings, strict=True))
        changed = {shard for shard, (told, now) in pairs if told is not None and now != told}
        self._told = standings
        return changed

    def _shards_of(self, watch: Watch) -> set[int]:
        feeds = (self._hub.feeds.get(table_id) for table_id in watch.targets)
        return {feed.table.shard for feed in feeds if feed is not None and feed.table is not None} or {0}

    def _frame(self, shard: int) -> Frame:
        reading = self._play_times.at(shard)
        if reading is None:
            return heartbeat_frame(pb.Heartbeat(shard=shard, standstill=pb.STANDSTILL_CLOCK_AWAY))
        return heartbeat_frame(
            pb.Heartbeat(
                play_time_ms=reading.play_time_ms,
                running=reading.running,
                shard=shard,
                given_back_ms=reading.given_back_ms,
                standstill=reading.standstill,
                maintenance=reading.maintenance,
            )
        )
