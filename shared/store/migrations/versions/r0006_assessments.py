"""What answers are worth besides their gaps."""

from biaswatch.shared.store.migrations import make_record_table

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add the table."""
    make_record_table("assessment", "completion_id")
