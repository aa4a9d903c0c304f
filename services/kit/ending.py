"""Ending tasks for sure."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

_AGAIN_S = 0.5


async def end_tasks(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Cancels tasks and returns when all have ended, however they ended.

    Once is not enough: `asyncio.wait_for` of Python 3.11 loses a cancellation that comes together with its result,
    and libraries build on it (a Redis command does).
    """
    all_tasks = tuple(tasks)
    pending = {task for task in all_tasks if not task.done()}
    while pending:
        for task in pending:
            task.cancel()
        _, pending = await asyncio.wait(pending, timeout=_AGAIN_S)
    # Their failures have been dealt with where they happened; nobody is to miss them at exit.
    await asyncio.gather(*all_tasks, return_exceptions=True)
