"""Runs can be cancelled, and taken up again."""

import sqlalchemy as sa
from alembic import op

from biaswatch.shared.store.migrations import make_record_table

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the table, and the count of openings."""
    make_record_table("cancellation")
    op.add_column("gather", sa.Column("opening", sa.Integer, nullable=False, server_default="0"))
