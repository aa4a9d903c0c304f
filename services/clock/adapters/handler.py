"""ClockService."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing

import grpc
from magnate.clock.v1 import clock_service_pb2 as pb

from services.clock.application.clock import Clock
from services.clock.domain.play_time import Cause, Outage, Reading
from services.kit.calls import Call
from services.kit.errors import ServiceError

_PAGE_SIZE = 50
_LARGEST_PAGE = 500
_CAUSES = {
    Cause.PROBE_LOST: pb.OUTAGE_CAUSE_PROBE_LOST,
    Cause.CLOCK_AWAY: pb.OUTAGE_CAUSE_CLOCK_AWAY,
    Cause.HELD: pb.OUTAGE_CAUSE_HELD,
}


class ClockHandler:
    """Tells play time, what is left of deadlines, and what did not count. UNAVAILABLE unreachable: another clock
    holds the shards, or none does yet."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    async def GetPlayTime(self, request: pb.GetPlayTimeRequest, call: Call) -> pb.GetPlayTimeResponse:
        return pb.GetPlayTimeResponse(play_time=_play_time(self._read(), request.shard))

    async def WatchPlayTime(
        self, request: pb.WatchPlayTimeRequest, call: Call
    ) -> AsyncIterator[pb.WatchPlayTimeResponse]:
        async with aclosing(self._clock.readings.watch(until=call.draining)) as readings:
            async for reading in readings:
                yield pb.WatchPlayTimeResponse(play_times=[_play_time(reading, 0)], same_for_all=True)
        if not call.draining.is_set():
            raise _not_holder()

    async def GetRemaining(self, request: pb.GetRemainingRequest, call: Call) -> pb.GetRemainingResponse:
        reading = self._read()
        remaining = [
            pb.Remaining(deadline_id=item.deadline_id, left_ms=item.left_ms)
            for item in self._clock.left(request.table_id)
        ]
        return pb.GetRemainingResponse(remaining=remaining, play_time=_play_time(reading, 0))

    async def ListOutages(self, request: pb.ListOutagesRequest, call: Call) -> pb.ListOutagesResponse:
        size = min(request.page_size or _PAGE_SIZE, _LARGEST_PAGE)
        found = await self._clock.list_outages(before_id=_before_id(request.page_token), limit=size + 1)
        page = found[:size]
        return pb.ListOutagesResponse(
            outages=[_outage(item) for item in page],
            next_page_token=str(page[-1].outage_id) if len(found) > size else "",
        )

    def _read(self) -> Reading:
        reading = self._clock.read()
        if reading is None:
            raise _not_holder()
        return reading


def _not_holder() -> ServiceError:
    return ServiceError(
        grpc.StatusCode.UNAVAILABLE, "unreachable", "this clock does not hold the shards", retry_after_ms=500
    )


def _before_id(page_token: str) -> int | None:
    if not page_token:
        return None
    if not (page_token.isascii() and page_token.isdecimal() and len(page_token) < 19):
        raise ServiceError(
            grpc.StatusCode.INVALID_ARGUMENT, "malformed", "page_token is not one of ours", {"field": "page_token"}
        )
    return int(page_token)


def _play_time(reading: Reading, shard: int) -> pb.PlayTime:
    return pb.PlayTime(
        shard=shard,
        play_time_ms=reading.play_time_ms,
        read_at_unix_ms=reading.read_at_unix_ms,
        epoch=reading.epoch,
        running=reading.running,
        valid_for_ms=reading.valid_for_ms,
        given_back_ms=reading.given_back_ms,
    )


def _outage(outage: Outage) -> pb.Outage:
    return pb.Outage(
        outage_id=outage.outage_id,
        from_unix_ms=outage.from_unix_ms,
        to_unix_ms=outage.to_unix_ms,
        cause=_CAUSES[outage.cause],
        given_back_ms=outage.given_back_ms,
    )
