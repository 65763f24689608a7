"""Production traffic: its windows described, and which users entered the evidence."""

import sqlalchemy as sa
from alembic import op

from biaswatch.shared.store.migrations import make_record_table

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Make a table for descriptions of windows, and one for first appearances of units."""
    make_record_table("description", "monitor_id")
    op.create_table(
        "entry",
        sa.Column("monitor_id", sa.String(32), primary_key=True),
        sa.Column("epoch", sa.Integer, primary_key=True),
        sa.Column("dimension", sa.Text, primary_key=True),
        sa.Column("unit", sa.String(32), primary_key=True),
        sa.Column("round", sa.Integer, nullable=False),
    )
