"""The clock's own tables. Both begin with the shard, of which 0 stands for all that share this database."""

from __future__ import annotations

import sqlalchemy as sa

metadata = sa.MetaData()

play_time = sa.Table(
    "clock_play_time",
    metadata,
    sa.Column("shard", sa.SmallInteger, primary_key=True, autoincrement=False),
    sa.Column("epoch", sa.BigInteger, nullable=False),
    sa.Column("play_time_ms", sa.BigInteger, nullable=False),
    sa.Column("given_back_ms", sa.BigInteger, nullable=False),
    sa.Column("last_outage_id", sa.BigInteger, nullable=False),
    sa.Column("saved_at_unix_ms", sa.BigInteger, nullable=False),
)

outages = sa.Table(
    "clock_outages",
    metadata,
    sa.Column("shard", sa.SmallInteger, primary_key=True, autoincrement=False),
    sa.Column("outage_id", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("from_unix_ms", sa.BigInteger, nullable=False),
    sa.Column("to_unix_ms", sa.BigInteger, nullable=False),
    sa.Column("cause", sa.String(20), nullable=False),
    sa.Column("given_back_ms", sa.BigInteger, nullable=False),
)
