"""Accounts of production answers: what was taken in for which window, and what became of it."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"

ACCOUNTS = (
    *("evidence", "described", "unmeasured", "without_text", "without_group"),
    *("waiting", "late", "duplicate", "refused"),
)


def upgrade() -> None:
    """Make the tables of windows and answers, and mark what came late to a gather.

    Windows that were read before have no accounts; answers that wait at the moment of the upgrade
    are found among the responses when their window is read.
    """
    op.create_table(
        "traffic_window",
        sa.Column("run_id", sa.String(32), primary_key=True),
        sa.Column("monitor_id", sa.String(32), nullable=False),
        sa.Column("begins", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ends", sa.DateTime(timezone=True), nullable=False),
        sa.Column("fixed_at", sa.DateTime(timezone=True)),
        *(sa.Column(name, sa.BigInteger, nullable=False, server_default="0") for name in ACCOUNTS),
    )
    op.create_index("traffic_window_monitor", "traffic_window", ["monitor_id", "begins"])
    op.create_table(
        "taken_answer",
        sa.Column("run_id", sa.String(32), primary_key=True),
        sa.Column("answer_id", sa.String(32), primary_key=True),
        sa.Column("sending", sa.String(40), nullable=False),
        sa.Column("late", sa.Boolean, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "other_sending",
        sa.Column("run_id", sa.String(32), primary_key=True),
        sa.Column("answer_id", sa.String(32), primary_key=True),
        sa.Column("sending", sa.String(40), primary_key=True),
        sqlite_with_rowid=False,
    )
    late = sa.Column("late", sa.Boolean, nullable=False, server_default=sa.false())
    op.add_column("gather_item", late)
