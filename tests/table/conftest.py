"""Tables over each of the stores."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.site_of_tables import Tables, open_tables


@pytest.fixture(params=["sqlite", "postgres"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty store: each test runs on both kinds."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/tables.db"
    return str(request.getfixturevalue("postgres_url"))


@pytest.fixture
async def tables(store_url: str) -> AsyncIterator[Tables]:
    """One replica with the real rules."""
    opened = await open_tables(store_url)
    yield opened
    await opened.close()
