"""Calls of a service behind the network, over grpc.aio."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from types import TracebackType
from typing import Any, cast

import grpc
from google.protobuf.descriptor import ServiceDescriptor
from google.protobuf.message import DecodeError, Message

from services.kit.calls.addresses import Address, parse_addresses
from services.kit.calls.call import NO_METADATA
from services.kit.calls.contract import Contract, Method
from services.kit.calls.dispatch import Payload
from services.kit.calls.local import DEFAULT_TIMEOUT_MS, cancelled
from services.kit.calls.tls import RenewingChannel, TlsFiles
from services.kit.errors import ServiceError, from_rpc_error
from services.kit.settings import SettingsError
from services.kit.telemetry import Telemetry, trace_headers

# So long at least may an attempt to connect take: a machine under load needs a while to answer, and for two
# certificates. Who refuses a connection is tried again after the back-off all the same.
_CONNECT_MS = 1_000
_HANDSHAKE_MS = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelOptions:
    """How a channel to another service behaves: the largest message either way, and its keep-alive pings.

    A peer that hangs, its connections open, is noticed when the pings are not answered: within the sum of both."""

    max_message_bytes: int = 16 * 1024 * 1024
    keepalive_ms: int = 2_000
    keepalive_timeout_ms: int = 1_500


def open_channel(
    addresses: str, options: ChannelOptions | None = None, *, tls: TlsFiles | None = None, service: str = ""
) -> grpc.aio.Channel:
    """A channel to what an address setting names; calls go round the replicas. Raises SettingsError, also for several
    names: only numbers can be listed here.

    With `tls` it is encrypted, and the other side's certificate must bear the name of the `service`, whatever the
    address; without one, the host's. OSError for files that cannot be read.
    """
    target = _target(parse_addresses(addresses))
    chosen = options or ChannelOptions()
    arguments = [
        ("grpc.max_receive_message_length", chosen.max_message_bytes),
        ("grpc.max_send_message_length", chosen.max_message_bytes),
        ("grpc.keepalive_time_ms", chosen.keepalive_ms),
        ("grpc.keepalive_timeout_ms", chosen.keepalive_timeout_ms),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.max_pings_without_data", 0),
        ("grpc.initial_reconnect_backoff_ms", 100),
        ("grpc.min_reconnect_backoff_ms", _CONNECT_MS if tls is None else _HANDSHAKE_MS),
        ("grpc.max_reconnect_backoff_ms", 2_000),
        ("grpc.service_config", json.dumps({"loadBalancingConfig": [{"round_robin": {}}]})),
    ]
    if tls is None:
        return grpc.aio.insecure_channel(target, options=arguments)
    if service:
        arguments.append(("grpc.ssl_target_name_override", service))

    def open_secure(credentials: grpc.ChannelCredentials) -> grpc.aio.Channel:
        return grpc.aio.secure_channel(target, credentials, options=arguments)

    # It has what RemoteClient asks of a channel.
    return cast(grpc.aio.Channel, RenewingChannel(tls, open_secure))


def _target(addresses: Sequence[Address]) -> str:
    if len(addresses) == 1:
        return str(addresses[0])
    try:
        kinds = {ip_address(address.host).version for address in addresses}
    except ValueError:
        raise SettingsError("several addresses must be numbers, for example 10.0.0.1:7420,10.0.0.2:7420") from None
    if len(kinds) > 1:
        raise SettingsError("several addresses must be of one kind, IPv4 or IPv6")
    return f"ipv{kinds.pop()}:" + ",".join(map(str, addresses))


class RemoteClient:
    """The same methods as LocalClient, for a handler behind the network."""

    def __init__(
        self,
        descriptor: ServiceDescriptor,
        channel: grpc.aio.Channel,
        *,
        timeout_ms: int = DEFAULT_TIMEOUT_MS,
        telemetry: Telemetry | None = None,
        shows: Mapping[str, str] = NO_METADATA,
    ) -> None:
        """`shows` is metadata of every call, such as the token that says who calls."""
        wire = _Wire(channel, telemetry or Telemetry.off(), shows)
        for method in Contract.of(descriptor).methods.values():
            bind = _stream_caller if method.server_streaming else _unary_caller
            setattr(self, method.name, bind(wire, method, timeout_ms))

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"the contract has no method {name}")


@dataclass(frozen=True, slots=True)
class _Wire:
    channel: grpc.aio.Channel
    telemetry: Telemetry
    shows: Mapping[str, str]

    def headers(self, metadata: Mapping[str, str]) -> tuple[tuple[str, str], ...] | None:
        given = {**self.shows, **metadata} if self.shows else metadata
        return tuple(trace_headers(given).items()) or None

    def callable_of(self, method: Method) -> Callable[..., Any]:
        kinds = {
            (False, False): self.channel.unary_unary,
            (False, True): self.channel.unary_stream,
            (True, False): self.channel.stream_unary,
            (True, True): self.channel.stream_stream,
        }
        make = cast(Callable[..., Callable[..., Any]], kinds[method.client_streaming, method.server_streaming])
        return make(method.path, request_serializer=serialise, response_deserializer=None)


def serialise(payload: Payload) -> bytes:
    """The bytes of a message, or those that were given instead of one."""
    return payload if isinstance(payload, bytes) else payload.SerializeToString()


def _unary_caller(wire: _Wire, method: Method, default_ms: int) -> Callable[..., Any]:
    start = wire.callable_of(method)

    async def call_unary(
        request: object, *, timeout_ms: int | None = None, metadata: Mapping[str, str] = NO_METADATA, raw: bool = False
    ) -> object:
        bound_ms = default_ms if timeout_ms is None else timeout_ms
        with wire.telemetry.client_span(method.path):
            call = start(
                request,
                timeout=bound_ms / 1000 if bound_ms else None,
                metadata=wire.headers(metadata),
            )
            try:
                answer = cast(bytes, await call)
            except grpc.aio.AioRpcError as error:
                raise _given_up(method.path) if _is_given_up(error) else from_rpc_error(error) from None
            except asyncio.CancelledError:
                if is_ours():
                    raise
                raise _given_up(method.path) from None
        return answer if raw else _parse(answer, method)

    return call_unary


def _stream_caller(wire: _Wire, method: Method, _default_ms: int) -> Callable[..., Any]:
    start = wire.callable_of(method)

    def call_stream(
        request: object, *, timeout_ms: int | None = None, metadata: Mapping[str, str] = NO_METADATA, raw: bool = False
    ) -> RemoteStream:
        call = start(
            _requests(request) if method.client_streaming else request,
            timeout=timeout_ms / 1000 if timeout_ms else None,
            metadata=wire.headers(metadata),
        )
        return RemoteStream(call, method, raw)

    return call_stream


async def _requests(requests: object) -> AsyncIterator[Message]:
    """grpc.aio wants a real asynchronous generator; ours may be any iterator."""
    async for request in cast(AsyncIterator[Message], requests):
        yield request


class RemoteStream:
    """The answers of a streaming call; see `Stream`."""

    def __init__(self, call: Any, method: Method, raw: bool) -> None:
        self._call = call
        self._answers = call.__aiter__()
        self._method = method
        self._raw = raw

    def __aiter__(self) -> RemoteStream:
        return self

    async def __anext__(self) -> object:
        try:
            answer = cast(bytes, await self._answers.__anext__())
        except grpc.aio.AioRpcError as error:
            lost = _is_write_lost(error)
            raise _given_up(self._method.path) if lost else from_rpc_error(error) from None
        except asyncio.CancelledError:
            raise_if_not_ours(self._method.path)
            raise
        return answer if self._raw else _parse(answer, self._method)

    def cancel(self) -> None:
        self._call.cancel()

    async def connected(self) -> None:
        try:
            await self._call.wait_for_connection()
        except grpc.aio.AioRpcError as error:
            raise from_rpc_error(error) from None
        except asyncio.CancelledError:
            raise_if_not_ours(self._method.path)
            raise

    async def __aenter__(self) -> RemoteStream:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, stack: TracebackType | None
    ) -> None:
        self._call.cancel()


def is_ours() -> bool:
    """Whether a cancel is that of the running task: grpc.aio reports the end of a call as the cancel of its reader."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


def raise_if_not_ours(path: str) -> None:
    """Only a real cancel may pass as such."""
    if not is_ours():
        raise cancelled(path)


def _is_given_up(error: grpc.aio.AioRpcError) -> bool:
    return error.code() is grpc.StatusCode.CANCELLED or _is_write_lost(error)


def _is_write_lost(error: grpc.aio.AioRpcError) -> bool:
    """Where a server ends a stream while a request leaves for it, grpc.aio may put this in place of the server's
    status (grpc/grpc issue 36066)."""
    return error.code() is grpc.StatusCode.INTERNAL and error.details() == "Internal error from Core"


def _given_up(path: str) -> ServiceError:
    """A server that dies, or a connection that is closed, ends a call by cancelling it; its caller did not."""
    return ServiceError(
        grpc.StatusCode.UNAVAILABLE, "stream_lost", f"{path} was given up by the other side; it may have been done"
    )


def _parse(answer: bytes, method: Method) -> Message:
    try:
        return method.response_class.FromString(answer)
    except DecodeError:
        raise ServiceError(
            grpc.StatusCode.INTERNAL, "internal", f"{method.path} answered what the contract does not know"
        ) from None
