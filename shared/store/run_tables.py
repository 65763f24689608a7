"""Tables of suites, of runs in progress, and of paid calls."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    String,
    Table,
    Text,
    false,
)

from biaswatch.shared.store.tables import UtcDateTime, metadata

SUITES = Table(
    "suite",
    metadata,
    Column("hash", String(32), primary_key=True),
    Column("name", String(96), nullable=False),
    Column("at", UtcDateTime, nullable=False),
    Column("body", Text, nullable=False),
    Column("probes", Integer, nullable=False),
    Column("pairs", Integer, nullable=False),
    Column("has_findings", Boolean, nullable=False),
    Column("purged", Boolean, nullable=False),
)
"""Header and probe counts of each suite."""

SUITE_PROBES = Table(
    "suite_probe",
    metadata,
    Column("hash", String(32), primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("unit_id", Text, nullable=False),
    Column("set_name", Text, nullable=False),
    Column("body", Text, nullable=False),
    Index("suite_probe_unit", "unit_id"),
)
"""The probes of a suite in order, so that readers can page through them."""

SUITE_TENANTS = Table(
    "suite_tenant",
    metadata,
    Column("hash", String(32), primary_key=True),
    Column("tenant", String(96), primary_key=True),
)
"""Tenants that uploaded a suite; a suite is stored once and visible to these tenants."""

SUITE_GROUPS = Table(
    "suite_group",
    metadata,
    Column("hash", String(32), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("dimension", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("probes", Integer, nullable=False),
    Column("positions", LargeBinary, nullable=False),
)
"""The groups of a suite and the positions of their probes."""


def _cursors(name: str) -> Table:
    return Table(
        name,
        metadata,
        Column("run_id", String(32), primary_key=True),
        Column("lane", String(96), primary_key=True),
        Column("reached", String(32), nullable=False),
        Column("publication", BigInteger, nullable=False),
        Column("repair", Boolean, nullable=False),
    )


PLANNING_CURSORS = _cursors("planning_cursor")
"""Progress through the probes of a run, by lane; a finished list has no row."""

JUDGING_CURSORS = _cursors("judging_cursor")
"""Progress through the pairs of a closed run and the questions to its judges."""

GATHERS = Table(
    "gather",
    metadata,
    Column("stage", String(96), primary_key=True),
    Column("key", String(96), primary_key=True),
    Column("context", Text, nullable=False),
    Column("deadline", UtcDateTime, nullable=False),
    Column("expected", Integer, nullable=False),
    Column("arrived", Integer, nullable=False),
    Column("late", Integer, nullable=False),
    Column("opening", Integer, nullable=False, server_default="0"),
    Column("closed_by", String(16)),
    Column("closed_at", UtcDateTime),
    Column("emitted_at", UtcDateTime),
    Column("recorded_at", UtcDateTime),
    Column("opened_at", UtcDateTime, nullable=False),
    Index("gather_open", "stage", "closed_at", "deadline"),
    Index("gather_told", "stage", "recorded_at", "emitted_at"),
)

GATHER_ITEMS = Table(
    "gather_item",
    metadata,
    Column("stage", String(96), primary_key=True),
    Column("key", String(96), primary_key=True),
    Column("item_id", String(96), primary_key=True),
    Column("arrived_at", UtcDateTime),
    Column("late", Boolean, nullable=False, server_default=false()),
    ForeignKeyConstraint(["stage", "key"], ["gather.stage", "gather.key"], ondelete="CASCADE"),
    Index("gather_item_id", "item_id"),
)

CALLS = Table(
    "call",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("tenant", String(96), nullable=False),
    Column("run_id", String(32), nullable=False),
    Column("unit_id", Text, nullable=False),
    Column("at", UtcDateTime, nullable=False),
    Column("answer", Text),
    Index("call_run", "run_id"),
    Index("call_unit", "unit_id"),
    Index("call_at", "at"),
)
"""Paid calls; a reusable answer is kept for some days."""

BEGUN_CALLS = Table(
    "begun_call",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("run_id", String(32), nullable=False),
    Column("at", UtcDateTime, nullable=False),
    Column("times", Integer, nullable=False),
    Index("begun_call_at", "at"),
)
"""Attempts per paid call, recorded before the call so that a crash cannot lose one."""

BATCHES = Table(
    "batch",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("run_id", String(32), nullable=False),
    Column("lane", String(96), nullable=False),
    Column("target", Text, nullable=False),
    Column("requests", Integer, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("at", UtcDateTime, nullable=False),
    Column("file_id", Text),
    Column("provider_id", Text),
    Column("done", Integer, nullable=False),
    Column("expires_at", UtcDateTime),
    Column("ended", Boolean, nullable=False),
    Index("batch_run", "run_id"),
    Index("batch_ended", "ended", "at"),
)
"""Batches of calls, written before they are sent: a row without a provider's id is an intention."""

BATCHED_CALLS = Table(
    "batched_call",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("tenant", String(96), nullable=False),
    Column("run_id", String(32), nullable=False),
    Column("unit_id", Text, nullable=False),
    Column("lane", String(96), nullable=False),
    Column("at", UtcDateTime, nullable=False),
    Column("step", Text, nullable=False),
    Column("probe", Text),
    Column("body", Text, nullable=False),
    Column("batch_id", String(32)),
    Column("tries", Integer, nullable=False),
    Column("outcome", Text),
    Index("batched_call_batch", "batch_id"),
    Index("batched_call_run", "run_id"),
    Index("batched_call_unit", "unit_id"),
    Index("batched_call_at", "at"),
)
"""Calls that are answered in batches. Without a batch they wait; the probe is kept until the
outcome was used."""

PAUSED_TARGETS = Table(
    "paused_target",
    metadata,
    Column("lane", String(96), primary_key=True),
    Column("target", Text, nullable=False),
    Column("why", Text, nullable=False),
    Column("since", UtcDateTime, nullable=False),
    Column("refusals", Integer, nullable=False),
    Column("next_try_at", UtcDateTime, nullable=False),
)
"""Targets that refuse every call; their probes wait."""

SPENDING = Table(
    "spending",
    metadata,
    Column("run_id", String(32), primary_key=True),
    Column("tokens", BigInteger, nullable=False),
    Column("cost", Float(53), nullable=False),
    Column("unknown_tokens", BigInteger, nullable=False),
    Column("unknown_cost", BigInteger, nullable=False),
    Column("most_tokens", BigInteger),
    Column("most_cost", Float(53)),
)
"""Spending of each run, and its budget."""
