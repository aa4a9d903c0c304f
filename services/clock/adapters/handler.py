"""ClockService."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing

import grpc
from magnate.clock.v1 import clock_service_pb2 as pb

from services.clock.application.clock import Clock
from services.clock.application.ports import Hold, HoldBook, Outage
from services.clock.application.readings import Told
from services.clock.domain.play_time import Cause
from services.clock.domain.shards import ALL, SHARDS, write_shards
from services.kit.calls import Call
from services.kit.errors import ServiceError
from services.kit.logs import get_log

_log = get_log(__name__)
_PAGE_SIZE = 50
_LARGEST_PAGE = 500
_CAUSES = {
    Cause.PROBE_LOST: pb.OUTAGE_CAUSE_PROBE_LOST,
    Cause.CLOCK_AWAY: pb.OUTAGE_CAUSE_CLOCK_AWAY,
    Cause.HELD: pb.OUTAGE_CAUSE_HELD,
}


class ClockHandler:
    """Tells play time and what is left of deadlines, of the shards that this replica holds, and what did not count;
    takes orders to hold shards, which all replicas find in the store.
    UNAVAILABLE unreachable: it does not hold the shard."""

    def __init__(self, clock: Clock, book: HoldBook) -> None:
        self._clock = clock
        self._book = book
        self._encoded: tuple[Sequence[Told], bytes] = ((), b"")

    async def GetPlayTime(self, request: pb.GetPlayTimeRequest, call: Call) -> pb.GetPlayTimeResponse:
        told = self._clock.read(request.shard)
        if told is None:
            raise _not_holder()
        return pb.GetPlayTimeResponse(play_time=_play_time(request.shard, told))

    async def WatchPlayTime(self, request: pb.WatchPlayTimeRequest, call: Call) -> AsyncIterator[bytes]:
        wanted = frozenset(request.shards) or frozenset(ALL)
        self._clock.tell()
        async with aclosing(self._clock.readings.watch(until=call.draining)) as readings:
            async for told in readings:
                if message := self._encode(told, wanted):
                    yield message

    async def GetRemaining(self, request: pb.GetRemainingRequest, call: Call) -> pb.GetRemainingResponse:
        found = self._clock.left(request.table_id)
        if found is None:
            if len(self._clock.held()) < SHARDS:
                raise _not_holder()
            return pb.GetRemainingResponse()
        told, left = found
        remaining = [pb.Remaining(deadline_id=item.deadline_id, left_ms=item.left_ms) for item in left]
        return pb.GetRemainingResponse(remaining=remaining, play_time=_play_time(min(told.shards), told))

    async def ListOutages(self, request: pb.ListOutagesRequest, call: Call) -> pb.ListOutagesResponse:
        size = min(request.page_size or _PAGE_SIZE, _LARGEST_PAGE)
        found = await self._clock.list_outages(before_id=_before_id(request.page_token), limit=size + 1)
        page = found[:size]
        last_id = next((item.outage_id for item in reversed(page) if item.outage_id), 0)
        return pb.ListOutagesResponse(
            outages=[_outage(item) for item in page],
            next_page_token=str(last_id) if len(found) > size and last_id else "",
        )

    async def HoldShards(self, request: pb.HoldShardsRequest, call: Call) -> pb.HoldShardsResponse:
        await self._book.hold(
            request.hold_id,
            tuple(request.shards) or ALL,
            request.reason,
            begins_in_ms=max(0, request.begins_in_ms),
            lasts_ms=request.lasts_ms,
        )
        _log.warning("hold_announced", hold_id=request.hold_id, reason=request.reason, by=call.operator)
        for hold in (await self.ListHolds(pb.ListHoldsRequest(), call)).holds:
            if hold.hold_id == request.hold_id:
                return pb.HoldShardsResponse(hold=hold)
        raise ServiceError(
            grpc.StatusCode.INVALID_ARGUMENT,
            "malformed",
            "the hold of this id has ended already",
            {"field": "hold_id"},
        )

    async def ReleaseShards(self, request: pb.ReleaseShardsRequest, call: Call) -> pb.ReleaseShardsResponse:
        released = await self._book.release(tuple(request.shards) or ALL)
        _log.warning("shards_released", shards=write_shards(released), by=call.operator)
        return pb.ReleaseShardsResponse(shards=released)

    async def ListHolds(self, request: pb.ListHoldsRequest, call: Call) -> pb.ListHoldsResponse:
        holds, unix_ms = await self._book.list_holds()
        return pb.ListHoldsResponse(holds=[_hold(hold, unix_ms) for hold in holds])

    def _encode(self, told: Sequence[Told], wanted: frozenset[int]) -> bytes:
        """The message of these readings; built once for all who watch everything."""
        if len(wanted) < SHARDS:
            return _readings(told, wanted)
        if self._encoded[0] is not told:
            self._encoded = (told, _readings(told, wanted))
        return self._encoded[1]


def _readings(told: Sequence[Told], wanted: frozenset[int]) -> bytes:
    """One reading for each shard; a single one where it is that of all that were asked for."""
    if len(told) == 1 and told[0].shards >= wanted:
        return pb.WatchPlayTimeResponse(play_times=[_play_time(0, told[0])], same_for_all=True).SerializeToString()
    found = sorted(((shard, item) for item in told for shard in item.shards & wanted), key=lambda pair: pair[0])
    return pb.WatchPlayTimeResponse(play_times=[_play_time(shard, item) for shard, item in found]).SerializeToString()


def _not_holder() -> ServiceError:
    return ServiceError(
        grpc.StatusCode.UNAVAILABLE, "unreachable", "this clock does not hold the shard", retry_after_ms=500
    )


def _before_id(page_token: str) -> int | None:
    if not page_token:
        return None
    if not (page_token.isascii() and page_token.isdecimal() and len(page_token) < 19):
        raise ServiceError(
            grpc.StatusCode.INVALID_ARGUMENT, "malformed", "page_token is not one of ours", {"field": "page_token"}
        )
    return int(page_token)


def _play_time(shard: int, told: Told) -> pb.PlayTime:
    reading = told.reading
    return pb.PlayTime(
        shard=shard,
        play_time_ms=reading.play_time_ms,
        read_at_unix_ms=reading.read_at_unix_ms,
        epoch=reading.epoch,
        running=reading.running,
        valid_for_ms=reading.valid_for_ms,
        given_back_ms=reading.given_back_ms,
        cause=_CAUSES[reading.cause] if reading.cause is not None else pb.OUTAGE_CAUSE_UNSPECIFIED,
        hold=_hold(told.hold, told.unix_ms) if told.hold is not None else None,
        shown_up_to_ms=reading.shown_up_to_ms if reading.shown_up_to_ms > reading.play_time_ms else 0,
    )


def _hold(hold: Hold, unix_ms: int) -> pb.Hold:
    return pb.Hold(
        hold_id=hold.hold_id,
        shards=hold.shards,
        reason=hold.reason,
        begins_at_unix_ms=hold.begins_at_ms,
        ends_at_unix_ms=hold.ends_at_ms,
        begins_in_ms=max(0, hold.begins_at_ms - unix_ms),
        ends_in_ms=max(0, hold.ends_at_ms - unix_ms),
    )


def _outage(outage: Outage) -> pb.Outage:
    return pb.Outage(
        outage_id=outage.outage_id,
        shard=outage.shards[0],
        from_unix_ms=outage.from_unix_ms,
        to_unix_ms=outage.to_unix_ms,
        cause=_CAUSES[outage.cause],
        given_back_ms=outage.given_back_ms,
        shards=outage.shards,
    )
