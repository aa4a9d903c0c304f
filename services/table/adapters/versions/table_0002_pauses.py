"""Tables of one person against bots can be paused."""

import sqlalchemy as sa
from alembic import op

revision = "table_0002"
down_revision = "table_0001"


def upgrade() -> None:
    """When a pause began, and how long those that are over were."""
    op.add_column("tables", sa.Column("paused_at_ms", sa.BigInteger, nullable=True))
    op.add_column("tables", sa.Column("held_ms", sa.BigInteger, nullable=False, server_default="0"))


def downgrade() -> None:
    """Both go."""
    op.drop_column("tables", "held_ms")
    op.drop_column("tables", "paused_at_ms")
