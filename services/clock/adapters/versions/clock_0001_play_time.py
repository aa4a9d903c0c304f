"""Play time, and the outages in which it stood still."""

import sqlalchemy as sa
from alembic import op

revision = "clock_0001"
down_revision = None


def upgrade() -> None:
    """Both tables, and the one row of play time."""
    play_time = op.create_table(
        "clock_play_time",
        sa.Column("shard", sa.SmallInteger, primary_key=True, autoincrement=False),
        sa.Column("epoch", sa.BigInteger, nullable=False),
        sa.Column("play_time_ms", sa.BigInteger, nullable=False),
        sa.Column("given_back_ms", sa.BigInteger, nullable=False),
        sa.Column("last_outage_id", sa.BigInteger, nullable=False),
        sa.Column("saved_at_unix_ms", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "clock_outages",
        sa.Column("shard", sa.SmallInteger, primary_key=True, autoincrement=False),
        sa.Column("outage_id", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("from_unix_ms", sa.BigInteger, nullable=False),
        sa.Column("to_unix_ms", sa.BigInteger, nullable=False),
        sa.Column("cause", sa.String(20), nullable=False),
        sa.Column("given_back_ms", sa.BigInteger, nullable=False),
    )
    op.bulk_insert(
        play_time,
        [
            {
                "shard": 0,
                "epoch": 0,
                "play_time_ms": 0,
                "given_back_ms": 0,
                "last_outage_id": 0,
                "saved_at_unix_ms": 0,
            }
        ],
    )


def downgrade() -> None:
    """Both tables go."""
    op.drop_table("clock_outages")
    op.drop_table("clock_play_time")
