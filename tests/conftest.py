"""Fixtures for all tests. Servers start only for tests that ask for them, once in a session."""

from __future__ import annotations

import os

os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
# Its handlers run in each child between fork and exec, where one was seen to end by a segmentation fault.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")

from collections.abc import Iterator

import pytest

from tests.support.amount import is_full
from tests.support.servers import PostgresServer, RedisServer


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves the long tests to `make test-full`."""
    if is_full():
        return
    long_ones = [item for item in items if item.get_closest_marker("full")]
    config.hook.pytest_deselected(items=long_ones)
    items[:] = [item for item in items if item not in long_ones]


@pytest.fixture(scope="session")
def redis_server() -> Iterator[RedisServer]:
    """A private Redis; a test that stops it has to start it again."""
    server = RedisServer()
    server.start()
    yield server
    server.remove()


@pytest.fixture
def redis_url(redis_server: RedisServer) -> str:
    """The URL of the private Redis, empty."""
    redis_server.empty()
    return redis_server.url


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A private Postgres."""
    server = PostgresServer()
    yield server
    server.remove()


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> Iterator[str]:
    """The URL of an empty database for this test."""
    url = postgres_server.new_database()
    yield url
    postgres_server.drop_database(url)
