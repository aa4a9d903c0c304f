"""Runs the methods of a handler: admission, trace, metrics, and one kind of failure. It knows no transport."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any, cast

import grpc
from google.protobuf.message import Message

from services.kit.calls.call import NO_METADATA, Call
from services.kit.calls.contract import Contract, Method
from services.kit.calls.guard import Guard
from services.kit.errors import ServiceError
from services.kit.logs import get_log
from services.kit.telemetry import TRACE_HEADER, Telemetry
from services.kit.validation import validate

# A handler may give a message, or the bytes of one that it has serialised before.
Payload = Message | bytes

# Hears of a call that the contract does not allow: its method, request, call and error.
OnRefused = Callable[[Method, object, Call, ServiceError], Awaitable[None]]

_log = get_log(__name__)
_STACK_PERIOD_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much one server does at a time: unary calls, open streams; and when a refused caller may come back."""

    max_calls: int = 1000
    max_streams: int = 10_000
    retry_after_ms: int = 200


class Gate:
    """Counts what a server is doing, refuses what is too much, and closes it down in order."""

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._streams: dict[asyncio.Task[Any], bool] = {}
        self._no_streams = asyncio.Event()
        self._calls = 0
        self.draining = asyncio.Event()

    @property
    def open_calls(self) -> int:
        return self._calls

    @property
    def open_streams(self) -> int:
        return len(self._streams)

    def enter_call(self) -> None:
        """Counts a unary call in, or refuses it with RESOURCE_EXHAUSTED."""
        if self._calls >= self._limits.max_calls:
            raise self._too_many("calls")
        self._calls += 1

    def leave_call(self) -> None:
        self._calls -= 1

    def enter_stream(self) -> None:
        """Counts the present task in as a stream, or refuses it."""
        if self.draining.is_set():
            raise shutting_down()
        if len(self._streams) >= self._limits.max_streams:
            raise self._too_many("streams")
        self._streams[_task()] = False
        self._no_streams.clear()

    def leave_stream(self) -> bool:
        """Counts the present task out; true if the gate itself had cancelled it."""
        ended_by_gate = self._streams.pop(_task(), False)
        if not self._streams:
            self._no_streams.set()
        return ended_by_gate

    async def close_streams(self, grace_s: float) -> None:
        """Tells the streams that the server stops, and ends those that are still open after the grace."""
        self.draining.set()
        if self._streams:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._no_streams.wait(), grace_s)
        for task in self._streams:
            self._streams[task] = True
            task.cancel()

    def _too_many(self, what: str) -> ServiceError:
        return ServiceError(
            grpc.StatusCode.RESOURCE_EXHAUSTED,
            "overloaded",
            f"the server has too many {what} open",
            retry_after_ms=self._limits.retry_after_ms,
        )


class Dispatcher:
    """The methods of one handler behind a gate. `draw_traces`: calls enter the site here and may begin a trace.
    `guard` turns away whom the contract does not name; without one nobody is asked. `on_refused` is told of such a call
    before its caller is.

    A request outside the limits of its contract does not reach the handler. Where the client streams, the messages
    are the handler's to check (`validate`), for one bad message should not end the stream. `answer_metadata` goes out
    with the end of every call over a network.
    """

    def __init__(
        self,
        contract: Contract,
        handler: object,
        *,
        gate: Gate | None = None,
        guard: Guard | None = None,
        on_refused: OnRefused | None = None,
        telemetry: Telemetry | None = None,
        draw_traces: bool = False,
        answer_metadata: Mapping[str, str] = NO_METADATA,
    ) -> None:
        missing = [name for name in contract.methods if not callable(getattr(handler, name, None))]
        if missing:
            raise TypeError(f"{type(handler).__name__} lacks methods of {contract.name}: {', '.join(missing)}")
        self.contract = contract
        self.gate = gate or Gate()
        self._guard = guard
        self._on_refused = on_refused
        self._handler = handler
        self.telemetry = telemetry or Telemetry.off()
        self.draw_traces = draw_traces
        self.answer_metadata = tuple(answer_metadata.items())
        self.seconds = self.telemetry.meter.create_histogram(
            "magnate_call_seconds", unit="s", description="time from a call's arrival to its end"
        )

    async def unary(self, method: Method, request: object, call: Call) -> Payload:
        """The one answer of a method; the request is a message or, when the client streams, an iterator."""
        self.gate.enter_call()
        try:
            run = cast(Callable[[object, Call], Awaitable[Payload]], getattr(self._handler, method.name))
            with _Observed(self, method, call):
                await self._admit(method, request, call)
                return await run(request, call)
        finally:
            self.gate.leave_call()

    async def stream(self, method: Method, request: object, call: Call) -> AsyncIterator[Payload]:
        """The answers of a method that streams; closing this iterator closes the handler's."""
        self.gate.enter_stream()
        try:
            run = cast(Callable[[object, Call], AsyncIterator[Payload]], getattr(self._handler, method.name))
            with _Observed(self, method, call):
                await self._admit(method, request, call)
                async with aclosing(cast(Any, run(request, call))) as answers:
                    async for answer in answers:
                        yield answer
        except asyncio.CancelledError:
            if self.gate.leave_stream():
                _task().uncancel()
                raise shutting_down() from None
            raise
        finally:
            self.gate.leave_stream()

    async def _admit(self, method: Method, request: object, call: Call) -> None:
        try:
            if self._guard is not None:
                self._guard.admit(method, call)
            if not method.client_streaming:
                validate(cast(Message, request))
        except ServiceError as error:
            if self._on_refused is not None:
                await self._on_refused(method, request, call, error)
            raise


