"""A sign of life for every watch, spread over time so that thousands of them do not come at once."""

from __future__ import annotations

import asyncio
import time

from gateway.application.frames import Frame, heartbeat_frame
from gateway.application.hub import Hub
from gateway.application.play_time import PlayTimes

_SLOTS = 10
# Sent a little more often than announced, so that the announcement holds.
_SHARE = 0.8


class Heartbeats:
    """Also ends the watches whose session has expired."""

    def __init__(self, hub: Hub, play_times: PlayTimes) -> None:
        self._hub = hub
        self._play_times = play_times

    async def run(self) -> None:
        """Goes on for ever."""
        step_s = self._hub.limits.heartbeat_ms / 1000 * _SHARE / _SLOTS
        slot = 0
        while True:
            await asyncio.sleep(step_s)
            self.beat(slot, unix_ms=int(time.time() * 1000))
            slot = (slot + 1) % _SLOTS

    def beat(self, slot: int, *, unix_ms: int) -> None:
        """One step: the watches of this slot get a heartbeat, unless something waits for them anyway."""
        frames: dict[int, Frame] = {}
        for watch in list(self._hub.watches.values()):
            if hash(watch.watch_id) % _SLOTS != slot or watch.over:
                continue
            if 0 < watch.expires_at_unix_ms <= unix_ms:
                self._hub.end_watch(watch, "no_session")
            elif not watch.waiting:
                frame = frames.get(watch.shard)
                if frame is None:
                    frame = frames[watch.shard] = self._frame(watch.shard)
                watch.put(frame)

    def _frame(self, shard: int) -> Frame:
        reading = self._play_times.at(shard)
        if reading is None:
            return heartbeat_frame(play_time_ms=0, running=False)
        return heartbeat_frame(play_time_ms=reading.play_time_ms, running=reading.running)
