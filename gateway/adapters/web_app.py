"""What answers on the browser port: the calls, their permission for pages of other origins, health, and files."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from gateway.adapters.web_files import WebFile
from services.kit.calls import as_service_error

Scope = Mapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
App = Callable[[Any, Any, Any], Awaitable[None]]
Header = tuple[bytes, bytes]

_ALLOWED_HEADERS = (
    b"authorization, content-type, connect-protocol-version, connect-timeout-ms, grpc-timeout, magnate-contract, "
    b"x-grpc-web, x-user-agent"
)
_EXPOSED_HEADERS = b"grpc-status, grpc-message, grpc-status-details-bin, magnate-contract"
_DAY_S = b"86400"
_SAFE_HEADERS: tuple[Header, ...] = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
)


class WebApp:
    """`calls` answers under `calls_path`. `origins` may call from pages that are not served here; `*` means all."""

    def __init__(
        self,
        *,
        calls: App,
        calls_path: str,
        files: Mapping[str, WebFile],
        origins: Iterable[str],
        is_ready: Callable[[], bool],
    ) -> None:
        self._calls = calls
        self._prefix = calls_path + "/"
        self._files = files
        self._origins = frozenset(origin.encode() for origin in origins)
        self._is_ready = is_ready

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request. Other kinds of connection are not spoken here."""
        if scope["type"] != "http":
            return
        path: str = scope["path"]
        if path.startswith(self._prefix):
            await self._call(scope, receive, send)
        elif path == "/healthz":
            ready = self._is_ready()
            await _answer(send, 200 if ready else 503, b"ok\n" if ready else b"not ready\n")
        elif scope["method"] not in ("GET", "HEAD"):
            await _answer(send, 405, b"method not allowed\n", [(b"allow", b"GET, HEAD")])
        else:
            await self._send_file(path, scope["method"] == "HEAD", send)

    async def _call(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers: list[Header] = list(scope["headers"])
        if not all(_is_plain(name) and _is_plain(value) for name, value in headers):
            await _answer(send, 400, b"headers are ASCII\n")
            return
        shared = self._shared_with(next((value for name, value in headers if name == b"origin"), b""))
        if _is_native_grpc(headers):
            await _answer(send, 415, b"native gRPC has a port of its own\n")
            return
        if scope["method"] == "OPTIONS":
            await _answer(send, 204, b"", [*shared, *_PREFLIGHT] if shared else [])
            return
        started = False

        async def send_shared(message: Any) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                message = {**message, "headers": [*message["headers"], *shared]}
            await send(message)

        try:
            await self._calls(scope, receive, send_shared)
        except OSError:
            # The client has left in the middle.
            return
        except asyncio.CancelledError:
            # So a client is cut who does not read. The end of his answer is on its way; uvicorn would log a stack.
            if not started:
                raise
        except Exception as error:
            as_service_error(error, "web")
            if not started:
                await _answer(send, 500, b"internal error\n")

    async def _send_file(self, path: str, head: bool, send: Send) -> None:
        file = self._files.get(path)
        if file is None:
            await _answer(send, 404, b"there is nothing here\n")
            return
        lasting = b"public, max-age=31536000, immutable" if file.lasting else b"no-cache"
        await _answer(
            send,
            200,
            file.body,
            [(b"cache-control", lasting)],
            content_type=file.content_type.encode(),
            head=head,
        )

    def _shared_with(self, origin: bytes) -> list[Header]:
        if not origin or not self._origins & {origin, b"*"}:
            return []
        return [
            (b"access-control-allow-origin", origin),
            (b"access-control-expose-headers", _EXPOSED_HEADERS),
            (b"vary", b"Origin"),
        ]


_PREFLIGHT: tuple[Header, ...] = (
    (b"access-control-allow-methods", b"POST"),
    (b"access-control-allow-headers", _ALLOWED_HEADERS),
    (b"access-control-max-age", _DAY_S),
)


def _is_native_grpc(headers: Iterable[Header]) -> bool:
    """Whether it is gRPC with HTTP/2 trailers, which cannot be answered over HTTP/1.1."""
    kind = next((value for name, value in headers if name == b"content-type"), b"")
    return kind.startswith(b"application/grpc") and not kind.startswith(b"application/grpc-web")


def _is_plain(value: bytes) -> bool:
    return value.isascii()


async def _answer(
    send: Send,
    status: int,
    body: bytes,
    headers: Iterable[Header] = (),
    *,
    content_type: bytes = b"text/plain; charset=utf-8",
    head: bool = False,
) -> None:
    every: list[Header] = [(b"content-length", str(len(body)).encode()), *_SAFE_HEADERS, *headers]
    if status != 204:
        every.insert(0, (b"content-type", content_type))
    await send({"type": "http.response.start", "status": status, "headers": every})
    await send({"type": "http.response.body", "body": b"" if head else body, "more_body": False})
