"""Many calls over one long-lived stream: those that wait travel in one message, each has its own answer.

The calling side is `BatchCaller`; the answering side of the stream is `serve_batches`; `LocalCaller` is the twin for
the same process. All are generic over the contract: they are given how items get into a request and out of a
response.
"""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from typing import Any, Generic, Protocol, TypeVar, cast

import grpc

from services.kit.calls import Stream, as_service_error
from services.kit.calls.channel import Channel
from services.kit.errors import ServiceError
from services.kit.logs import get_log

Item = TypeVar("Item")
Result = TypeVar("Result")
Request = TypeVar("Request")
Response = TypeVar("Response")
ItemIn_contra = TypeVar("ItemIn_contra", contravariant=True)
ResultOut_co = TypeVar("ResultOut_co", covariant=True)

_log = get_log(__name__)
_SWEEP_S = 0.05
_FIRST_BACKOFF_S = 0.05
# Neither commands nor the probes among them get through before a stream stands again, and who waits for it cannot play.
_LAST_BACKOFF_S = 0.25

# Keeps what is in work alive after its client has gone.
_in_flight: set[asyncio.Task[None]] = set()


class Caller(Protocol[ItemIn_contra, ResultOut_co]):
    """Asks one thing of a service and awaits its answer; ServiceError when it fails."""

    async def call(self, item: ItemIn_contra, *, timeout_ms: int | None = None) -> ResultOut_co: ...

    async def start(self) -> None: ...

    async def close(self) -> None: ...


class LocalCaller(Generic[Item, Result]):
    """The caller of a handler in the same process."""

    def __init__(self, handle: Callable[[Item], Awaitable[Result]], *, timeout_ms: int = 5_000) -> None:
        self._handle = handle
        self._timeout_ms = timeout_ms

    async def call(self, item: Item, *, timeout_ms: int | None = None) -> Result:
        """The answer to one item, after at most this time (0: without a bound)."""
        bound_ms = self._timeout_ms if timeout_ms is None else timeout_ms
        try:
            if not bound_ms:
                return await self._handle(item)
            async with asyncio.timeout(bound_ms / 1000):
                return await self._handle(item)
        except TimeoutError:
            raise _too_late() from None
        except Exception as error:
            raise as_service_error(error, "local batch") or error from None

    async def start(self) -> None:
        """Nothing has to be opened."""

    async def close(self) -> None:
        """Nothing has to be closed."""


class _Waiting(Generic[Item, Result]):
    __slots__ = ("answer", "deadline_s", "item")

    def __init__(self, item: Item, answer: asyncio.Future[Result], deadline_s: float) -> None:
        self.item = item
        self.answer = answer
        self.deadline_s = deadline_s


