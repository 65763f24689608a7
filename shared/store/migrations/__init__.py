"""The store's revisions, in order, and the shape of records' tables in all of them."""

import sqlalchemy as sa
from alembic import op


def make_record_table(kind: str, *keys: str) -> None:
    """Make the table of a kind of record; released revisions call this, so it never changes."""
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
    op.create_index(f"{kind}_run", kind, ["run_id"])
    for key in keys:
        if key.endswith("_id"):
            op.create_index(f"{kind}_{key}", kind, [key])
