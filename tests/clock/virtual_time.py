"""An event loop whose time passes as fast as its work allows, and moments read from it."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any

from services.clock.domain.play_time import Instant

_FIRST_S = 1_000.0
_WALL_MS = 1_700_000_000_000


class _Selector(selectors.DefaultSelector):
    """Never waits: what it would have waited for has passed."""

    now_s = _FIRST_S

    def select(self, timeout: float | None = None) -> Any:
        if timeout is None:
            raise RuntimeError("nothing will ever happen: all tasks wait for each other")
        self.now_s += max(0.0, timeout)
        return super().select(0)


class VirtualLoop(asyncio.SelectorEventLoop):
    """Starts at second 1,000. Work for threads is done at once, in the loop's own."""

    def __init__(self) -> None:
        self._virtual = _Selector()
        super().__init__(self._virtual)

    def time(self) -> float:
        return self._virtual.now_s

    def run_in_executor(self, executor: Executor | None, func: Callable[..., Any], *args: Any) -> asyncio.Future[Any]:  # type: ignore[override]
        done = self.create_future()
        try:
            done.set_result(func(*args))
        except Exception as error:
            done.set_exception(error)
        return done


class LoopTime:
    """The loop's time; the wall clock can be moved."""

    def __init__(self) -> None:
        self.wall_step_ms = 0

    def now(self) -> Instant:
        now_s = asyncio.get_running_loop().time()
        return Instant(mono_ns=round(now_s * 1e9), unix_ms=_WALL_MS + int(now_s * 1000) + self.wall_step_ms)


def now_ms() -> float:
    """Milliseconds of virtual time since its start."""
    return (asyncio.get_running_loop().time() - _FIRST_S) * 1000
