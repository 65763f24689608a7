"""The tables: one per kind of record for its numbers, and one for all texts."""

import hashlib
from collections.abc import Iterable
from datetime import UTC, datetime

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Dialect,
    Float,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    SmallInteger,
    String,
    Table,
    Text,
    TypeDecorator,
    false,
)

from biaswatch.shared.contracts import ROUTES, Probe

KEYS: dict[str, tuple[str, ...]] = {
    "response": ("probe_id",),
    "features": ("probe_id", "response_id", "extractor", "extractor_version"),
    "completion": ("stage",),
    "diagnosis": ("completion_id",),
    "assessment": ("completion_id",),
    "evaluation": ("brief_id",),
    "monitor": ("name", "monitor_id"),
    "round": ("monitor_id",),
    "round_evidence": ("monitor_id",),
    "description": ("monitor_id",),
    "alarm": ("monitor_id",),
    "label": ("response_id",),
}
"""The columns by which queries find records, besides id, run and unit."""

NEVER_SOUGHT = {("probe", "run_id"), ("response", "probe_id"), ("features", "probe_id")}
"""Columns by which no query looks: the ids of what is planned follow from one another, and every
index is written with every record."""

metadata = MetaData()


def check_zones(moments: Iterable[datetime | None]) -> None:
    """Refuse times without a zone: nobody knows when they were."""
    for moment in moments:
        if moment is not None and moment.tzinfo is None:
            raise ValueError("A time without a zone cannot be stored; pass it in UTC.")


class UtcDateTime(TypeDecorator[datetime]):
    """A time in UTC; SQLite drops the zone, so writes check it and reads restore it."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Refuse a time without a zone, turn any other into UTC."""
        check_zones([value])
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Restore the zone."""
        return value.replace(tzinfo=UTC) if value and value.tzinfo is None else value


def _record_table(kind: str) -> Table:
    return Table(
        kind,
        metadata,
        Column("id", String(32), primary_key=True),
        Column("tenant", String(96), nullable=False),
        Column("purpose", String(16), nullable=False),
        Column("lane", String(96), nullable=False),
        Column("run_id", String(32)),
        Column("unit_id", Text),
        Column("at", UtcDateTime, nullable=False),
        *(Column(key, String(96), nullable=False) for key in KEYS.get(kind, ())),
        Column("body", Text, nullable=False),
        *(
            Index(f"{kind}_{'run' if key == 'run_id' else key}", key)
            for key in ("run_id", *KEYS.get(kind, ()))
            if key.endswith("_id") and (kind, key) not in NEVER_SOUGHT
        ),
    )


RECORDS = {
    route.record.kind: _record_table(route.record.kind)
    for route in ROUTES
    if "recorder" in route.consumers or route.record is Probe  # a probe is stored with its response
}

EXTRACTORS = Table(
    "extractor",
    metadata,
    Column("name", String(96), primary_key=True),
    Column("version", String(96), primary_key=True),
    Column("features", Text, nullable=False),
    Column("seen_at", UtcDateTime, nullable=False),
    Column("instrument", Text, nullable=False, server_default=""),
    Column("kind", String(16), nullable=False, server_default="built in"),
    Column("lag", Integer),
    Column("rate_per_s", Float),
    Column("last_error", Text),
    Column("refused", Text),
)

BASELINES = Table(
    "baseline",
    metadata,
    Column("extractor", String(96), primary_key=True),
    Column("version", String(96), primary_key=True),
    Column("text_hash", String(32), primary_key=True),
    Column("body", Text, nullable=False),
    Column("at", UtcDateTime, nullable=False),
)
"""Measurements of baseline texts, each shared by thousands of probes; no texts."""

CALIBRATIONS = Table(
    "calibration",
    metadata,
    Column("extractor", String(96), primary_key=True),
    Column("version", String(96), primary_key=True),
    Column("body", Text, nullable=False),
    Column("at", UtcDateTime, nullable=False),
)

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
    Column("opened_at", UtcDateTime),
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
    Column("tenant", String(96), nullable=False, server_default="default"),
    Column("run_id", String(32), nullable=False),
    Column("unit_id", Text, nullable=False),
    Column("at", UtcDateTime, nullable=False),
    Column("answer", Text),
    Index("call_run", "run_id"),
    Index("call_unit", "unit_id"),
    Index("call_at", "at"),
)
"""Paid calls; an answer that may be reused is kept for some days."""

BEGUN_CALLS = Table(
    "begun_call",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("run_id", String(32), nullable=False),
    Column("at", UtcDateTime, nullable=False),
    Column("times", Integer, nullable=False),
    Index("begun_call_at", "at"),
)
"""How often each paid call was begun: written before it is made, so that no end escapes it."""

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
"""Targets that refuse every call: their probes wait."""

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
"""What each run has spent, and its budget."""

SCHEDULE = Table(
    "schedule",
    metadata,
    Column("tenant", String(96), primary_key=True, server_default="default"),
    Column("name", String(96), primary_key=True),
    Column("moment_ms", BigInteger, nullable=False),
    Column("monitor_id", String(32), nullable=False),
    Column("monitor", Text, nullable=False),
    Column("next_round", Integer, nullable=False),
    Column("due_at", UtcDateTime, nullable=False),
    Column("run", Text),
    Column("ended", Text),
)
"""The next round of each monitor, when it is due, and the run of the round before."""

ENROLLED_UNITS = Table(
    "entry",
    metadata,
    Column("monitor_id", String(32), primary_key=True),
    Column("epoch", Integer, primary_key=True),
    Column("dimension", Text, primary_key=True),
    Column("unit", String(32), primary_key=True),
    Column("round", Integer, nullable=False),
)
"""The round in which a user, as a digest, entered an epoch's evidence of production traffic."""

