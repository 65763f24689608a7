"""Files of texts say which units they may hold."""

import sqlalchemy as sa
from alembic import op

revision = "1003"
down_revision = "1002"


def upgrade() -> None:
    """Add the filter of units; files from before it are read at every purge."""
    op.add_column("archive_file", sa.Column("units", sa.LargeBinary))
