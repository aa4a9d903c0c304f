"""Tables that the site has stopped, and the audit log of what operators do."""

import sqlalchemy as sa
from alembic import op

revision = "table_0004"
down_revision = "table_0003"

_KEEPS = "rows of audit_log are only added"


def upgrade() -> None:
    """Both tables; what is in the second can be neither changed nor taken out."""
    op.create_table(
        "table_stops",
        sa.Column("shard", sa.SmallInteger, primary_key=True, autoincrement=False),
        sa.Column("table_id", sa.String(64), primary_key=True),
        sa.Column("why", sa.String(500), nullable=False),
        sa.Column("is_broken", sa.Boolean, nullable=False),
        sa.Column("was_paused", sa.Boolean, nullable=False),
    )
    op.create_table(
        "audit_log",
        sa.Column("shard", sa.SmallInteger, primary_key=True, autoincrement=False),
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
    )
    op.create_index("audit_log_by_time", "audit_log", ["at_ms", "audit_id"])
    op.create_index("audit_log_by_table", "audit_log", ["table_id", "at_ms", "audit_id"])
    if op.get_context().dialect.name == "postgresql":
        op.execute(
            "CREATE FUNCTION audit_log_keeps() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN RAISE EXCEPTION '{_KEEPS}'; END $$"
        )
        op.execute(
            "CREATE TRIGGER audit_log_keeps BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log "
            "FOR EACH STATEMENT EXECUTE FUNCTION audit_log_keeps()"
        )
    else:
        for event in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER audit_log_keeps_{event.lower()} BEFORE {event} ON audit_log "
                f"BEGIN SELECT RAISE(ABORT, '{_KEEPS}'); END"
            )


def downgrade() -> None:
    """Both go, and what was written with them."""
    op.drop_table("audit_log")
    if op.get_context().dialect.name == "postgresql":
        op.execute("DROP FUNCTION audit_log_keeps()")
    op.drop_table("table_stops")
