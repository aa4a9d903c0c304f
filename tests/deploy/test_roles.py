"""deploy/postgres/roles.sql: who makes the tables, and who only works with their rows."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator

import asyncpg
import pytest
import sqlalchemy as sa

from services.site.migrating import migrate
from services.table.adapters.store import SqlStore as TableStore
from services.table.adapters.store import open_database as open_table_database
from services.table.adapters.system import SystemWall
from services.table.application.audit import AuditEntry
from tests.support.backups import run
from tests.support.clock_stores import clock_store
from tests.support.cluster import ROOT

ROLES = (ROOT / "deploy" / "postgres" / "roles.sql").read_text(encoding="utf-8")


@pytest.fixture
async def admin(postgres_url: str) -> AsyncIterator[asyncpg.Connection]:
    """A superuser in a database without roles of ours; they are gone at the end."""
    connection = await asyncpg.connect(postgres_url)
    me = await connection.fetchval("SELECT current_user")
    try:
        yield connection
    finally:
        await connection.execute(f'ALTER DATABASE "{sa.make_url(postgres_url).database}" OWNER TO "{me}"')
        for name in ("magnate", "magnate_owner"):
            await connection.execute(f"DROP OWNED BY {name}")
            await connection.execute(f"DROP ROLE {name}")
        await connection.close()


def urls(postgres_url: str) -> tuple[str, str]:
    """Those of the owner and of the services."""
    owner, services = (
        sa.make_url(postgres_url).set(username=name).render_as_string(hide_password=False)
        for name in ("magnate_owner", "magnate")
    )
    return owner, services


@pytest.fixture
async def roles(postgres_url: str, admin: asyncpg.Connection) -> tuple[str, str]:
    """The URLs of the owner and of the services, in a database that has been migrated by the owner."""
    owner, services = urls(postgres_url)
    await admin.execute(ROLES)
    await migrate(owner, lambda _: None)
    await admin.execute(ROLES)
    return owner, services


async def test_the_services_work_with_rows_only(roles: tuple[str, str]) -> None:
    """Given the role of the services, then both stores start and write, and neither the tables nor what was done can
    be changed with it."""
    await check_that_it_works_with_rows_only(roles[1])


async def check_that_it_works_with_rows_only(url: str) -> None:
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
        "DROP TABLE clock_shards",
        "DROP FUNCTION audit_log_keeps CASCADE",
        "TRUNCATE audit_log",
        "UPDATE audit_log SET who = 'nobody'",
        "DELETE FROM audit_log",
        "ALTER TABLE audit_log DISABLE TRIGGER ALL",
        "UPDATE table_version SET version_num = 'x'",
    ):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute(statement)
    await connection.close()


@pytest.mark.parametrize("of_database", [False, True])
async def test_one_role_becomes_two(postgres_url: str, admin: asyncpg.Connection, *, of_database: bool) -> None:
    """What the only role had made is the owner's: the next revision changes it, and the services no longer can."""
    owner, services = urls(postgres_url)
    await admin.execute("CREATE ROLE magnate LOGIN; GRANT ALL ON SCHEMA public TO magnate")
    if of_database:
        name = sa.make_url(postgres_url).database
        await admin.execute(f'ALTER DATABASE "{name}" OWNER TO magnate; ALTER SCHEMA public OWNER TO magnate')
    await migrate(services, lambda _: None)
    connection = await asyncpg.connect(services)
    await connection.execute("CREATE SEQUENCE alone; CREATE TABLE numbered (id serial, other int UNIQUE)")
    await connection.execute("CREATE VIEW seen AS SELECT id FROM numbered")
    await connection.close()
    await admin.execute(ROLES)
    await admin.execute(ROLES)
    owners = await admin.fetch(
        "SELECT relname AS name, pg_get_userbyid(relowner) AS owner FROM pg_class"
        " WHERE relnamespace = 'public'::regnamespace"
        " UNION SELECT proname, pg_get_userbyid(proowner) FROM pg_proc WHERE pronamespace = 'public'::regnamespace"
    )
    assert {"games", "audit_log_keeps", "clock_shards", "alone", "numbered_id_seq", "seen"} <= {
        row["name"] for row in owners
    }
    assert {row["owner"] for row in owners} == {"magnate_owner"}
    await go_back_a_revision(admin)
    await migrate(owner, lambda _: None)
    await check_that_it_works_with_rows_only(services)


async def go_back_a_revision(admin: asyncpg.Connection) -> None:
    """The clock's tables are as those of a release before."""
    await admin.execute("UPDATE clock_alembic_version SET version_num = 'clock_0003'; DROP INDEX clock_outages_by_id")


async def test_a_restored_store_is_brought_up_to_date_by_its_owner(
    roles: tuple[str, str], admin: asyncpg.Connection
) -> None:
    """Given a backup of a release before, then `magnate restored` takes the role that may change its tables."""
    owner, services = roles
    newest = await admin.fetchval("SELECT version_num FROM clock_alembic_version")
    await go_back_a_revision(admin)
    told = run(
        [sys.executable, "-m", "services.site", "restored"],
        MAGNATE_DATABASE_URL=services,
        MAGNATE_MIGRATE_DATABASE_URL=owner,
    )
    history_id = await admin.fetchval("SELECT history_id FROM histories")
    assert told == f"restored: the store holds history {history_id} from now on\n"
    assert await admin.fetchval("SELECT version_num FROM clock_alembic_version") == newest
    await check_that_it_works_with_rows_only(services)
