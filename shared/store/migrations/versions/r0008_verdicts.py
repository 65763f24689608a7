"""What judges said of pairs of answers."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "verdict",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("tenant", sa.String(96), nullable=False),
        sa.Column("purpose", sa.String(16), nullable=False),
        sa.Column("lane", sa.String(96), nullable=False),
        sa.Column("run_id", sa.String(32)),
        sa.Column("unit_id", sa.Text),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("body", sa.Text, nullable=False),
    )
    op.create_index("verdict_run", "verdict", ["run_id"])
