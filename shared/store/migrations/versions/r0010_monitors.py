"""Monitors: what is wanted of them, what their rounds leave behind, and where each stands."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"

KEYS = {
    "monitor": ("name", "monitor_id"),
    "round": ("monitor_id",),
    "increment": ("monitor_id",),
    "evidence": ("monitor_id",),
    "alarm": ("monitor_id",),
}


def upgrade() -> None:
    """Make a table for each record of monitors, and the schedule."""
    for kind, keys in KEYS.items():
        op.create_table(
            kind,
            sa.Column("id", sa.String(32), primary_key=True),
            sa.Column("tenant", sa.String(96), nullable=False),
            sa.Column("purpose", sa.String(16), nullable=False),
            sa.Column("lane", sa.String(96), nullable=False),
            sa.Column("run_id", sa.String(32)),
            sa.Column("unit_id", sa.Text),
            sa.Column("at", sa.DateTime(timezone=True), nullable=False),
            *(sa.Column(key, sa.String(96), nullable=False) for key in keys),
            sa.Column("body", sa.Text, nullable=False),
        )
        op.create_index(f"{kind}_run", kind, ["run_id"])
        op.create_index(f"{kind}_monitor_id", kind, ["monitor_id"])
    op.create_table(
        "schedule",
        sa.Column("name", sa.String(96), primary_key=True),
        sa.Column("moment_ms", sa.BigInteger, nullable=False),
        sa.Column("monitor_id", sa.String(32), nullable=False),
        sa.Column("monitor", sa.Text, nullable=False),
        sa.Column("next_round", sa.Integer, nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("run", sa.Text),
        sa.Column("ended", sa.Text),
    )
