"""Interpretations that are wanted, and what came of them."""

from biaswatch.shared.store.migrations import make_record_table

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Add the two tables."""
    make_record_table("brief")
    make_record_table("evaluation", "brief_id")
