"""Outages by their ids, which is how they are listed and forgotten."""

import sqlalchemy as sa
from alembic import op

revision = "clock_0004"
down_revision = "clock_0003"


def upgrade() -> None:
    """The index."""
    op.create_index("clock_outages_by_id", "clock_outages", [sa.text("outage_id DESC"), "shard"])


def downgrade() -> None:
    """The index goes."""
    op.drop_index("clock_outages_by_id")
