"""An event loop on virtual time, whose tasks belong to processes that can be frozen, suspended and killed.

Nothing real is waited for: when no task can go on, time jumps to the next timer. Whatever runs in the context of a
process is put aside while the process is frozen and dropped once it is killed, without a goodbye: no `finally` runs.
"""

from __future__ import annotations

import asyncio
import contextvars
import heapq
from asyncio import base_events, events
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any, TypeVar

T = TypeVar("T")

FIRST_S = 1_000.0
_WALL_MS = 1_700_000_000_000
_SHORTEST_S = 1e-9
_LAST_TRIES = 10
_LAST_S = 5.0


class Process:
    """One process of the simulated site: its clocks, and whether its tasks run.

    `lag_s`: how far its monotonic clock is behind that of the world, for a suspended machine's stands still;
    `wall_step_ms`: how far its wall clock is off.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.lag_s = 0.0
        self.wall_step_ms = 0
        self.is_frozen = False
        self.is_dead = False
        self.parked: list[Handle] = []
        self.context = contextvars.Context()
        self.context.run(CURRENT.set, self)

    @property
    def runs(self) -> bool:
        return not (self.is_frozen or self.is_dead)


CURRENT: contextvars.ContextVar[Process | None] = contextvars.ContextVar("process", default=None)


class Handle:
    """What is to be called, and by which process. Does what asyncio's handles do, at half the cost: a schedule has some
    20,000 of them."""

    __slots__ = ("args", "callback", "context", "is_cancelled", "loop", "process")

    def __init__(
        self,
        loop: VirtualLoop,
        callback: Callable[..., object],
        args: Sequence[Any],
        context: contextvars.Context | None,
    ) -> None:
        self.loop = loop
        self.callback = callback
        self.args = args
        self.context = contextvars.copy_context() if context is None else context
        self.process: Process | None = self.context.get(CURRENT)
        self.is_cancelled = False

    def cancel(self) -> None:
        """It is passed over when its turn comes."""
        self.is_cancelled = True

    def run(self) -> None:
        """Calls it."""
        try:
            self.context.run(self.callback, *self.args)
        except (SystemExit, KeyboardInterrupt):
            raise
        except BaseException as error:
            self.loop.call_exception_handler({"message": f"{self.callback!r} failed", "exception": error})


class VirtualLoop(base_events.BaseEventLoop):
    """Starts at second 1,000. `now_s` is the world's time, `time()` that of the process that asks."""

    def __init__(self) -> None:
        super().__init__()
        self.now_s = FIRST_S
        self.failures: list[str] = []
        self.trace: list[str] = []
        self._ready: deque[Handle] = deque()
        # By the world's time at which they are due, and the order in which they came.
        self._scheduled: list[tuple[float, int, Handle]] = []
        self._stopping = False
        self._count = 0
        self._graves: list[Handle] = []
        self._mourned: list[set[asyncio.Task[Any]]] = []
        self.set_exception_handler(self._failed)

    def note(self, text: str) -> None:
        """A line of the trace, under the world's time."""
        self.trace.append(f"{self.now_s - FIRST_S:9.3f}  {text}")

    # ---- time -------------------------------------------------------------------------------------------------

    def time(self) -> float:
        process = CURRENT.get()
        return self.now_s if process is None else self.now_s - process.lag_s

    def unix_ms(self) -> int:
        """The wall clock of the process that asks."""
        process = CURRENT.get()
        return _WALL_MS + int(self.now_s * 1000) + (0 if process is None else process.wall_step_ms)

    def call_soon(  # type: ignore[override]
        self, callback: Callable[..., object], *args: Any, context: contextvars.Context | None = None
    ) -> Handle:
        handle = Handle(self, callback, args, context)
        self._ready.append(handle)
        return handle

    call_soon_threadsafe = call_soon  # type: ignore[assignment]

    def call_later(  # type: ignore[override]
        self, delay: float, callback: Callable[..., object], *args: Any, context: contextvars.Context | None = None
    ) -> Handle:
        return self._schedule(self.now_s + delay, Handle(self, callback, args, context))

    def call_at(  # type: ignore[override]
        self, when: float, callback: Callable[..., object], *args: Any, context: contextvars.Context | None = None
    ) -> Handle:
        process = CURRENT.get()
        due_s = when if process is None else when + process.lag_s
        return self._schedule(due_s, Handle(self, callback, args, context))

    def _schedule(self, due_s: float, handle: Handle) -> Handle:
        self._count += 1
        # A timer that is due at once still comes after what is ready now.
        heapq.heappush(self._scheduled, (max(due_s, self.now_s + _SHORTEST_S), self._count, handle))
        return handle

    # ---- processes --------------------------------------------------------------------------------------------

    def spawn(self, process: Process | None, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """A task of a process, or of the world."""
        context = NOBODY if process is None else process.context
        return self.create_task(work, context=context.copy())

    def freeze(self, process: Process) -> None:
        """Stops all tasks of a process where they are; its clocks go on."""
        process.is_frozen = True

    def thaw(self, process: Process, *, slept_s: float = 0.0) -> None:
        """Lets it go on. `slept_s`: its machine was suspended so long, and its timers with it."""
        process.is_frozen = False
        if slept_s:
            process.lag_s += slept_s
            self._scheduled[:] = [
                (due_s + slept_s if handle.process is process else due_s, number, handle)
                for due_s, number, handle in self._scheduled
            ]
            heapq.heapify(self._scheduled)
        self._ready.extend(process.parked)
        process.parked.clear()

    def kill(self, process: Process) -> None:
        """Nothing of the process ever runs again."""
        process.is_dead = True
        # What a killed task would do in its `finally` when it is collected must not happen either.
        self._mourned.append(asyncio.all_tasks(self))
        self._graves.extend(process.parked)
        process.parked.clear()

    def finish(self, processes: Iterable[Process]) -> None:
        """The end of the world: everything that still waits anywhere is cancelled, so that nothing is left behind."""
        for process in processes:
            process.is_dead = process.is_frozen = False
            self._graves.extend(process.parked)
            process.parked.clear()
        self._ready.extend(self._graves)
        self.run_until_complete(self._cancel_all())
        self._graves.clear()
        self._mourned.clear()
        self.close()

    async def _cancel_all(self) -> None:
        for _ in range(_LAST_TRIES):
            others = asyncio.all_tasks(self) - {asyncio.current_task()}
            if not others:
                return
            for task in others:
                task.cancel()
            await asyncio.wait(others, timeout=_LAST_S)

    # ---- running ----------------------------------------------------------------------------------------------

    def _run_once(self) -> None:
        """Not once but until it is to stop: what asyncio does between two rounds is nothing here."""
        ready, scheduled = self._ready, self._scheduled
        while True:
            if not ready and not self._stopping:
                self._jump()
            while scheduled and scheduled[0][0] <= self.now_s:
                ready.append(heapq.heappop(scheduled)[2])
            for _ in range(len(ready)):
                handle = ready.popleft()
                process = handle.process
                if handle.is_cancelled:
                    continue
                if process is None or not (process.is_frozen or process.is_dead):
                    handle.run()
                elif process.is_frozen:
                    process.parked.append(handle)
                else:
                    self._graves.append(handle)
            if self._stopping:
                return

    def _jump(self) -> None:
        """To the time of the next timer."""
        scheduled = self._scheduled
        while scheduled and scheduled[0][2].is_cancelled:
            heapq.heappop(scheduled)
        if not scheduled:
            raise RuntimeError("nothing will ever happen: all tasks wait for each other")
        self.now_s = max(self.now_s, scheduled[0][0])

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> Any:  # type: ignore[override]
        raise RuntimeError("a simulation has no threads")

    def _process_events(self, event_list: object) -> None:
        """There are none."""

    def _write_to_self(self) -> None:
        """Nobody sleeps."""

    def _failed(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        self.failures.append(f"{context.get('message')}: {error!r}")


# The context of what belongs to no process: the network, the store's server, the people.
NOBODY = contextvars.Context()


def world_loop() -> VirtualLoop:
    """The loop that runs now."""
    loop = events.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    return loop
