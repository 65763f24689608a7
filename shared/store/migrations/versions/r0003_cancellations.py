"""Runs can be cancelled, and taken up again."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the table, and the count of openings."""
    op.create_table(
        "cancellation",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("tenant", sa.String(96), nullable=False),
        sa.Column("purpose", sa.String(16), nullable=False),
        sa.Column("lane", sa.String(96), nullable=False),
        sa.Column("run_id", sa.String(32)),
        sa.Column("unit_id", sa.Text),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("body", sa.Text, nullable=False),
    )
    op.create_index("cancellation_run", "cancellation", ["run_id"])
    op.add_column("gather", sa.Column("opening", sa.Integer, nullable=False, server_default="0"))
