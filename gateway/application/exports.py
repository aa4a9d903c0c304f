"""Exports on their way to clients: so many of a session at a time, and none that waits long for its reader."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager

from gateway.application import refusals
from gateway.application.cutting import cutter
from services.kit.calls import Call, Stream
from services.kit.logs import get_log

_log = get_log(__name__)


class Exports:
    """Counts open exports by session. `slow_ms` is how long a piece may wait for its reader, `retry_ms` the delay that
    a refused session is told, both in milliseconds."""

    def __init__(self, *, per_session: int, slow_ms: int, retry_ms: int) -> None:
        self._per_session = per_session
        self._slow_s = slow_ms / 1000
        self._retry_ms = retry_ms
        self._open: Counter[str] = Counter()

    @contextmanager
    def counted(self, session_id: str) -> Iterator[None]:
        """Around an export. RESOURCE_EXHAUSTED overloaded."""
        if self._open[session_id] >= self._per_session:
            raise refusals.overloaded("this session has too many exports open", self._retry_ms)
        self._open[session_id] += 1
        try:
            yield
        finally:
            self._open[session_id] -= 1
            if not self._open[session_id]:
                del self._open[session_id]

    async def paced(self, pieces: Stream, call: Call) -> AsyncGenerator[bytes]:
        """The pieces for the client that the present task serves; RESOURCE_EXHAUSTED slow_client, and the end of the
        task, when he leaves one waiting."""
        loop, cut = asyncio.get_running_loop(), cutter(call)
        async for piece in pieces:
            late = loop.call_later(self._slow_s, cut)
            try:
                yield piece
            finally:
                late.cancel()
