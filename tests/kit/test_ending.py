"""Tasks end even when they lose a cancellation."""

from __future__ import annotations

import asyncio

import pytest

from services.kit.ending import end_tasks


async def test_a_lost_cancellation_comes_again() -> None:
    losses = 0

    async def stubborn() -> None:
        nonlocal losses
        while True:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                losses += 1
                if losses == 3:
                    raise

    task = asyncio.create_task(stubborn())
    await asyncio.sleep(0)
    await end_tasks([task])
    assert task.cancelled()
    assert losses == 3


async def test_tasks_that_have_ended_are_left_as_they_are() -> None:
    async def fail() -> None:
        raise ValueError("as it should")

    async def give() -> int:
        return 7

    failed, given = asyncio.create_task(fail()), asyncio.create_task(give())
    await asyncio.wait([failed, given])
    await end_tasks([failed, given])
    assert given.result() == 7
    with pytest.raises(ValueError, match="as it should"):
        failed.result()
