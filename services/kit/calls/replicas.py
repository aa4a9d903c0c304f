"""Following every replica of a service: one stream from each, opened again whenever it breaks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from typing import Any, Generic, Protocol, TypeVar

import grpc
from google.protobuf.descriptor import ServiceDescriptor
from grpc_health.v1 import health_pb2

from services.kit.calls.addresses import Address, parse_addresses, resolve
from services.kit.calls.call import NO_METADATA
from services.kit.calls.dispatch import as_service_error
from services.kit.calls.pool import Pool
from services.kit.calls.remote import RemoteClient, open_channel
from services.kit.calls.stream import Stream
from services.kit.calls.tls import TlsFiles
from services.kit.errors import ServiceError
from services.kit.logs import get_log
from services.kit.telemetry import Telemetry

_log = get_log(__name__)
_HEALTH: Any = health_pb2.DESCRIPTOR.services_by_name["Health"]
_LOOK_S = 2.0
_FIRST_BACKOFF_S = 0.05
_LAST_BACKOFF_S = 1.0

Client = TypeVar("Client")
Client_co = TypeVar("Client_co", covariant=True)


class Replicas(Protocol[Client_co]):
    """The replicas of a service."""

    async def find(self) -> Collection[str]:
        """The names of those that can be found now."""
        ...

    def client(self, name: str) -> Client_co:
        """A client of the one that was found under this name."""
        ...

    async def forget(self, name: str) -> None:
        """Its client is no longer used."""
        ...


class OneReplica(Generic[Client]):
    """A service in the same process, which may be built later than who follows it."""

    def __init__(self, find: Callable[[], Client]) -> None:
        self._find = find

    async def find(self) -> Collection[str]:
        return ("here",)

    def client(self, name: str) -> Client:
        return self._find()

    async def forget(self, name: str) -> None:
        """Nothing is kept."""


class RemoteReplicas:
    """The replicas behind an address setting, each over a channel of its own; names are resolved anew each time."""

    def __init__(
        self,
        descriptor: ServiceDescriptor,
        addresses: str,
        *,
        connect: Callable[[Address], grpc.aio.Channel],
        telemetry: Telemetry | None = None,
        shows: Mapping[str, str] = NO_METADATA,
    ) -> None:
        """`shows` is metadata of every call. Raises SettingsError when `addresses` are none."""
        self._descriptor = descriptor
        self._addresses = parse_addresses(addresses)
        self._connect = connect
        self._telemetry = telemetry
        self._shows = shows
        self._found: dict[str, Address] = {}
        self._channels: dict[str, grpc.aio.Channel] = {}

    async def find(self) -> Collection[str]:
        self._found = {str(address): address for address in await resolve(self._addresses)}
        return self._found

    def client(self, name: str) -> Any:
        channel = self._channels[name] = self._connect(self._found[name])
        return RemoteClient(self._descriptor, channel, telemetry=self._telemetry, shows=self._shows)

    def serving(self, name: str) -> Stream:
        """What the health service of a replica with a client says from now on: true or false."""
        stream = RemoteClient(_HEALTH, self._channels[name]).Watch(health_pb2.HealthCheckRequest())
        return _Serving(stream)

    async def forget(self, name: str) -> None:
        channel = self._channels.pop(name, None)
        if channel is not None:
            await channel.close()


def open_pool(
    descriptor: ServiceDescriptor,
    addresses: str,
    *,
    service: str,
    tls: TlsFiles | None,
    attempt_ms: int,
    telemetry: Telemetry,
    shows: Mapping[str, str] = NO_METADATA,
) -> Pool:
    """The replicas behind an address setting, to be called as one; `service` is the name of their certificates."""
    replicas = RemoteReplicas(
        descriptor,
        addresses,
        connect=lambda address: open_channel(str(address), tls=tls, service=service),
        telemetry=telemetry,
        shows=shows,
    )
    return Pool(replicas, what=service, attempt_ms=attempt_ms)


class _Serving:
    """The answers of a health service, as true or false."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream

    def __aiter__(self) -> _Serving:
        return self

    async def __anext__(self) -> bool:
        answer = await self._stream.__anext__()
        return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)

    def cancel(self) -> None:
        self._stream.cancel()

    async def connected(self) -> None:
        await self._stream.connected()

    async def __aenter__(self) -> _Serving:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._stream.cancel()


class Following(Generic[Client]):
    """Hears every replica of a service, through its absences.

    `take` gets the name of a replica and each message of its stream. A replica that is not found any more is heard
    until its stream breaks: one that is not ready has still something to say.
    """

    def __init__(
        self,
        replicas: Replicas[Client],
        *,
        open_stream: Callable[[Client], Stream],
        take: Callable[[str, Any], None],
        what: str,
        longest_pause_s: float = _LAST_BACKOFF_S,
    ) -> None:
        """`what` is followed, for the logs; a replica that does not answer is tried again after this pause at most."""
        self._replicas = replicas
        self._open_stream = open_stream
        self._take = take
        self._what = what
        self._longest_pause_s = longest_pause_s
        self._found: Collection[str] = ()
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def run(self) -> None:
        """Follows for ever; for one background task."""
        try:
            while True:
                self._found = await self._replicas.find()
                for name in self._found:
                    if name not in self._tasks:
                        self._tasks[name] = asyncio.create_task(self._follow(name))
                await asyncio.sleep(_LOOK_S)
        finally:
            tasks = list(self._tasks.values())
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _follow(self, name: str) -> None:
        try:
            await self._hear(name, self._replicas.client(name))
        finally:
            del self._tasks[name]
            await self._replicas.forget(name)

    async def _hear(self, name: str, client: Client) -> None:
        backoff_s = _FIRST_BACKOFF_S
        while name in self._found:
            try:
                async with self._open_stream(client) as messages:
                    async for message in messages:
                        self._take(name, message)
                        backoff_s = _FIRST_BACKOFF_S
                reason = "the stream ended"
            except ServiceError as error:
                reason = str(error)
            except Exception as error:
                reason = str(as_service_error(error, self._what))
            _log.warning("replica_lost", what=self._what, replica=name, reason=reason)
            await asyncio.sleep(backoff_s)
            backoff_s = min(backoff_s * 2, self._longest_pause_s)
