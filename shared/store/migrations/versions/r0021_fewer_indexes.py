"""Indexes that no query uses are dropped: each costs a page for every record that is written."""

from alembic import op

revision = "0021"
down_revision = "0020"

UNUSED = {"probe_run": "probe", "response_probe_id": "response", "features_probe_id": "features"}


def upgrade() -> None:
    """Drop them; rows and ids stay as they are, and processes of the version before still work."""
    for name, table in UNUSED.items():
        op.drop_index(name, table_name=table)
