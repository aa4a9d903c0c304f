"""Tables, probes and updates as the contracts know them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Sequence
from typing import Protocol

from google.protobuf.message import DecodeError
from magnate.game.v1 import decision_pb2, update_pb2
from magnate.gateway.v1 import gateway_service_pb2 as gateway_pb
from magnate.table.v1 import table_pb2, table_service_pb2

from services.clock.application.ports import DeadlinePage, Expiry, Gap, InForce
from services.clock.domain.deadlines import Deadline
from services.kit.calls import bearer
from services.kit.errors import ServiceError
from services.kit.logs import get_log
from services.kit.streams import EventStream, Lagged

_log = get_log(__name__)
_PAGE_SIZE = 1_000
_LIST_LIMIT_MS = 10_000
# A deadline is armed so much later at most, which no player loses anything by.
_GATHER_MS = 20
# A table that is gone, or over, has nothing left that could be due; one that stands still is listed again later.
_STALE = frozenset({"stale_deadline", "no_table", "not_started", "game_over", "table_paused", "table_stopped"})
_NOT_DUE = "not_due"


class TableClient(Protocol):
    """The calls of the table service that the clock needs; LocalClient and RemoteClient have them."""

    async def ListDeadlines(
        self, request: table_service_pb2.ListDeadlinesRequest, *, timeout_ms: int
    ) -> table_service_pb2.ListDeadlinesResponse: ...

    async def ExpireDeadline(
        self, request: table_service_pb2.ExpireDeadlineRequest, *, timeout_ms: int
    ) -> table_service_pb2.ExpireDeadlineResponse: ...


class GatewayClient(Protocol):
    """The one call of a gateway that the clock needs."""

    async def Probe(
        self, request: gateway_pb.ProbeRequest, *, timeout_ms: int, metadata: dict[str, str]
    ) -> gateway_pb.ProbeResponse: ...


class TableCalls:
    """Tables, over a client of the table service."""

    def __init__(self, client: TableClient, *, expire_limit_ms: int) -> None:
        self._client = client
        self._expire_limit_ms = expire_limit_ms

    async def list_deadlines(self, shards: Collection[int], page_token: str) -> DeadlinePage:
        request = table_service_pb2.ListDeadlinesRequest(shards=shards, page_token=page_token, page_size=_PAGE_SIZE)
        response = await self._client.ListDeadlines(request, timeout_ms=_LIST_LIMIT_MS)
        tables = tuple(
            InForce(table.shard, table.table_id, table.seq, deadlines_of(table.deadlines), table.grace_ms)
            for table in response.tables
        )
        return DeadlinePage(tables, response.next_page_token)

    async def expire(self, table_id: str, deadline_id: int) -> Expiry:
        request = table_service_pb2.ExpireDeadlineRequest(table_id=table_id, deadline_id=deadline_id)
        try:
            await self._client.ExpireDeadline(request, timeout_ms=self._expire_limit_ms)
        except ServiceError as error:
            reason = error.reason.lower()
            if reason in _STALE:
                return Expiry.STALE
            if reason == _NOT_DUE:
                return Expiry.NOT_DUE
            raise
        return Expiry.DONE


class GatewayProbes:
    """Probes through the gateway; one that takes longer than the limit is lost."""

    def __init__(self, client: GatewayClient, *, token: str, limit_ms: int) -> None:
        self._client = client
        self._metadata = bearer(token)
        self._limit_ms = limit_ms

    async def probe(self, probe_id: str, shard: int) -> None:
        request = gateway_pb.ProbeRequest(probe_id=probe_id, shard=shard)
        await self._client.Probe(request, timeout_ms=self._limit_ms, metadata=self._metadata)


class StreamUpdates:
    """Updates, from the event stream; its topics are `shard:0` to `shard:63`."""

    def __init__(self, stream: EventStream) -> None:
        self._stream = stream

    async def follow(self, shards: Collection[int]) -> AsyncGenerator[InForce | Gap, None]:
        topics = {f"shard:{shard}": shard for shard in sorted(shards)}
        subscription = await self._stream.subscribe(list(topics), gather_ms=_GATHER_MS)
        try:
            yield Gap(None, "the first look")
            async for item in subscription:
                if isinstance(item, Lagged):
                    yield Gap(topics[item.topic], item.reason)
                    continue
                for entry in item.entries:
                    news = parse_update(topics[item.topic], entry.payload)
                    if news is not None:
                        yield news
        finally:
            await subscription.close()


def parse_update(shard: int, payload: bytes) -> InForce | None:
    """What a message of a shard's topic says of deadlines; None for one that is no update."""
    try:
        message = table_pb2.StreamMessage.FromString(payload)
        if not message.HasField("update"):
            return None
        update = update_pb2.Update.FromString(message.update)
    except DecodeError:
        _log.warning("message_malformed", size_bytes=len(payload))
        return None
    in_force = () if update.game_over else deadlines_of(update.deadlines, message.held_ms)
    grace_ms = message.grace_ms if message.HasField("grace_ms") else None
    return InForce(shard, update.table_id, update.last_seq, in_force, grace_ms)


def deadlines_of(deadlines: Sequence[decision_pb2.Deadline], held_ms: int = 0) -> tuple[Deadline, ...]:
    """Deadlines of a message, as the domain knows them: in the play time of the shard, behind which their table is."""
    return tuple(Deadline(item.deadline_id, item.opened_at_ms + held_ms, item.budget_ms) for item in deadlines)
