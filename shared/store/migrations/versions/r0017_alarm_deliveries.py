"""What became of each alarm on its way to each channel, and which channels there are."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    """Make the tables; alarms from before were posted, or are dead letters."""
    op.create_table(
        "alarm_delivery",
        sa.Column("alarm_id", sa.String(32), primary_key=True),
        sa.Column("channel", sa.String(128), primary_key=True),
        sa.Column("tenant", sa.String(96), nullable=False),
        sa.Column("topic", sa.Text, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("over", sa.Boolean, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("next_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("why", sa.Text),
    )
    op.create_index("alarm_delivery_due", "alarm_delivery", ["state", "channel", "next_at"])
    op.create_table(
        "channel",
        sa.Column("name", sa.String(96), primary_key=True),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("trouble", sa.Text),
    )
