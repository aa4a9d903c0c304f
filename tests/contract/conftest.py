"""The site in both modes, each started once for all tests of this folder; every test makes tables of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from tests.support.servers import PostgresServer
from tests.support.site_clients import Visitors
from tests.support.sites import LiveSite, distributed_site, embedded_site


@pytest.fixture(scope="package", params=["embedded", "distributed"])
def site(request: pytest.FixtureRequest) -> Iterator[LiveSite]:
    """All services in one process, or each in its own over Postgres and Redis."""
    if request.param == "embedded":
        with embedded_site() as running:
            yield running
        return
    postgres: PostgresServer = request.getfixturevalue("postgres_server")
    with distributed_site(postgres) as running:
        yield running


@pytest.fixture
async def visitors(site: LiveSite) -> AsyncIterator[Visitors]:
    """Clients of the site; afterwards every process of it still serves."""
    visitors = Visitors(site)
    yield visitors
    await visitors.close()
    await site.alive()
