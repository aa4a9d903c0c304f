"""The tables of the service, alike in SQLite and Postgres. Every key of what belongs to a table begins with its shard.

`games` holds what every command changes, in a narrow row of its own; `tables` and `seats` what changes in the lobby.
`game_log` is the truth: one row for each command. Times are milliseconds of Unix time.
"""

from __future__ import annotations

import sqlalchemy as sa

metadata = sa.MetaData()


def _shard() -> sa.Column[int]:
    return sa.Column("shard", sa.SmallInteger, primary_key=True, autoincrement=False)


def _table_id() -> sa.Column[str]:
    return sa.Column("table_id", sa.String(64), primary_key=True)


def _partial(name: str, *columns: str, where: str) -> sa.Index:
    return sa.Index(name, *columns, postgresql_where=sa.text(where), sqlite_where=sa.text(where))


sessions = sa.Table(
    "sessions",
    metadata,
    _shard(),
    sa.Column("session_id", sa.String(64), primary_key=True),
    sa.Column("name", sa.String(64), nullable=False),
    sa.Column("token_hash", sa.LargeBinary, nullable=False),
    sa.Column("salt", sa.LargeBinary, nullable=False),
    sa.Column("created_at_ms", sa.BigInteger, nullable=False),
    sa.Column("expires_at_ms", sa.BigInteger, nullable=False),
    sa.Index("sessions_by_expiry", "expires_at_ms"),
)

