"""Calls of a service in the same process: no serialising, no sockets, the same behaviour."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing
from types import TracebackType
from typing import Any, cast

import grpc
from google.protobuf.descriptor import ServiceDescriptor

from services.kit.calls.call import NO_METADATA, Call
from services.kit.calls.channel import Channel
from services.kit.calls.contract import Contract, Method
from services.kit.calls.dispatch import Dispatcher, Payload
from services.kit.errors import ServiceError

DEFAULT_TIMEOUT_MS = 5_000


class LocalClient:
    """Has a method for each RPC of the contract, alike in form to RemoteClient's:

    * `await client.Get(request, timeout_ms=..., metadata=..., raw=...)` for one answer,
    * `async with client.Watch(request) as answers: async for answer in answers: ...` for a stream,

    where a client that streams gives an async iterator as `request`. `timeout_ms` bounds the whole call (unary:
    5 s unless said otherwise, 0 for no bound; streams: none unless said). With `raw=True` answers come as
    serialised bytes. A message given to a handler must not be changed afterwards by either side.
    """

    def __init__(
        self, descriptor: ServiceDescriptor, handler: object, *, caller: str = "", timeout_ms: int = DEFAULT_TIMEOUT_MS
    ) -> None:
        """`handler` may also be a Dispatcher: a handler that already stands behind a server's gate and guard.
        `caller` is the name of the service that holds this client; without one it is a stranger."""
        dispatcher = handler if isinstance(handler, Dispatcher) else Dispatcher(Contract.of(descriptor), handler)
        names = frozenset({caller}) if caller else None
        for method in dispatcher.contract.methods.values():
            bind = _stream_caller if method.server_streaming else _unary_caller
            setattr(self, method.name, bind(dispatcher, method, timeout_ms, names))

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"the contract has no method {name}")


def _unary_caller(
    dispatcher: Dispatcher, method: Method, default_ms: int, names: frozenset[str] | None
) -> Callable[..., Any]:
    path, gate, loop_of = method.path, dispatcher.gate, asyncio.get_running_loop

    async def call_unary(
        request: object, *, timeout_ms: int | None = None, metadata: Mapping[str, str] = NO_METADATA, raw: bool = False
    ) -> object:
        bound_ms = default_ms if timeout_ms is None else timeout_ms
        call = Call(method=path, metadata=metadata, names=names, draining=gate.draining)
        if method.client_streaming:
            request = _RequestPipe(cast(AsyncIterator[object], request), gate.draining)
        if not bound_ms:
            return _as_wanted(await dispatcher.unary(method, request, call), method, raw)
        call.deadline_s = loop_of().time() + bound_ms / 1000
        try:
            async with asyncio.timeout_at(call.deadline_s):
                return _as_wanted(await dispatcher.unary(method, request, call), method, raw)
        except TimeoutError:
            raise deadline_exceeded(path) from None
        finally:
            if isinstance(request, _RequestPipe):
                request.stop()

    return call_unary


def _stream_caller(
    dispatcher: Dispatcher, method: Method, _default_ms: int, names: frozenset[str] | None
) -> Callable[..., Any]:
    def call_stream(
        request: object, *, timeout_ms: int | None = None, metadata: Mapping[str, str] = NO_METADATA, raw: bool = False
    ) -> LocalStream:
        call = Call(method=method.path, metadata=metadata, names=names, draining=dispatcher.gate.draining)
        return LocalStream(dispatcher, method, request, call, timeout_ms=timeout_ms, raw=raw)

    return call_stream


class LocalStream:
    """A stream whose handler runs in a task of its own and is at most a few answers ahead of the reader."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        method: Method,
        request: object,
        call: Call,
        *,
        timeout_ms: int | None,
        raw: bool,
    ) -> None:
        self._answers: Channel[Payload] = Channel()
        self._method = method
        self._raw = raw
        if timeout_ms:
            call.deadline_s = asyncio.get_running_loop().time() + timeout_ms / 1000
        self._task = asyncio.create_task(self._run(dispatcher, request, call))

    async def _run(self, dispatcher: Dispatcher, request: object, call: Call) -> None:
        pipe: _RequestPipe | None = None
        if self._method.client_streaming:
            request = pipe = _RequestPipe(cast(AsyncIterator[object], request), call.draining)
        try:
            async with asyncio.timeout_at(call.deadline_s):
                async with aclosing(cast(Any, dispatcher.stream(self._method, request, call))) as answers:
                    async for answer in answers:
                        await self._answers.put(answer)
            self._answers.close()
        except TimeoutError:
            self._answers.close(deadline_exceeded(self._method.path))
        except ServiceError as error:
            self._answers.close(error)
        finally:
            self._answers.close(cancelled(self._method.path))
            if pipe is not None:
                pipe.stop()

    def __aiter__(self) -> LocalStream:
        return self

    async def __anext__(self) -> object:
        return _as_wanted(await self._answers.__anext__(), self._method, self._raw)

    def cancel(self) -> None:
        """Ends the call: the handler is cancelled, the reader gets CANCELLED after what it has not read yet."""
        self._answers.close(cancelled(self._method.path))
        self._task.cancel()

    async def connected(self) -> None:
        """A local call always is."""

    async def __aenter__(self) -> LocalStream:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, stack: TracebackType | None
    ) -> None:
        self.cancel()
        await asyncio.wait([self._task])


class _RequestPipe:
    """The requests of a streaming client for the handler; they end when the server drains."""

    def __init__(self, requests: AsyncIterator[object], draining: asyncio.Event) -> None:
        self._channel: Channel[object] = Channel()
        self._tasks = [
            asyncio.create_task(self._pump(requests)),
            asyncio.create_task(self._end_when(draining)),
        ]

    async def _pump(self, requests: AsyncIterator[object]) -> None:
        try:
            async for request in requests:
                await self._channel.put(request)
            self._channel.close()
        except Exception as error:
            self._channel.close(error)

    async def _end_when(self, draining: asyncio.Event) -> None:
        await draining.wait()
        self._channel.close()

    def stop(self) -> None:
        for task in self._tasks:
            task.cancel()

    def __aiter__(self) -> Channel[object]:
        return self._channel


def _as_wanted(answer: Payload, method: Method, raw: bool) -> object:
    if isinstance(answer, bytes):
        return answer if raw else method.response_class.FromString(answer)
    return answer.SerializeToString() if raw else answer


def deadline_exceeded(path: str) -> ServiceError:
    """What a caller gets whose time is over."""
    return ServiceError(grpc.StatusCode.DEADLINE_EXCEEDED, "deadline_exceeded", f"{path} took too long")


def cancelled(path: str) -> ServiceError:
    """What the reader of a stream gets that was cancelled."""
    return ServiceError(grpc.StatusCode.CANCELLED, "cancelled", f"{path} was cancelled")
