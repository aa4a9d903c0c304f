"""A finished game, exported once for all tests of replaying."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from services.site.demo import DemoOptions, run_demo
from services.site.embedded import Settings

#: a short game of two bots
SEED = 5


@pytest.fixture(scope="session")
def exported_game(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a game of two bots, as the gateway exports it."""
    file = tmp_path_factory.mktemp("exported") / "game.mgl"
    options = DemoOptions(seed=SEED, seats=2, quiet=True, output=file)
    assert asyncio.run(run_demo(Settings.load({}), options, lambda line: None))
    return file
