"""Sessions, tables, seats, games with log, snapshots and results, and the probe's row."""

import sqlalchemy as sa
from alembic import op

revision = "table_0001"
down_revision = None


def _key() -> tuple[sa.Column[int], sa.Column[str]]:
    return (
        sa.Column("shard", sa.SmallInteger, primary_key=True, autoincrement=False),
        sa.Column("table_id", sa.String(64), primary_key=True),
    )


def _partial(name: str, table: str, columns: list[str], where: str) -> None:
    op.create_index(name, table, columns, postgresql_where=sa.text(where), sqlite_where=sa.text(where))


def upgrade() -> None:
    """All tables of the service."""
    _sessions()
    _tables()
    _seats()
    _games()
    _log()
    probes = op.create_table(
        "probes",
        sa.Column("shard", sa.SmallInteger, primary_key=True, autoincrement=False),
        sa.Column("probe_id", sa.String(64), nullable=False),
        sa.Column("at_ms", sa.BigInteger, nullable=False),
    )
    op.bulk_insert(probes, [{"shard": shard, "probe_id": "", "at_ms": 0} for shard in range(64)])


def _sessions() -> None:
    op.create_table(
        "sessions",
        sa.Column("shard", sa.SmallInteger, primary_key=True, autoincrement=False),
        sa.Column("session_id", sa.String(64), primary_key=True),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("token_hash", sa.LargeBinary, nullable=False),
        sa.Column("salt", sa.LargeBinary, nullable=False),
        sa.Column("created_at_ms", sa.BigInteger, nullable=False),
        sa.Column("expires_at_ms", sa.BigInteger, nullable=False),
    )
    op.create_index("sessions_by_expiry", "sessions", ["expires_at_ms"])


def _tables() -> None:
    op.create_table(
        "tables",
        *_key(),
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
        sa.Column("lobby_version", sa.BigInteger, nullable=False),
        sa.Column("published_version", sa.BigInteger, nullable=False),
        sa.Column("is_listed", sa.Boolean, nullable=False),
        sa.Column("changed_at_ms", sa.BigInteger, nullable=False),
    )
    _partial("tables_listed", "tables", ["created_at_ms", "table_id"], "is_listed")
    _partial("tables_lobby", "tables", ["created_at_ms"], "status = 1")
    _partial("tables_unpublished", "tables", ["changed_at_ms"], "lobby_version > published_version")


def _seats() -> None:
    op.create_table(
        "seats",
        *_key(),
        sa.Column("seat", sa.SmallInteger, primary_key=True, autoincrement=False),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("session_id", sa.String(64), nullable=False),
        sa.Column("bot_level", sa.String(32), nullable=False),
        sa.Column("secret_hash", sa.LargeBinary, nullable=False),
        sa.Column("nonce", sa.String(64), nullable=False),
        sa.Column("joined_at_ms", sa.BigInteger, nullable=False),
        sa.Column("seen_at_ms", sa.BigInteger, nullable=False),
        sa.Column("present", sa.Boolean, nullable=False),
    )
    op.create_index("seats_by_session", "seats", ["session_id"])
    _partial("seats_present", "seats", ["seen_at_ms"], "present")


def _games() -> None:
    op.create_table(
        "games",
        *_key(),
        sa.Column("last_seq", sa.BigInteger, nullable=False),
        sa.Column("holders_version", sa.BigInteger, nullable=False),
        sa.Column("published_seq", sa.BigInteger, nullable=False),
        sa.Column("is_live", sa.Boolean, nullable=False),
        sa.Column("is_over", sa.Boolean, nullable=False),
        sa.Column("has_bots", sa.Boolean, nullable=False),
        sa.Column("changed_at_ms", sa.BigInteger, nullable=False),
        postgresql_with={"fillfactor": 70},
    )
    _partial("games_live", "games", ["shard", "table_id"], "is_live")


def _log() -> None:
    op.create_table(
        "game_log",
        *_key(),
        sa.Column("last_seq", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("first_seq", sa.BigInteger, nullable=False),
        sa.Column("command_id", sa.String(64), nullable=False),
        sa.Column("digest", sa.LargeBinary, nullable=False),
        sa.Column("play_time_ms", sa.BigInteger, nullable=False),
        sa.Column("update_bytes", sa.LargeBinary, nullable=False),
        sa.Column("secrets", sa.LargeBinary, nullable=False),
    )
    op.create_index("game_log_by_command", "game_log", ["shard", "table_id", "command_id"], unique=True)
    op.create_table(
        "game_snapshots",
        *_key(),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("snapshot", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "game_results",
        *_key(),
        sa.Column("result", sa.LargeBinary, nullable=False),
        sa.Column("ended_at_ms", sa.BigInteger, nullable=False),
    )


def downgrade() -> None:
    """All of them go."""
    for name in (
        "probes",
        "game_results",
        "game_snapshots",
        "game_log",
        "games",
        "seats",
        "tables",
        "sessions",
    ):
        op.drop_table(name)
