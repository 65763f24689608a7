"""Parts of answers that arrive as separate spans and log events."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    """Make the table; parts lie in it for a minute."""
    op.create_table(
        "answer_part",
        sa.Column("tenant", sa.String(96), primary_key=True),
        sa.Column("source", sa.String(96), primary_key=True),
        sa.Column("key", sa.String(512), primary_key=True),
        sa.Column("part", sa.String(32), primary_key=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("spans", sa.Integer, nullable=False),
        sa.Column("answers", sa.Integer, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
    )
    op.create_index("answer_part_at", "answer_part", ["at"])
