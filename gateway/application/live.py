"""The one subscription of this gateway to the event stream."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from gateway.application.hub import Hub
from services.kit.calls import as_service_error
from services.kit.logs import get_log
from services.kit.streams import EventStream, Lagged

_log = get_log(__name__)
_RETRY_S = 0.5


class Live:
    """Hands everything that comes over the topics (each with its shard) to the hub."""

    def __init__(self, stream: EventStream, hub: Hub, topics: Mapping[str, int]) -> None:
        self._stream = stream
        self._hub = hub
        self._topics = topics
        self.subscribed = asyncio.Event()

    async def run(self) -> None:
        """Reads until it is cancelled. After a break everything is compared with the table service."""
        while True:
            try:
                await self._read()
                reason = "the subscription ended"
            except Exception as error:
                reason = str(as_service_error(error, "event_stream"))
            self.subscribed.clear()
            _log.warning("event_stream_lost", reason=reason)
            await asyncio.sleep(_RETRY_S)

    async def _read(self) -> None:
        # A subscription bears a stream that is away: what was never there must not look like one.
        await self._stream.met()
        subscription = await self._stream.subscribe(list(self._topics))
        try:
            self.subscribed.set()
            self._hub.on_lagged(None)
            async for item in subscription:
                if isinstance(item, Lagged):
                    _log.warning("event_stream_lagged", topic=item.topic, reason=item.reason)
                    self._hub.on_lagged(self._topics.get(item.topic))
                else:
                    for entry in item.entries:
                        self._hub.on_payload(entry.payload)
        finally:
            await subscription.close()
