"""The clock's store as one replica has it."""

from __future__ import annotations

from services.clock.adapters.databases import open_database
from services.clock.adapters.store import SqlStore
from services.clock.application.ports import SystemTime, Terms


def clock_store(url: str, *, replica: str = "one") -> SqlStore:
    """Over a database that is opened by its first call."""
    return SqlStore(open_database(url), replica=replica, terms=Terms(lease_ms=3_000, join_ms=0), timepiece=SystemTime())