class _Observed:
    """Around one run of a handler: its trace, its time, and every failure turned into a ServiceError."""

    __slots__ = ("_dispatcher", "_method", "_span", "_started")

    def __init__(self, dispatcher: Dispatcher, method: Method, call: Call) -> None:
        self._dispatcher = dispatcher
        self._method = method
        self._span = dispatcher.telemetry.server_span(
            method.path, call.metadata.get(TRACE_HEADER, ""), draw=dispatcher.draw_traces
        )

    def __enter__(self) -> None:
        self._started = time.perf_counter()
        self._span.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, stack: TracebackType | None
    ) -> None:
        try:
            failure = None if error is None else as_service_error(error, self._method.path)
        finally:
            self._span.__exit__(kind, error, stack)
        code = grpc.StatusCode.OK if error is None else (failure.code if failure else grpc.StatusCode.CANCELLED)
        self._dispatcher.seconds.record(
            time.perf_counter() - self._started, {"method": self._method.path, "code": code.name}
        )
        if failure is not None and failure is not error:
            raise failure from None


def as_service_error(error: BaseException, where: str) -> ServiceError | None:
    """The error for the caller; None for what is no failure (a cancel, a closed generator).

    An unknown one is our own mistake: it is logged once, under an incident id that the caller gets too, with the
    stack only the first time in a minute for each place it comes from.
    """
    if isinstance(error, ServiceError):
        return error
    if not isinstance(error, Exception):
        return None
    incident = secrets.token_hex(6)
    if _stacks.is_due(error):
        _log.exception("call_failed", error, method=where, incident=incident)
    else:
        _log.error("call_failed", method=where, incident=incident, error=type(error).__name__)
    return ServiceError(
        grpc.StatusCode.INTERNAL, "internal", f"internal error, incident {incident}", {"incident": incident}
    )


def shutting_down() -> ServiceError:
    """What calls get from a server that is about to stop; another replica will answer at once."""
    return ServiceError(grpc.StatusCode.UNAVAILABLE, "draining", "the server is shutting down", retry_after_ms=100)


class _Stacks:
    """Remembers when the stack of an error was last written, by the place that raised it."""

    def __init__(self) -> None:
        self._last: dict[tuple[type[BaseException], str, int], float] = {}

    def is_due(self, error: BaseException) -> bool:
        last = error.__traceback__
        while last is not None and last.tb_next is not None:
            last = last.tb_next
        place = (last.tb_frame.f_code.co_filename, last.tb_lineno) if last is not None else ("", 0)
        key = (type(error), *place)
        now = time.monotonic()
        if now - self._last.get(key, -_STACK_PERIOD_S) < _STACK_PERIOD_S:
            return False
        self._last[key] = now
        return True


_stacks = _Stacks()


def _task() -> asyncio.Task[Any]:
    task = asyncio.current_task()
    if task is None:
        raise RuntimeError("a stream runs in a task")
    return task
