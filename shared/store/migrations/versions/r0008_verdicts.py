"""What judges said of pairs of answers."""

from biaswatch.shared.store.migrations import make_record_table

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Add the table."""
    make_record_table("verdict")
