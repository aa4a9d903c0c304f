"""What a restored store needs: epochs above all that were given out after the backup."""

from __future__ import annotations

import sqlalchemy as sa

from services.clock.adapters.schema import metadata

# More than any clock takes over between a backup and the restore of it.
_STEP = 1_000_000


def leave_behind(connection: sa.Connection) -> None:
    """Raises every epoch, so that readings of after the backup are void, and a clock of then is fenced. What was never
    held stays so."""
    for table in metadata.sorted_tables:
        if "epoch" in table.c:
            connection.execute(sa.update(table).where(table.c.epoch > 0).values(epoch=table.c.epoch + _STEP))
