"""What answers are worth besides their gaps."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "assessment",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("tenant", sa.String(96), nullable=False),
        sa.Column("purpose", sa.String(16), nullable=False),
        sa.Column("lane", sa.String(96), nullable=False),
        sa.Column("run_id", sa.String(32)),
        sa.Column("unit_id", sa.Text),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("completion_id", sa.String(96), nullable=False),
        sa.Column("body", sa.Text, nullable=False),
    )
    op.create_index("assessment_run", "assessment", ["run_id"])
    op.create_index("assessment_completion_id", "assessment", ["completion_id"])
