"""What is waited for is found by its id alone: an index that two columns share was not used."""

from alembic import op

revision = "0024"
down_revision = "0023"


def upgrade() -> None:
    """Make the index anew; rows stay as they are."""
    op.drop_index("gather_item_id", table_name="gather_item")
    op.create_index("gather_item_id", "gather_item", ["item_id"])
