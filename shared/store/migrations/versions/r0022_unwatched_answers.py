"""Answers of live systems that no monitor watches are counted."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    """Make the table: a row for each live system."""
    op.create_table(
        "unwatched_answer",
        sa.Column("tenant", sa.String(96), primary_key=True),
        sa.Column("source", sa.String(96), primary_key=True),
        sa.Column("answers", sa.BigInteger, nullable=False),
        sa.Column("first_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_at", sa.DateTime(timezone=True), nullable=False),
    )
