"""What a player is told about play time: that it stands still and why, what was given back, and maintenance."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from magnate.gateway.v1 import gateway_service_pb2 as pb

from services.site.terminal.texts import Texts

#: what is over sooner is not worth a line
_WORTH_TELLING_S = 2.0
#: a server of a later release may know others
_CAUSES = {number: name.removeprefix("STANDSTILL_").lower() for name, number in pb.Standstill.items() if number}


class TimeNews:
    """Follows the heartbeats of one table."""

    def __init__(self, texts: Texts, now_s: Callable[[], float] = time.monotonic) -> None:
        self._texts = texts
        self._now_s = now_s
        self._stands_since_s: float | None = None
        self._is_told = False
        self._given_back_ms: int | None = None
        self._announced_unix_ms = 0
        #: why time stands still just now; empty while it goes on
        self.why = ""

    def heard(self, beat: pb.Heartbeat) -> list[str]:
        """The lines that a heartbeat is worth, each once."""
        return [*self._maintenance(beat), *(self._goes_on(beat) if beat.running else self._stands(beat))]

    def _maintenance(self, beat: pb.Heartbeat) -> Iterator[str]:
        coming = beat.maintenance
        if not beat.HasField("maintenance") or coming.ends_at_unix_ms == self._announced_unix_ms:
            return
        self._announced_unix_ms = coming.ends_at_unix_ms
        yield self._texts.say(
            "time",
            "maintenance" if coming.begins_in_ms else "maintenance_now",
            begins=_clock(coming.begins_in_ms),
            lasts=_clock(coming.ends_in_ms - coming.begins_in_ms),
            reason=coming.reason,
        )

    def _stands(self, beat: pb.Heartbeat) -> Iterator[str]:
        now_s = self._now_s()
        if self._stands_since_s is None:
            self._stands_since_s = now_s
        if self._given_back_ms is None:
            self._given_back_ms = beat.given_back_ms
        self.why = self._texts.say("standstill", _CAUSES.get(beat.standstill, "probe_lost"))
        if not self._is_told and now_s - self._stands_since_s >= _WORTH_TELLING_S:
            self._is_told = True
            yield self._texts.say("time", "stands_still", why=self.why)

    def _goes_on(self, beat: pb.Heartbeat) -> Iterator[str]:
        if self._is_told:
            given_back_ms = beat.given_back_ms - (self._given_back_ms or 0)
            yield self._texts.say("time", "goes_on", seconds=round(given_back_ms / 1000))
        self._given_back_ms = beat.given_back_ms
        self._stands_since_s, self._is_told, self.why = None, False, ""


def _clock(duration_ms: int) -> str:
    minutes, seconds = divmod(max(0, duration_ms) // 1000, 60)
    return f"{minutes}:{seconds:02}"
