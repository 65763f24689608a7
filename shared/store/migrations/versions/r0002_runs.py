"""What a run needs: suites by hash, the extractors that are running, diagnoses."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Add the tables."""
    op.create_table(
        "suite",
        sa.Column("hash", sa.String(32), primary_key=True),
        sa.Column("name", sa.String(96), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
    )
    op.create_table(
        "extractor",
        sa.Column("name", sa.String(96), primary_key=True),
        sa.Column("version", sa.String(96), primary_key=True),
        sa.Column("features", sa.Text, nullable=False),
        sa.Column("seen_at", MOMENT, nullable=False),
    )
    op.create_table(
        "diagnosis",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("tenant", sa.String(96), nullable=False),
        sa.Column("purpose", sa.String(16), nullable=False),
        sa.Column("lane", sa.String(96), nullable=False),
        sa.Column("run_id", sa.String(32)),
        sa.Column("unit_id", sa.Text),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("completion_id", sa.String(96), nullable=False),
        sa.Column("body", sa.Text, nullable=False),
    )
    op.create_index("diagnosis_run", "diagnosis", ["run_id"])
    op.create_index("diagnosis_completion_id", "diagnosis", ["completion_id"])
