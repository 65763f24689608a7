"""Paid calls, and what each run has spent."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add both tables."""
    op.create_table(
        "call",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("run_id", sa.String(32), nullable=False),
        sa.Column("unit_id", sa.Text, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("answer", sa.Text),
    )
    op.create_index("call_run", "call", ["run_id"])
    op.create_index("call_unit", "call", ["unit_id"])
    op.create_index("call_at", "call", ["at"])
    op.create_table(
        "spending",
        sa.Column("run_id", sa.String(32), primary_key=True),
        sa.Column("tokens", sa.BigInteger, nullable=False),
        sa.Column("cost", sa.Float(53), nullable=False),
        sa.Column("unknown_tokens", sa.BigInteger, nullable=False),
        sa.Column("unknown_cost", sa.BigInteger, nullable=False),
        sa.Column("most_tokens", sa.BigInteger),
        sa.Column("most_cost", sa.Float(53)),
    )
