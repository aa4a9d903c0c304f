"""A lease and a counter for each shard, the replicas that share them, and which shards an outage concerned.

`clock_play_time` stays for replicas of the program before, until none runs any more: whoever takes the first shard
ends the last of them and goes on with its counter.
"""

import sqlalchemy as sa
from alembic import op

revision = "clock_0002"
down_revision = "clock_0001"

_SHARDS = 64


def upgrade() -> None:
    """64 rows that nobody holds, and all outages so far concerned all shards."""
    shards = op.create_table(
        "clock_shards",
        sa.Column("shard", sa.SmallInteger, primary_key=True, autoincrement=False),
        sa.Column("holder", sa.String(64), nullable=False),
        sa.Column("epoch", sa.BigInteger, nullable=False),
        sa.Column("lease_until_ms", sa.BigInteger, nullable=False),
        sa.Column("play_time_ms", sa.BigInteger, nullable=False),
        sa.Column("given_back_ms", sa.BigInteger, nullable=False),
        sa.Column("saved_at_ms", sa.BigInteger, nullable=False),
        sa.Column("cause", sa.String(20), nullable=False),
    )
    op.create_table(
        "clock_replicas",
        sa.Column("replica", sa.String(64), primary_key=True),
        sa.Column("seen_at_ms", sa.BigInteger, nullable=False),
        sa.Column("joins_at_ms", sa.BigInteger, nullable=False),
    )
    op.add_column("clock_outages", sa.Column("shards", sa.String(255), nullable=False, server_default="0-63"))
    free = {
        "holder": "",
        "epoch": 0,
        "lease_until_ms": 0,
        "play_time_ms": 0,
        "given_back_ms": 0,
        "saved_at_ms": 0,
        "cause": "",
    }
    op.bulk_insert(shards, [{"shard": shard, **free} for shard in range(_SHARDS)])


def downgrade() -> None:
    """The new tables go; the counter of before is as old as they are."""
    op.drop_column("clock_outages", "shards")
    op.drop_table("clock_replicas")
    op.drop_table("clock_shards")
