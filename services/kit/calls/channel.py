"""A bounded pipe between two tasks, the base of streams inside one process."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Generic, TypeVar

T = TypeVar("T")


class Channel(Generic[T]):
    """One task puts, another iterates; `put` waits while `size` items are unread.

    `close` may come from anywhere, at any time: the reader still gets what is in the pipe, then the end or the
    error; later items are dropped. Only one task may read and one may put.
    """

    __slots__ = ("_closed", "_error", "_items", "_reader", "_size", "_writer")

    def __init__(self, size: int = 16) -> None:
        self._size = size
        self._items: deque[T] = deque()
        self._closed = False
        self._error: BaseException | None = None
        self._reader: asyncio.Future[None] | None = None
        self._writer: asyncio.Future[None] | None = None

    async def put(self, item: T) -> None:
        """Adds an item, waiting for room; does nothing once the channel is closed."""
        while len(self._items) >= self._size and not self._closed:
            self._writer = asyncio.get_running_loop().create_future()
            try:
                await self._writer
            finally:
                self._writer = None
        if not self._closed:
            self._items.append(item)
            _wake(self._reader)

    def offer(self, item: T) -> bool:
        """Adds an item without waiting; false when there was no room, or the channel is closed."""
        if self._closed or len(self._items) >= self._size:
            return False
        self._items.append(item)
        _wake(self._reader)
        return True

    def close(self, error: BaseException | None = None) -> None:
        """Ends the channel, with this error for the reader if there is one; only the first close counts."""
        if not self._closed:
            self._closed = True
            self._error = error
            _wake(self._reader)
            _wake(self._writer)

    def __aiter__(self) -> Channel[T]:
        return self

    async def __anext__(self) -> T:
        while not self._items:
            if self._closed:
                error, self._error = self._error, None
                if error is not None:
                    raise error
                raise StopAsyncIteration
            self._reader = asyncio.get_running_loop().create_future()
            try:
                await self._reader
            finally:
                self._reader = None
        item = self._items.popleft()
        _wake(self._writer)
        return item


def _wake(waiter: asyncio.Future[None] | None) -> None:
    if waiter is not None and not waiter.done():
        waiter.set_result(None)
