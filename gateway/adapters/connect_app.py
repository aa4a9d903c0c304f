"""The handler for browsers: Connect (binary and JSON) and gRPC-Web over HTTP/1.1, as an ASGI application.

It knows no method by name: everything is read from the contract, and runs through the same dispatcher, gate and
handler as on the native port.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import Any, cast

from connectrpc.compat import google_protobuf_json_codec
from connectrpc.compression.gzip import GzipCompression
from connectrpc.method import IdempotencyLevel, MethodInfo, StreamType
from connectrpc.request import RequestContext
from connectrpc.server import ConnectASGIApplication, Endpoint
from google.protobuf.message import DecodeError, Message

from gateway.adapters.connect_errors import to_connect
from gateway.application import refusals
from gateway.domain.contract_version import CONTRACT_KEY, CONTRACT_VERSION
from services.kit.calls import Call, Dispatcher, Method
from services.kit.errors import ServiceError

Context = RequestContext[Any, Any]
_ACCEPTS = (b"accept-encoding", b"connect-accept-encoding", b"grpc-accept-encoding")


class Answer:
    """Serialised bytes of an answer, with the class that they parse to where JSON is wanted."""

    __slots__ = ("data", "kind")

    def __init__(self, data: bytes, kind: type[Message]) -> None:
        self.data = data
        self.kind = kind


class BinaryCodec:
    """Protobuf bytes; what is serialised already passes as it is."""

    def name(self) -> str:
        return "proto"

    def encode(self, message: Any) -> bytes:
        return message.data if isinstance(message, Answer) else cast(Message, message).SerializeToString()

    def decode(self, data: bytes | bytearray, message_class: type[Any]) -> Any:
        try:
            return message_class.FromString(bytes(data))
        except DecodeError:
            raise to_connect(_unparsable(message_class)) from None


class JsonCodec:
    """JSON, for `curl` and debugging: a hundred times as dear as bytes."""

    def __init__(self) -> None:
        self._json = google_protobuf_json_codec()

    def name(self) -> str:
        return "json"

    def encode(self, message: Any) -> bytes:
        return self._json.encode(message.kind.FromString(message.data) if isinstance(message, Answer) else message)

    def decode(self, data: bytes | bytearray, message_class: type[Any]) -> Any:
        try:
            return self._json.decode(bytes(data) or b"{}", message_class)
        except Exception:
            # The parser's own words may quote the client's bytes; a field's name is enough for nobody here.
            raise to_connect(_unparsable(message_class)) from None


class ConnectApp(ConnectASGIApplication[Dispatcher]):
    """All methods of a dispatcher's contract. `max_bytes` is the largest request."""

    def __init__(self, dispatcher: Dispatcher, *, max_bytes: int) -> None:
        super().__init__(
            service=dispatcher,
            endpoints=_endpoints,
            read_max_bytes=max_bytes,
            compressions=(GzipCompression(),),
            codecs=(BinaryCodec(), JsonCodec()),
        )
        self._path = f"/{dispatcher.contract.name}"

    @property
    def path(self) -> str:
        return self._path

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """One request, which may be compressed. Answers are not: here it would cost each watcher of an update anew,
        and it belongs into the proxy in front."""
        headers = [header for header in scope["headers"] if header[0] not in _ACCEPTS]
        await super().__call__({**scope, "headers": headers}, receive, send)


def _endpoints(dispatcher: Dispatcher) -> Mapping[str, Any]:
    return {method.path: _endpoint(dispatcher, method) for method in dispatcher.contract.methods.values()}


def _endpoint(dispatcher: Dispatcher, method: Method) -> Any:
    if method.client_streaming:
        raise TypeError(f"browsers cannot stream to {method.path}")
    info: MethodInfo[Any, Any] = MethodInfo(
        name=method.name,
        service_name=dispatcher.contract.name,
        input=method.request_class,
        output=method.response_class,
        idempotency_level=IdempotencyLevel.UNKNOWN,
        stream_type=StreamType.SERVER_STREAM if method.server_streaming else StreamType.UNARY,
    )
    if method.server_streaming:
        return Endpoint.server_stream(method=info, function=_stream_runner(dispatcher, method))
    return Endpoint.unary(method=info, function=_unary_runner(dispatcher, method))


def _unary_runner(dispatcher: Dispatcher, method: Method) -> Callable[[Any, Context], Awaitable[Any]]:
    async def run(request: Any, context: Context) -> Any:
        context.response_headers[CONTRACT_KEY] = CONTRACT_VERSION
        try:
            answer = await dispatcher.unary(method, request, _call_of(dispatcher, method, context))
        except ServiceError as error:
            raise to_connect(error) from None
        return Answer(answer, method.response_class) if isinstance(answer, bytes) else answer

    return run


def _stream_runner(dispatcher: Dispatcher, method: Method) -> Callable[[Any, Context], AsyncIterator[Any]]:
    async def run(request: Any, context: Context) -> AsyncIterator[Any]:
        context.response_headers[CONTRACT_KEY] = CONTRACT_VERSION
        call = _call_of(dispatcher, method, context)
        try:
            async with aclosing(cast(Any, dispatcher.stream(method, request, call))) as answers:
                async for answer in answers:
                    yield Answer(answer, method.response_class) if isinstance(answer, bytes) else answer
        except ServiceError as error:
            raise to_connect(error) from None

    return run


def _call_of(dispatcher: Dispatcher, method: Method, context: Context) -> Call:
    left_ms = context.timeout_ms
    return Call(
        method=method.path,
        peer=_peer_of(context.client_address),
        metadata=dict(context.request_headers.items()),
        deadline_s=None if left_ms is None else asyncio.get_running_loop().time() + left_ms / 1000,
        draining=dispatcher.gate.draining,
    )


def _peer_of(address: str | None) -> str:
    """The address as gRPC writes it; connectrpc gives host and port without brackets."""
    if not address:
        return "unknown"
    host, _, port = address.rpartition(":")
    return f"ipv6:[{host}]:{port}" if ":" in host else f"ipv4:{host}:{port}"


def _unparsable(kind: type[Message]) -> ServiceError:
    return refusals.malformed("", f"the request is no {kind.DESCRIPTOR.full_name}")
