"""`magnate restored`: a store that comes from a backup begins another history, before anything uses it."""

from __future__ import annotations

from collections.abc import Callable

from services.clock.adapters import migrations as clock_migrations
from services.clock.adapters.databases import open_database as open_clock_database
from services.clock.adapters.epochs import leave_behind
from services.kit.errors import ServiceError
from services.kit.migrations import BusyError, upgrade
from services.site.errors import CommandError
from services.table.adapters import sql_histories
from services.table.adapters.store import open_database as open_table_database


async def begin_history(url: str, say: Callable[[str], None]) -> None:
    """Brings the tables up to date, names the new history, and raises the clock's epochs. Raises CommandError."""
    tables, clock = open_table_database(url), open_clock_database(url)
    try:
        await tables.start()
        await upgrade(clock.run, versions=clock_migrations.VERSIONS, version_table=clock_migrations.VERSION_TABLE)
        await clock.run(leave_behind)
        history_id = await tables.write(sql_histories.begin)
    except ServiceError as error:
        raise CommandError(error.message, status=1) from None
    except BusyError as busy:
        raise CommandError(f"{busy}; stop all services first", status=1) from None
    finally:
        await clock.close()
        await tables.close()
    say(f"restored: the store holds history {history_id} from now on")