class BatchCaller(Generic[Item, Result]):
    """The caller over a stream.

    `open_stream` starts the bidirectional call with the requests it is given; `wrap` makes one request of items with
    their ids; `unwrap` gives the results of a response, each under the id of its item. When the stream breaks, what was
    not answered fails with UNAVAILABLE (reason stream_lost: it may have been done, if it was sent), and so does what is
    asked before the next one stands: the caller knows whether, and where, asking again is safe.
    """

    def __init__(
        self,
        *,
        open_stream: Callable[[AsyncIterator[Any]], Stream],
        wrap: Callable[[Sequence[tuple[int, Item]]], Any],
        unwrap: Callable[[Any], Iterable[tuple[int, Result | ServiceError]]],
        name: str = "batches",
        max_batch: int = 64,
        max_waiting: int = 10_000,
        timeout_ms: int = 5_000,
    ) -> None:
        self._open_stream = open_stream
        self._wrap = wrap
        self._unwrap = unwrap
        self._name = name
        self._max_batch = max_batch
        self._max_waiting = max_waiting
        self._timeout_ms = timeout_ms
        self._next_id = 1
        self._queue: deque[int] = deque()
        self._waiting: dict[int, _Waiting[Item, Result]] = {}
        self._wake = asyncio.Event()
        self._is_broken = False
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Begins to keep a stream open; returns at once, calls wait for the first one."""
        if not self._tasks:
            self._tasks = [asyncio.create_task(self._keep_open()), asyncio.create_task(self._sweep())]

    async def close(self) -> None:
        """Ends the stream; what still waits fails with UNAVAILABLE."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks = []
        self._fail(list(self._waiting), _lost(self._name, "the caller was closed"))

    async def finish(self) -> None:
        """Closes once everything that waits has its answer, or has waited as long as it may."""
        while self._waiting:
            await asyncio.wait([item.answer for item in self._waiting.values()])
        await self.close()

    async def call(self, item: Item, *, timeout_ms: int | None = None) -> Result:
        """The answer to one item. DEADLINE_EXCEEDED after `timeout_ms`, within a twentieth of a second."""
        if len(self._waiting) >= self._max_waiting:
            raise ServiceError(
                grpc.StatusCode.RESOURCE_EXHAUSTED, "overloaded", f"{self._name}: too many wait", retry_after_ms=200
            )
        if self._is_broken:
            raise _lost(self._name, "there is no stream now")
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Result] = loop.create_future()
        bound_ms = self._timeout_ms if timeout_ms is None else timeout_ms
        number = self._next_id
        self._next_id += 1
        self._waiting[number] = _Waiting(item, answer, loop.time() + bound_ms / 1000)
        self._queue.append(number)
        self._wake.set()
        try:
            return await answer
        finally:
            self._waiting.pop(number, None)

    async def _keep_open(self) -> None:
        backoff_s = _FIRST_BACKOFF_S
        while True:
            began = asyncio.get_running_loop().time()
            try:
                await self._run_stream()
                reason = "the stream ended"
            except ServiceError as error:
                reason = str(error)
            except Exception as error:
                reason = str(as_service_error(error, self._name))
            self._is_broken = True
            self._fail(list(self._waiting), _lost(self._name, reason))
            if asyncio.get_running_loop().time() - began > _LAST_BACKOFF_S:
                backoff_s = _FIRST_BACKOFF_S
            _log.warning("stream_lost", stream=self._name, reason=reason, retry_ms=int(backoff_s * 1000))
            await asyncio.sleep(backoff_s * random.uniform(0.5, 1.0))
            backoff_s = min(backoff_s * 2, _LAST_BACKOFF_S)

    async def _run_stream(self) -> None:
        # Nothing leaves the queue before the stream stands, nor for a stream that has ended.
        stands = asyncio.Event()
        ended = asyncio.Event()
        try:
            async with self._open_stream(self._requests(stands, ended)) as responses:
                await responses.connected()
                self._is_broken = False
                stands.set()
                async for response in responses:
                    for number, result in self._unwrap(response):
                        self._settle(number, result)
        finally:
            ended.set()
            stands.set()
            self._wake.set()

    async def _requests(self, stands: asyncio.Event, ended: asyncio.Event) -> AsyncIterator[Any]:
        await stands.wait()
        while not ended.is_set():
            if not self._queue:
                self._wake.clear()
                await self._wake.wait()
                continue
            batch: list[tuple[int, Item]] = []
            while self._queue and len(batch) < self._max_batch:
                number = self._queue.popleft()
                waiting = self._waiting.get(number)
                if waiting is not None and not waiting.answer.done():
                    batch.append((number, waiting.item))
            if batch:
                yield self._wrap(batch)

    def _settle(self, number: int, result: Result | ServiceError) -> None:
        waiting = self._waiting.get(number)
        if waiting is None or waiting.answer.done():
            return
        if isinstance(result, ServiceError):
            waiting.answer.set_exception(result)
        else:
            waiting.answer.set_result(result)

    def _fail(self, numbers: Iterable[int], error: ServiceError) -> None:
        for number in numbers:
            self._settle(number, error)

    async def _sweep(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(_SWEEP_S)
            now = loop.time()
            self._fail([number for number, item in self._waiting.items() if item.deadline_s <= now], _too_late())


async def serve_batches(
    requests: AsyncIterator[Request],
    *,
    items: Callable[[Request], Iterable[tuple[int, Item]]],
    handle: Callable[[Item], Awaitable[Result]],
    wrap: Callable[[Sequence[tuple[int, Result | ServiceError]]], Response],
    max_in_flight: int = 256,
) -> AsyncIterator[Response]:
    """The answering side: handles the items of each request side by side and answers each as soon as it is done.

    Answers that are ready together leave in one response. When the server drains, what has been begun is finished and
    answered first; when the client goes, it is finished all the same.
    """
    answers = _Answers(handle, max_in_flight)
    reader = asyncio.create_task(answers.read(requests, items))
    try:
        async for _ in answers.ready:
            finished = answers.take()
            if finished:
                yield wrap(finished)
        finished = answers.take()
        if finished:
            yield wrap(finished)
    finally:
        reader.cancel()


class _Answers(Generic[Item, Result]):
    """The items in work and the answers that wait to leave."""

    def __init__(self, handle: Callable[[Item], Awaitable[Result]], max_in_flight: int) -> None:
        self._handle = handle
        self._room = asyncio.Semaphore(max_in_flight)
        self._tasks: set[asyncio.Task[None]] = set()
        self._done: list[tuple[int, Result | ServiceError]] = []
        # One slot: it says that something is done; how much does not matter.
        self.ready: Channel[None] = Channel(size=1)

    async def read(
        self, requests: AsyncIterator[Request], items: Callable[[Request], Iterable[tuple[int, Item]]]
    ) -> None:
        """Begins the items of all requests; closes `ready` when the last is done."""
        try:
            async for request in requests:
                for number, item in items(request):
                    await self._room.acquire()
                    task = asyncio.create_task(self._answer(number, item))
                    for keeper in (self._tasks, _in_flight):
                        keeper.add(task)
                        task.add_done_callback(keeper.discard)
            while self._tasks:
                await asyncio.wait(set(self._tasks))
            self.ready.close()
        except Exception as error:
            self.ready.close(error)

    async def _answer(self, number: int, item: Item) -> None:
        try:
            result: Result | ServiceError = await self._handle(item)
        except Exception as error:
            result = as_service_error(error, "batch") or cast(ServiceError, error)
        finally:
            self._room.release()
        self._done.append((number, result))
        if len(self._done) == 1:
            self.ready.offer(None)

    def take(self) -> list[tuple[int, Result | ServiceError]]:
        """What is done and not yet taken."""
        taken, self._done = self._done, []
        return taken


def _too_late() -> ServiceError:
    return ServiceError(grpc.StatusCode.DEADLINE_EXCEEDED, "deadline_exceeded", "no answer came in time")


def _lost(name: str, reason: str) -> ServiceError:
    return ServiceError(grpc.StatusCode.UNAVAILABLE, "stream_lost", f"{name}: {reason}; the request may have been done")
