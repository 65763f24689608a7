"""Closings of gathers are told again until the store has what followed from them."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    """Add when a gather was opened, and when the store had what followed from its closing.

    Closings from before were told long ago.
    """
    op.add_column("gather", sa.Column("recorded_at", sa.DateTime(timezone=True)))
    op.add_column("gather", sa.Column("opened_at", sa.DateTime(timezone=True)))
    op.execute("UPDATE gather SET recorded_at = emitted_at")
    op.create_index("gather_told", "gather", ["stage", "recorded_at", "emitted_at"])
