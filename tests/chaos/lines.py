"""A client's connection to one gateway: native gRPC, or Connect as a browser has it. Both give the same."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any, Protocol, cast

import grpc
from connectrpc.code import Code
from connectrpc.errors import ConnectError
from google.rpc import error_details_pb2
from magnate.gateway.v1 import gateway_service_pb2 as pb
from magnate.gateway.v1.gateway_service_connect import GatewayServiceClient
from pyqwest import Client as HttpClient
from pyqwest import HTTPTransport

from gateway.main import DESCRIPTOR
from services.kit.calls import RemoteClient
from services.kit.errors import ServiceError

_CHANNEL = (
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.initial_reconnect_backoff_ms", 50),
    ("grpc.min_reconnect_backoff_ms", 50),
    ("grpc.max_reconnect_backoff_ms", 500),
)
_CODES = {"CANCELED": grpc.StatusCode.CANCELLED}


class Line(Protocol):
    """Calls are named after their requests; every failure is a ServiceError."""

    async def ask(self, request: Any, token: str, timeout_s: float) -> Any:
        """The answer of a unary call."""
        ...

    def watch(self, request: pb.WatchRequest, token: str) -> Any:
        """A context with the messages of a watch as they came over the wire, as bytes."""
        ...

    async def close(self) -> None:
        """Ends it."""
        ...


class NativeLine:
    """gRPC."""

    def __init__(self, address: str) -> None:
        self._channel = grpc.aio.insecure_channel(address, options=_CHANNEL)
        self._client: Any = RemoteClient(DESCRIPTOR, self._channel)

    async def ask(self, request: Any, token: str, timeout_s: float) -> Any:
        name = type(request).__name__.removesuffix("Request")
        return await getattr(self._client, name)(request, timeout_ms=int(timeout_s * 1000), metadata=_headers(token))

    @asynccontextmanager
    async def watch(self, request: pb.WatchRequest, token: str) -> AsyncIterator[AsyncIterator[bytes]]:
        async with self._client.Watch(request, metadata=_headers(token), raw=True) as stream:
            yield stream

    async def close(self) -> None:
        await self._channel.close()


class WebLine:
    """Connect over HTTP/1.1."""

    def __init__(self, address: str) -> None:
        self._http = HttpClient(HTTPTransport())
        self._client = GatewayServiceClient(
            address, codec=cast(Any, _Bytes()), http_client=self._http, send_compression=None, accept_compression=()
        )

    async def ask(self, request: Any, token: str, timeout_s: float) -> Any:
        name = type(request).__name__.removesuffix("Request")
        call: Any = getattr(self._client, _snake(name))
        try:
            raw = await call(request, headers=_headers(token), timeout_ms=int(timeout_s * 1000))
        except ConnectError as error:
            raise _failure(error) from None
        return getattr(pb, name + "Response").FromString(raw)

    @asynccontextmanager
    async def watch(self, request: pb.WatchRequest, token: str) -> AsyncIterator[AsyncIterator[bytes]]:
        async with aclosing(self._messages(request, token)) as messages:
            yield messages

    async def _messages(self, request: pb.WatchRequest, token: str) -> AsyncGenerator[bytes, None]:
        stream: Any = self._client.watch(request, headers=_headers(token))
        try:
            async with aclosing(stream):
                async for raw in stream:
                    yield raw
        except ConnectError as error:
            raise _failure(error) from None

    async def close(self) -> None:
        await self._client.close()


class _Bytes:
    """Leaves answers as they came."""

    def name(self) -> str:
        return "proto"

    def encode(self, message: Any) -> bytes:
        return cast(bytes, message.SerializeToString())

    def decode(self, data: bytes | bytearray, message_class: type[Any]) -> bytes:
        return bytes(data)


def _headers(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"} if token else {}


def _snake(name: str) -> str:
    return "".join("_" * (letter.isupper() and index > 0) + letter.lower() for index, letter in enumerate(name))


def _failure(error: ConnectError) -> BaseException:
    """The library reports a cancellation of the caller as a failure of the call."""
    task = asyncio.current_task()
    if error.code is Code.CANCELED and task is not None and task.cancelling():
        return asyncio.CancelledError()
    return _service_error(error)


def _service_error(error: ConnectError) -> ServiceError:
    name = error.code.name
    code = _CODES.get(name) or grpc.StatusCode[name]
    info, retry = error_details_pb2.ErrorInfo(reason=name.lower()), error_details_pb2.RetryInfo()
    for detail in error.details:
        for known in (info, retry):
            if detail.type_name == known.DESCRIPTOR.full_name:
                known.ParseFromString(detail.message_bytes)
    return ServiceError(
        code, info.reason, error.message, dict(info.metadata), retry.retry_delay.ToMilliseconds() or None
    )
