"""HTTP/1.1 as uvicorn speaks it, with ends to what it would wait for and keep without end."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_MAX_HEAD_BYTES = 64 * 1024


class BoundedHttp(HttpToolsProtocol):
    """Closes a connection that has not sent a whole request within `request_s` of its opening, or of the request's
    first byte, and refuses a head that grows beyond 64 KiB, and trailers behind a body, which nothing here reads. How
    long an answer takes is not its business."""

    def __init__(self, *arguments: Any, request_s: float, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._request_s = request_s
        self._late: asyncio.TimerHandle | None = None
        # Bytes of a head that is not complete yet.
        self._head_bytes = 0
        self._in_head = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        self._rest()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._head_bytes += len(data)
        super().data_received(data)
        if not self._in_head:
            self._head_bytes = 0
        elif self._head_bytes > _MAX_HEAD_BYTES and not self.transport.is_closing():
            self.send_400_response("The head of this request is too large.")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head = True
        self._expect()

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._in_head:
            super().on_header(name, value)
        elif not self.transport.is_closing():
            self.transport.abort()

    def on_headers_complete(self) -> None:
        self._in_head = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._rest()
        super().on_message_complete()

    def _expect(self) -> None:
        self._rest()
        self._late = self.loop.call_later(self._request_s, self._give_up)

    def _rest(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _give_up(self) -> None:
        self._late = None
        self.transport.abort()
