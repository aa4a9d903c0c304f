"""A whole site on virtual time for one scenario."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests.clock.virtual_time import VirtualLoop
from tests.outages.whole_site import WholeSite

Scenario = Callable[[WholeSite], Awaitable[None]]
Run = Callable[..., None]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Plays a scenario on a site of its own; further arguments are the site's."""

    async def play(scenario: Scenario, **settings: int) -> None:
        site = WholeSite(tmp_path, **settings)
        try:
            await site.start()
            await scenario(site)
        finally:
            await site.close()

    def start(scenario: Scenario, **settings: int) -> None:
        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            runner.run(play(scenario, **settings))

    return start
