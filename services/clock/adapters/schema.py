"""The clock's own tables. Moments are milliseconds of Unix time of the store (see `databases.now_ms`)."""

from __future__ import annotations

import sqlalchemy as sa

metadata = sa.MetaData()

# A shard is held by nobody while its holder is empty or its lease is over. `saved_at_ms`: everything before was counted
# or given back; 0 for a counter that never ran.
shards = sa.Table(
    "clock_shards",
    metadata,
    sa.Column("shard", sa.SmallInteger, primary_key=True, autoincrement=False),
    sa.Column("holder", sa.String(64), nullable=False),
    sa.Column("epoch", sa.BigInteger, nullable=False),
    sa.Column("lease_until_ms", sa.BigInteger, nullable=False),
    sa.Column("play_time_ms", sa.BigInteger, nullable=False),
    sa.Column("given_back_ms", sa.BigInteger, nullable=False),
    sa.Column("saved_at_ms", sa.BigInteger, nullable=False),
    sa.Column("cause", sa.String(20), nullable=False),
)

replicas = sa.Table(
    "clock_replicas",
    metadata,
    sa.Column("replica", sa.String(64), primary_key=True),
    sa.Column("seen_at_ms", sa.BigInteger, nullable=False),
    sa.Column("joins_at_ms", sa.BigInteger, nullable=False),
)

# `shard` is the first of `shards`, which are written as ranges: `0-31,40`.
outages = sa.Table(
    "clock_outages",
    metadata,
    sa.Column("shard", sa.SmallInteger, primary_key=True, autoincrement=False),
    sa.Column("outage_id", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("from_unix_ms", sa.BigInteger, nullable=False),
    sa.Column("to_unix_ms", sa.BigInteger, nullable=False),
    sa.Column("cause", sa.String(20), nullable=False),
    sa.Column("given_back_ms", sa.BigInteger, nullable=False),
    sa.Column("shards", sa.String(255), nullable=False, server_default="0-63"),
    sa.Index("clock_outages_by_id", sa.text("outage_id DESC"), "shard"),
)

holds = sa.Table(
    "clock_holds",
    metadata,
    sa.Column("hold_id", sa.String(64), primary_key=True),
    sa.Column("shards", sa.String(255), nullable=False),
    sa.Column("reason", sa.String(200), nullable=False),
    sa.Column("begins_at_ms", sa.BigInteger, nullable=False),
    sa.Column("ends_at_ms", sa.BigInteger, nullable=False),
)

# Of the program before, which held all shards by one row.
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
