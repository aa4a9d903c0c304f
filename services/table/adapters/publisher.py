"""The way to the event stream: one topic for each shard."""

from __future__ import annotations

from collections.abc import Sequence

from services.kit.streams import EventStream
from services.table.application.ports import Message


class StreamPublisher:
    """See `ports.Publisher`."""

    def __init__(self, stream: EventStream) -> None:
        self._stream = stream

    async def publish(self, messages: Sequence[Message]) -> None:
        shards: dict[int, list[tuple[str, int, bytes]]] = {}
        for message in messages:
            shards.setdefault(message.shard, []).append((message.key, message.seq, message.payload))
        await self._stream.publish_all({f"shard:{shard}": items for shard, items in shards.items()})
