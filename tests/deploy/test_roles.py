"""deploy/postgres/roles.sql: who makes the tables, and who only works with their rows."""

from __future__ import annotations

from collections.abc import AsyncIterator

import asyncpg
import pytest
import sqlalchemy as sa

from services.site.migrating import migrate
from services.table.adapters.store import SqlStore as TableStore
from services.table.adapters.store import open_database as open_table_database
from services.table.adapters.system import SystemWall
from services.table.application.audit import AuditEntry
from tests.support.clock_stores import clock_store
from tests.support.cluster import ROOT

ROLES = (ROOT / "deploy" / "postgres" / "roles.sql").read_text(encoding="utf-8")


@pytest.fixture
async def roles(postgres_url: str) -> AsyncIterator[tuple[str, str]]:
    """The URLs of the owner and of the services, in a database that has been migrated by the owner."""
    owner, services = (
        sa.make_url(postgres_url).set(username=name).render_as_string(hide_password=False)
        for name in ("magnate_owner", "magnate")
    )
    admin = await asyncpg.connect(postgres_url)
    try:
        await admin.execute(ROLES)
        await migrate(owner, lambda _: None)
        await admin.execute(ROLES)
        yield owner, services
    finally:
        for name in ("magnate", "magnate_owner"):
            await admin.execute(f"DROP OWNED BY {name}")
            await admin.execute(f"DROP ROLE {name}")
        await admin.close()


async def test_the_services_work_with_rows_only(roles: tuple[str, str]) -> None:
    """Given the role of the services, then both stores start and write, and neither the tables nor what was done can
    be changed with it."""
    _, url = roles
    tables, clock = TableStore(open_table_database(url), SystemWall()), clock_store(url)
    await tables.start()
    await tables.commit_probe(0, "p", 1)
    await tables.record(AuditEntry(audit_id="a", at_unix_ms=1, who="ada", from_="here", action=1))
    assert [entry.who for entry in await tables.list_audit("", None, 10)] == ["ada"]
    assert len((await clock.look((), None)).taken) == 1
    await clock.leave()
    await tables.close()
    await clock.close()
    connection = await asyncpg.connect(url)
    for statement in (
        "CREATE TABLE mine (id int)",
        "ALTER TABLE games ADD COLUMN mine int",
        "DROP TABLE audit_log",
        "TRUNCATE audit_log",
        "UPDATE audit_log SET who = 'nobody'",
        "DELETE FROM audit_log",
        "ALTER TABLE audit_log DISABLE TRIGGER ALL",
        "UPDATE table_version SET version_num = 'x'",
    ):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute(statement)
    await connection.close()
