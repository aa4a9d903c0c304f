"""HTTP/1.1 by hand, so that tests see what is on the wire."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Answer:
    """Status, headers in lower case, and the whole body."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class StreamedAnswer:
    """An answer whose body, in chunks on the wire, is read piece by piece."""

    def __init__(self, status: int, headers: Mapping[str, str], reader: asyncio.StreamReader) -> None:
        self.status = status
        self.headers = headers
        self._reader = reader
        self._buffer = b""

    async def read(self, size: int) -> bytes:
        """Exactly so many bytes of the body; IncompleteReadError at its end."""
        while len(self._buffer) < size:
            chunk = await self._chunk()
            if not chunk:
                raise asyncio.IncompleteReadError(self._buffer, size)
            self._buffer += chunk
        piece, self._buffer = self._buffer[:size], self._buffer[size:]
        return piece

    async def rest(self) -> bytes:
        """All that is left of the body."""
        if "content-length" in self.headers:
            return await self._reader.readexactly(int(self.headers["content-length"]))
        while chunk := await self._chunk():
            self._buffer += chunk
        return self._buffer

    async def _chunk(self) -> bytes:
        line = await self._reader.readline()
        size = int(line or b"0", 16)
        chunk = await self._reader.readexactly(size)
        await self._reader.readline()
        return chunk


@asynccontextmanager
async def streamed(
    method: str, url: str, body: bytes = b"", headers: Mapping[str, str] | None = None
) -> AsyncIterator[StreamedAnswer]:
    """Sends a request and gives the answer as soon as its head is there; closes the connection at the end."""
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    try:
        every = {"host": parts.netloc, "content-length": str(len(body)), **(headers or {})}
        lines = "".join(f"{name}: {value}\r\n" for name, value in every.items())
        writer.write(f"{method} {parts.path} HTTP/1.1\r\n{lines}\r\n".encode() + body)
        await writer.drain()
        async with asyncio.timeout(10):
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
        first, *rest = head.strip().split("\r\n")
        pairs = (line.partition(": ") for line in rest)
        yield StreamedAnswer(int(first.split()[1]), {name.lower(): value for name, _, value in pairs}, reader)
    finally:
        writer.close()


async def request(method: str, url: str, body: bytes = b"", headers: Mapping[str, str] | None = None) -> Answer:
    """One request and its whole answer."""
    async with streamed(method, url, body, headers) as answer, asyncio.timeout(10):
        without_body = answer.status == 204
        return Answer(answer.status, answer.headers, b"" if without_body else await answer.rest())
