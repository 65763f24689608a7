"""What extractors make of the names of groups by themselves."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "calibration",
        sa.Column("extractor", sa.String(96), primary_key=True),
        sa.Column("version", sa.String(96), primary_key=True),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    )
