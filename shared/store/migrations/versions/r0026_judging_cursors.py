"""How far the pairs of a run have been put to its judges."""

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "judging_cursor",
        sa.Column("run_id", sa.String(32), primary_key=True),
        sa.Column("lane", sa.String(96), primary_key=True),
        sa.Column("reached", sa.String(32), nullable=False),
        sa.Column("publication", sa.BigInteger, nullable=False),
        sa.Column("repair", sa.Boolean, nullable=False),
    )
