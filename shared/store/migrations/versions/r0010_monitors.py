"""Monitors: what is wanted of them, what their rounds leave behind, and where each stands."""

import sqlalchemy as sa
from alembic import op

from biaswatch.shared.store.migrations import make_record_table

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
        make_record_table(kind, *keys)
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
