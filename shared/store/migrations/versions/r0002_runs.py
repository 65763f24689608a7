"""What a run needs: suites by hash, the extractors that are running, diagnoses."""

import sqlalchemy as sa
from alembic import op

from biaswatch.shared.store.migrations import make_record_table

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
    make_record_table("diagnosis", "completion_id")
