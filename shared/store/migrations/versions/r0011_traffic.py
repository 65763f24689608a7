"""Production traffic: its windows described, and which users entered the evidence."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Make a table for descriptions of windows, and one for first appearances of units."""
    op.create_table(
        "description",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("tenant", sa.String(96), nullable=False),
        sa.Column("purpose", sa.String(16), nullable=False),
        sa.Column("lane", sa.String(96), nullable=False),
        sa.Column("run_id", sa.String(32)),
        sa.Column("unit_id", sa.Text),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("monitor_id", sa.String(96), nullable=False),
        sa.Column("body", sa.Text, nullable=False),
    )
    op.create_index("description_run", "description", ["run_id"])
    op.create_index("description_monitor_id", "description", ["monitor_id"])
    op.create_table(
        "entry",
        sa.Column("monitor_id", sa.String(32), primary_key=True),
        sa.Column("epoch", sa.Integer, primary_key=True),
        sa.Column("dimension", sa.Text, primary_key=True),
        sa.Column("unit", sa.String(32), primary_key=True),
        sa.Column("round", sa.Integer, nullable=False),
    )
