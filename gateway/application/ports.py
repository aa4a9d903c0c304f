"""What the gateway asks of others: small interfaces with an embedded and a distributed implementation."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from magnate.clock.v1 import clock_service_pb2 as clock_pb
from magnate.game.v1 import edition_pb2
from magnate.table.v1 import table_service_pb2 as table_pb

from services.kit.calls import Stream

# Does one command at the table service; over whichever way is the cheapest.
SubmitCall = Callable[[table_pb.SubmitRequest], Awaitable[table_pb.SubmitResponse]]


# Has one replica of the table service commit a probe, within so many milliseconds.
ProbeCall = Callable[[table_pb.ProbeRequest, int], Awaitable[object]]
# One for each replica through which commands go at this moment, on the way that they take there.
ProbeWays = Callable[[], Sequence[ProbeCall]]


class TableCalls(Protocol):
    """The table service as the watch needs it. Every call raises ServiceError."""

    async def GetSession(self, request: table_pb.GetSessionRequest) -> table_pb.GetSessionResponse: ...

    async def DescribeTable(self, request: table_pb.DescribeTableRequest) -> table_pb.DescribeTableResponse: ...

    async def ReadUpdates(self, request: table_pb.ReadUpdatesRequest) -> table_pb.ReadUpdatesResponse: ...

    async def GetSnapshot(self, request: table_pb.GetSnapshotRequest) -> table_pb.GetSnapshotResponse: ...

    async def TouchPresence(self, request: table_pb.TouchPresenceRequest) -> table_pb.TouchPresenceResponse: ...

    async def Probe(self, request: table_pb.ProbeRequest, *, timeout_ms: int) -> table_pb.ProbeResponse: ...

    def ExportTable(self, request: table_pb.ExportTableRequest, *, raw: bool) -> Stream: ...


class ClockCalls(Protocol):
    """The clock service."""

    def WatchPlayTime(self, request: clock_pb.WatchPlayTimeRequest) -> Stream: ...


class Catalogue(Protocol):
    """Editions and levels of bots, as the services that own them tell."""

    async def editions(self) -> list[edition_pb2.Edition]:
        """All editions, without cells, cards and parameters."""
        ...

    async def edition(self, name: str, version: int) -> edition_pb2.Edition:
        """One in full; version 0 is the newest. NOT_FOUND no_edition."""
        ...

    async def bot_levels(self) -> list[str]:
        """Weakest first; empty when nobody tells."""
        ...
