"""Extractors say more of themselves, and baseline texts are measured once."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add what an extractor says of itself, and the table of measured baselines."""
    for column in (
        sa.Column("instrument", sa.Text, nullable=False, server_default=""),
        sa.Column("kind", sa.String(16), nullable=False, server_default="built in"),
        sa.Column("lag", sa.Integer),
        sa.Column("rate_per_s", sa.Float),
        sa.Column("last_error", sa.Text),
        sa.Column("refused", sa.Text),
    ):
        op.add_column("extractor", column)
    op.create_table(
        "baseline",
        sa.Column("extractor", sa.String(96), primary_key=True),
        sa.Column("version", sa.String(96), primary_key=True),
        sa.Column("text_hash", sa.String(32), primary_key=True),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    )
