"""The archive: runs whose answers lie in files elsewhere, and these files."""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"


def upgrade() -> None:
    """Make the two tables."""
    moment = sa.DateTime(timezone=True)
    op.create_table(
        "archived_run",
        sa.Column("run_id", sa.String(32), primary_key=True),
        sa.Column("tenant", sa.String(96), nullable=False),
        sa.Column("source", sa.String(512), nullable=False),
        sa.Column("uri", sa.Text, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("at", moment, nullable=False),
        sa.Column("answers", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("measurements", sa.BigInteger, nullable=False, server_default="0"),
    )
    op.create_index("archived_run_state", "archived_run", ["state"])
    op.create_table(
        "archive_file",
        sa.Column("run_id", sa.String(32), primary_key=True),
        sa.Column("path", sa.String(1024), primary_key=True),
        sa.Column("tenant", sa.String(96), nullable=False),
        sa.Column("dataset", sa.String(16), nullable=False),
        sa.Column("day", sa.String(10), nullable=False),
        sa.Column("rows", sa.Integer, nullable=False, server_default="0"),
        sa.Column("digest", sa.String(64), nullable=False, server_default=""),
        sa.Column("verified", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("doomed", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("purged_at", moment, nullable=False),
    )
    op.create_index("archive_file_dataset", "archive_file", ["dataset", "tenant"])
