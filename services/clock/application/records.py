"""The record of what did not count: one entry for a stretch, whatever the number of its shards."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from services.clock.application.instruments import Instruments
from services.clock.application.ports import Outage
from services.clock.domain.play_time import NS_PER_MS, Stretch
from services.clock.domain.shards import SHARDS
from services.kit.logs import get_log

_log = get_log(__name__)


class Records:
    """Outages that have ended, until they are stored. Their moments are of the store's clock, which all replicas
    share."""

    def __init__(self, instruments: Instruments) -> None:
        self.unsaved: list[Outage] = []
        self._instruments = instruments
        self._offset_ms = 0

    def set_clock(self, *, unix_ms: int, mono_ns: int) -> None:
        """What the store's clock showed at a monotonic moment."""
        self._offset_ms = unix_ms - mono_ns // NS_PER_MS

    def clock_at(self, mono_ns: int) -> int:
        """What the store's clock should show at a monotonic moment."""
        return self._offset_ms + mono_ns // NS_PER_MS

    def add(self, ended: Iterable[tuple[Collection[int], Stretch]]) -> None:
        """Stretches that ended together, each with its shards."""
        shards: dict[Stretch, list[int]] = {}
        for numbers, stretch in ended:
            shards.setdefault(stretch, []).extend(numbers)
        for stretch, numbers in shards.items():
            from_unix_ms = self.clock_at(stretch.from_ns)
            outage = Outage(
                # A shard has one outage at a time, so that this is no other's.
                outage_id=from_unix_ms * SHARDS + min(numbers),
                from_unix_ms=from_unix_ms,
                to_unix_ms=self.clock_at(stretch.to_ns),
                cause=stretch.cause,
                given_back_ms=stretch.given_back_ms,
                shards=tuple(sorted(numbers)),
            )
            self.unsaved.append(outage)
            self._instruments.outages.add(1, {"cause": outage.cause.value})
            self._instruments.given_back_ms.add(outage.given_back_ms, {"cause": outage.cause.value})
            _log.info(
                "play_time_runs", cause=outage.cause, given_back_ms=outage.given_back_ms, shards=len(outage.shards)
            )
