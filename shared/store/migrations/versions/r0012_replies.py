"""What targets do: how often a call was begun, and which targets are paused."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """Make a table for begun calls, and one for paused targets."""
    op.create_table(
        "begun_call",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("run_id", sa.String(32), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("times", sa.Integer, nullable=False),
    )
    op.create_index("begun_call_at", "begun_call", ["at"])
    op.create_table(
        "paused_target",
        sa.Column("lane", sa.String(96), primary_key=True),
        sa.Column("target", sa.Text, nullable=False),
        sa.Column("why", sa.Text, nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.Column("refusals", sa.Integer, nullable=False),
        sa.Column("next_try_at", sa.DateTime(timezone=True), nullable=False),
    )