AUDIT = Table(
    "audit_entry",
    metadata,
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("at", String(32), nullable=False),
    Column("tenant", String(96)),
    Column("actor", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("action", String(32), nullable=False),
    Column("subject", Text, nullable=False),
    Column("details", Text, nullable=False),
    Column("failure", Text),
    Column("previous", String(64), nullable=False),
    Column("hash", String(64), nullable=False),
    Index("audit_entry_subject", "subject"),
)
"""Who did what; the database itself refuses to change or delete a row."""


UNIT_PARTS = 64
"""Few, so that what is written together lies on few pages; many, so that a purge reads little."""

TEXTS = Table(
    "text",
    metadata,
    Column("record_id", String(32), primary_key=True),
    Column("field", String(96), primary_key=True),
    Column("tenant", String(96), nullable=False, server_default="default"),
    Column("kind", String(32), nullable=False),
    Column("run_id", String(32)),
    Column("unit_id", Text),
    Column("at", UtcDateTime, nullable=False),
    Column("body", Text, nullable=False),
    Column("unit_part", SmallInteger),
    Index("text_run", "run_id"),
    Index("text_unit_part", "unit_part"),
    Index("text_at", "at"),
)
"""Everything that people and models wrote, and nothing else: a purge deletes rows here. A purge of
a unit goes through the texts of one part of all units: an index of units themselves would have each
answer of production written to a page of its own."""

PURGES = Table(
    "purge",
    metadata,
    Column("tenant", String(96), primary_key=True, server_default=""),
    Column("scope", String(16), primary_key=True),
    Column("key", Text, primary_key=True),
    Column("at", UtcDateTime, nullable=False),
)
"""What was purged, of one tenant or, where the tenant is empty, of all: its texts are not stored
again, however late a copy arrives."""


def unit_part_of(unit_id: str | None) -> int | None:
    """Return which part of all units one belongs to; revision 0027 computes the same."""
    if unit_id is None:
        return None
    return hashlib.sha256(unit_id.encode()).digest()[0] % UNIT_PARTS
