"""Work that stands for all who ask for it at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

T = TypeVar("T")


class Rounds(Generic[T]):
    """Does `work` for all that wait in one go, with what the last of them brought; at most `most` times at once.

    A round begins after everybody came whom it stands for. However long the work hangs, what waits is done in one round
    when it goes on again, and nobody else has to wait for it.
    """

    def __init__(self, work: Callable[[T], Awaitable[None]], *, most: int) -> None:
        self._work = work
        self._free = most
        self._waiting: list[tuple[T, asyncio.Future[None]]] = []
        # Only so that they are not lost: one is done a moment after its place is free.
        self._tasks: set[asyncio.Task[None]] = set()

    async def join(self, item: T) -> None:
        """Returns when a round is done that began after this call; raises what the work raised."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, done))
        if self._free:
            self._free -= 1
            task = asyncio.create_task(self._go_round())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        await done

    async def _go_round(self) -> None:
        try:
            await self._work_off()
        finally:
            self._free += 1

    async def _work_off(self) -> None:
        while self._waiting:
            waiting, self._waiting = self._waiting, []
            try:
                await self._work(waiting[-1][0])
            except Exception as error:
                _settle(waiting, error)
            except BaseException:
                for _, done in waiting:
                    done.cancel()
                raise
            else:
                _settle(waiting, None)


def _settle(waiting: Sequence[tuple[object, asyncio.Future[None]]], failure: Exception | None) -> None:
    for _, done in waiting:
        if done.done():
            # Who waited has gone.
            continue
        if failure is None:
            done.set_result(None)
        else:
            done.set_exception(failure)
