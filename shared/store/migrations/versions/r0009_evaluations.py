"""Interpretations that are wanted, and what came of them."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Add the two tables."""
    for kind, keys in (("brief", ()), ("evaluation", ("brief_id",))):
        op.create_table(
            kind,
            sa.Column("id", sa.String(32), primary_key=True),
            sa.Column("tenant", sa.String(96), nullable=False),
            sa.Column("purpose", sa.String(16), nullable=False),
            sa.Column("lane", sa.String(96), nullable=False),
            sa.Column("run_id", sa.String(32)),
            sa.Column("unit_id", sa.Text),
            sa.Column("at", sa.DateTime(timezone=True), nullable=False),
            *(sa.Column(key, sa.String(96), nullable=False) for key in keys),
            sa.Column("body", sa.Text, nullable=False),
        )
        for key in ("run_id", *keys):
            name = "run" if key == "run_id" else key
            op.create_index(f"{kind}_{name}", kind, [key])
