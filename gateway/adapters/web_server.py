"""The browser port: uvicorn over HTTP/1.1 in the event loop of the native port."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterator
from functools import partial
from typing import Any, cast

import uvicorn

from gateway.adapters.web_protocol import BoundedHttp
from services.kit.server import StartError

_START_LIMIT_S = 10.0


class WebServer:
    """Serves an ASGI application on a port (0: any free one).

    `grace_ms` bounds the end of what is being answered, `max_connections` what is open at a time (beyond: 503),
    `request_ms` the time that a client may take to send a request.
    """

    def __init__(self, app: Any, *, host: str, port: int, grace_ms: int, max_connections: int, request_ms: int) -> None:
        self._host = host
        self._wanted_port = port
        self._server = _Server(
            uvicorn.Config(
                app,
                http=cast(Any, partial(BoundedHttp, request_s=request_ms / 1000)),
                ws="none",
                lifespan="off",
                interface="asgi3",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                timeout_keep_alive=75,
                limit_concurrency=max_connections,
                timeout_graceful_shutdown=max(1, grace_ms // 1000),
            )
        )
        self._task: asyncio.Task[None] | None = None
        self._opened: socket.socket | None = None
        self.port = 0

    async def start(self) -> None:
        """Opens the port. Raises StartError."""
        try:
            opened = _listen(self._host, self._wanted_port)
        except OSError as error:
            raise StartError(
                f"gateway: cannot open {self._host}:{self._wanted_port} for browsers: {error.strerror}"
            ) from None
        self._opened = opened
        self.port = opened.getsockname()[1]
        self._task = asyncio.create_task(self._server.serve(sockets=[opened]), name="web")
        async with asyncio.timeout(_START_LIMIT_S):
            while not self._server.started:
                if self._task.done():
                    opened.close()
                    await self._task
                await asyncio.sleep(0.005)

    async def stop(self) -> None:
        """Takes nothing new, lets what is being answered end within the grace, and closes."""
        if self._task is not None:
            self._server.should_exit = True
            await asyncio.wait([self._task])
            if self._opened is not None:
                self._opened.close()


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals belong to the program, not to one of its ports."""
        yield


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    opened = socket.socket(family, socket.SOCK_STREAM)
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind((host, port))
        opened.listen(1024)
        opened.setblocking(False)
    except OSError:
        opened.close()
        raise
    return opened
