"""Labels of people, the samples that they were asked for, and what they make of findings."""

from biaswatch.shared.store.migrations import make_record_table

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    """Make the three tables."""
    make_record_table("label", "response_id")
    make_record_table("label_sample")
    make_record_table("correction")
