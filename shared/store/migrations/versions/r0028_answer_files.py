"""Answers of live systems may be written to files as they come; each file says which ids it has."""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"


def upgrade() -> None:
    """Files of the archive have none of this: they lie where their run is archived."""
    op.add_column("archive_file", sa.Column("uri", sa.Text))
    op.add_column("archive_file", sa.Column("kind", sa.String(16)))
    op.add_column("archive_file", sa.Column("source", sa.String(96)))
    op.add_column("archive_file", sa.Column("first_id", sa.String(32)))
    op.add_column("archive_file", sa.Column("last_id", sa.String(32)))
    op.create_index("archive_file_ids", "archive_file", ["kind", "last_id"])
