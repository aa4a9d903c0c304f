"""Finished games are packed away, and the store names its history."""

import secrets

import sqlalchemy as sa
from alembic import op

revision = "table_0003"
down_revision = "table_0002"

_EXPIRED = 4


def upgrade() -> None:
    """Archives, what is archived already, and the one row of the history."""
    op.create_table(
        "game_archives",
        sa.Column("shard", sa.SmallInteger, primary_key=True, autoincrement=False),
        sa.Column("table_id", sa.String(64), primary_key=True),
        sa.Column("last_seq", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("first_seq", sa.BigInteger, nullable=False),
        sa.Column("packed", sa.LargeBinary, nullable=False),
    )
    op.add_column("game_results", sa.Column("archived_at_ms", sa.BigInteger, nullable=True))
    op.create_index("game_results_by_archive", "game_results", ["archived_at_ms", "ended_at_ms"])
    # Lobbies that came to nothing so far have ended too; from now on each is noted when it expires.
    op.execute(
        "INSERT INTO game_results (shard, table_id, result, ended_at_ms) "
        f"SELECT shard, table_id, '', changed_at_ms FROM tables WHERE status = {_EXPIRED}"
    )
    histories = op.create_table(
        "histories",
        sa.Column("shard", sa.SmallInteger, primary_key=True, autoincrement=False),
        sa.Column("history_id", sa.String(16), nullable=False),
    )
    op.bulk_insert(histories, [{"shard": 0, "history_id": secrets.token_hex(8)}])


def downgrade() -> None:
    """What has been archived is lost."""
    op.drop_table("histories")
    op.drop_index("game_results_by_archive", "game_results")
    op.drop_column("game_results", "archived_at_ms")
    op.drop_table("game_archives")
