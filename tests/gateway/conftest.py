"""A running gateway for the tests of this folder."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.support.gateways import Site, running_site


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    """A gateway on real ports, before a table service in memory."""
    async with running_site() as running:
        yield running
