"""Scenarios of the clock on virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from tests.clock.small_site import SmallSite
from tests.clock.virtual_time import VirtualLoop

Run = Callable[[Callable[[SmallSite], Awaitable[None]]], None]


@pytest.fixture
def run() -> Run:
    """Plays a scenario in a loop of its own."""

    async def play(scenario: Callable[[SmallSite], Awaitable[None]]) -> None:
        site = SmallSite()
        try:
            await scenario(site)
        finally:
            await site.close()

    def start(scenario: Callable[[SmallSite], Awaitable[None]]) -> None:
        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            runner.run(play(scenario))

    return start
