"""What operators hold."""

import sqlalchemy as sa
from alembic import op

revision = "clock_0003"
down_revision = "clock_0002"


def upgrade() -> None:
    """The table of holds."""
    op.create_table(
        "clock_holds",
        sa.Column("hold_id", sa.String(64), primary_key=True),
        sa.Column("shards", sa.String(255), nullable=False),
        sa.Column("reason", sa.String(200), nullable=False),
        sa.Column("begins_at_ms", sa.BigInteger, nullable=False),
        sa.Column("ends_at_ms", sa.BigInteger, nullable=False),
    )


def downgrade() -> None:
    """The table goes."""
    op.drop_table("clock_holds")
