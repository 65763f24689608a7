"""The ground floor: records, texts, purges, gathers."""

import sqlalchemy as sa
from alembic import op

from biaswatch.shared.store.migrations import make_record_table

revision = "0001"
down_revision = None

MOMENT = sa.DateTime(timezone=True)
KEYS: dict[str, tuple[str, ...]] = {
    "run": (),
    "probe": (),
    "response": ("probe_id",),
    "features": ("probe_id", "response_id", "extractor", "extractor_version"),
    "completion": ("stage",),
}


def upgrade() -> None:
    """Make the first tables."""
    for kind, keys in KEYS.items():
        make_record_table(kind, *keys)
    _texts()
    _gathers()


def _texts() -> None:
    op.create_table(
        "text",
        sa.Column("record_id", sa.String(32), primary_key=True),
        sa.Column("field", sa.String(96), primary_key=True),
        sa.Column("kind", sa.String(32), nullable=False),
        sa.Column("run_id", sa.String(32)),
        sa.Column("unit_id", sa.Text),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
    )
    for name in ("run", "unit"):
        op.create_index(f"text_{name}", "text", [f"{name}_id"])
    op.create_index("text_at", "text", ["at"])
    op.create_table(
        "purge",
        sa.Column("scope", sa.String(16), primary_key=True),
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("at", MOMENT, nullable=False),
    )


def _gathers() -> None:
    op.create_table(
        "gather",
        sa.Column("stage", sa.String(96), primary_key=True),
        sa.Column("key", sa.String(96), primary_key=True),
        sa.Column("context", sa.Text, nullable=False),
        sa.Column("deadline", MOMENT, nullable=False),
        sa.Column("expected", sa.Integer, nullable=False),
        sa.Column("arrived", sa.Integer, nullable=False),
        sa.Column("late", sa.Integer, nullable=False),
        sa.Column("closed_by", sa.String(16)),
        sa.Column("closed_at", MOMENT),
        sa.Column("emitted_at", MOMENT),
    )
    op.create_index("gather_open", "gather", ["stage", "closed_at", "deadline"])
    op.create_table(
        "gather_item",
        sa.Column("stage", sa.String(96), primary_key=True),
        sa.Column("key", sa.String(96), primary_key=True),
        sa.Column("item_id", sa.String(96), primary_key=True),
        sa.Column("arrived_at", MOMENT),
        sa.ForeignKeyConstraint(
            ["stage", "key"], ["gather.stage", "gather.key"], ondelete="CASCADE"
        ),
    )
    op.create_index("gather_item_id", "gather_item", ["stage", "item_id"])