tables = sa.Table(
    "tables",
    metadata,
    _shard(),
    _table_id(),
    sa.Column("status", sa.SmallInteger, nullable=False),
    sa.Column("edition", sa.String(40), nullable=False),
    sa.Column("edition_version", sa.Integer, nullable=False),
    sa.Column("seats_least", sa.SmallInteger, nullable=False),
    sa.Column("seats_most", sa.SmallInteger, nullable=False),
    sa.Column("seatings", sa.String(64), nullable=False),
    sa.Column("overrides", sa.Text, nullable=False),
    sa.Column("capacity", sa.SmallInteger, nullable=False),
    sa.Column("spectators", sa.Boolean, nullable=False),
    sa.Column("unlisted", sa.Boolean, nullable=False),
    sa.Column("host_session_id", sa.String(64), nullable=False),
    sa.Column("host_seated", sa.Boolean, nullable=False),
    sa.Column("server_seed", sa.LargeBinary, nullable=False),
    sa.Column("seed_hash", sa.String(64), nullable=False),
    sa.Column("created_at_ms", sa.BigInteger, nullable=False),
    sa.Column("create_digest", sa.LargeBinary, nullable=False),
    sa.Column("grace_ms", sa.BigInteger, nullable=False),
    # Play time of the shard at which a pause began, and of pauses that are over.
    sa.Column("paused_at_ms", sa.BigInteger, nullable=True),
    sa.Column("held_ms", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("lobby_version", sa.BigInteger, nullable=False),
    sa.Column("published_version", sa.BigInteger, nullable=False),
    sa.Column("is_listed", sa.Boolean, nullable=False),
    sa.Column("changed_at_ms", sa.BigInteger, nullable=False),
    sa.Index(
        "tables_listed",
        "created_at_ms",
        "table_id",
        postgresql_where=sa.text("is_listed"),
        sqlite_where=sa.text("is_listed"),
    ),
    sa.Index(
        "tables_lobby", "created_at_ms", postgresql_where=sa.text("status = 1"), sqlite_where=sa.text("status = 1")
    ),
    sa.Index(
        "tables_unpublished",
        "changed_at_ms",
        postgresql_where=sa.text("lobby_version > published_version"),
        sqlite_where=sa.text("lobby_version > published_version"),
    ),
)

seats = sa.Table(
    "seats",
    metadata,
    _shard(),
    _table_id(),
    sa.Column("seat", sa.SmallInteger, primary_key=True, autoincrement=False),
    sa.Column("name", sa.String(64), nullable=False),
    sa.Column("session_id", sa.String(64), nullable=False),
    sa.Column("bot_level", sa.String(32), nullable=False),
    sa.Column("secret_hash", sa.LargeBinary, nullable=False),
    sa.Column("nonce", sa.String(64), nullable=False),
    sa.Column("joined_at_ms", sa.BigInteger, nullable=False),
    sa.Column("seen_at_ms", sa.BigInteger, nullable=False),
    sa.Column("present", sa.Boolean, nullable=False),
    sa.Index("seats_by_session", "session_id"),
    _partial("seats_present", "seen_at_ms", where="present"),
)

games = sa.Table(
    "games",
    metadata,
    _shard(),
    _table_id(),
    sa.Column("last_seq", sa.BigInteger, nullable=False),
    sa.Column("holders_version", sa.BigInteger, nullable=False),
    # How far the log is known to be on the event stream; it follows in bulk.
    sa.Column("published_seq", sa.BigInteger, nullable=False),
    # Running, or over and not yet wholly published: the rows that the background work looks at.
    sa.Column("is_live", sa.Boolean, nullable=False),
    sa.Column("is_over", sa.Boolean, nullable=False),
    sa.Column("has_bots", sa.Boolean, nullable=False),
    sa.Column("changed_at_ms", sa.BigInteger, nullable=False),
    _partial("games_live", "shard", "table_id", where="is_live"),
    # Room in each page, so that the update of every command stays within it and touches no index.
    postgresql_with={"fillfactor": 70},
)

game_log = sa.Table(
    "game_log",
    metadata,
    _shard(),
    _table_id(),
    sa.Column("last_seq", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("first_seq", sa.BigInteger, nullable=False),
    # Empty for the start of the game, which no command made.
    sa.Column("command_id", sa.String(64), nullable=False),
    sa.Column("digest", sa.LargeBinary, nullable=False),
    sa.Column("play_time_ms", sa.BigInteger, nullable=False),
    sa.Column("update_bytes", sa.LargeBinary, nullable=False),
    sa.Column("secrets", sa.LargeBinary, nullable=False),
    sa.Index("game_log_by_command", "shard", "table_id", "command_id", unique=True),
)

game_snapshots = sa.Table(
    "game_snapshots",
    metadata,
    _shard(),
    _table_id(),
    sa.Column("seq", sa.BigInteger, nullable=False),
    sa.Column("snapshot", sa.LargeBinary, nullable=False),
)

# The log of a game that is over, packed: a part of it in each row. No command of it is in `game_log` any more.
game_archives = sa.Table(
    "game_archives",
    metadata,
    _shard(),
    _table_id(),
    sa.Column("last_seq", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("first_seq", sa.BigInteger, nullable=False),
    sa.Column("packed", sa.LargeBinary, nullable=False),
)

# All tables that have ended, also without a result: lobbies and games that were abandoned.
game_results = sa.Table(
    "game_results",
    metadata,
    _shard(),
    _table_id(),
    sa.Column("result", sa.LargeBinary, nullable=False),
    sa.Column("ended_at_ms", sa.BigInteger, nullable=False),
    sa.Column("archived_at_ms", sa.BigInteger, nullable=True),
    sa.Index("game_results_by_archive", "archived_at_ms", "ended_at_ms"),
)

# Running tables that the site has stopped; what stands still is in `tables`.
table_stops = sa.Table(
    "table_stops",
    metadata,
    _shard(),
    _table_id(),
    sa.Column("why", sa.String(500), nullable=False),
    sa.Column("is_broken", sa.Boolean, nullable=False),
    sa.Column("was_paused", sa.Boolean, nullable=False),
)

# Rows are only added: triggers see to it.
audit_log = sa.Table(
    "audit_log",
    metadata,
    _shard(),
    sa.Column("audit_id", sa.String(64), primary_key=True),
    sa.Column("at_ms", sa.BigInteger, nullable=False),
    sa.Column("who", sa.String(64), nullable=False),
    sa.Column("caller", sa.String(200), nullable=False),
    sa.Column("action", sa.SmallInteger, nullable=False),
    sa.Column("table_id", sa.String(64), nullable=False),
    sa.Column("session_id", sa.String(64), nullable=False),
    sa.Column("seat", sa.SmallInteger, nullable=True),
    sa.Column("reason", sa.String(500), nullable=False),
    sa.Column("outcome", sa.String(64), nullable=False),
    sa.Column("detail", sa.String(500), nullable=False),
    sa.Index("audit_log_by_time", "at_ms", "audit_id"),
    sa.Index("audit_log_by_table", "table_id", "at_ms", "audit_id"),
)

probes = sa.Table(
    "probes",
    metadata,
    _shard(),
    sa.Column("probe_id", sa.String(64), nullable=False),
    sa.Column("at_ms", sa.BigInteger, nullable=False),
)

# One row: the name of the course of events that this store holds. A restored store gets another one.
histories = sa.Table(
    "histories",
    metadata,
    _shard(),
    sa.Column("history_id", sa.String(16), nullable=False),
)
