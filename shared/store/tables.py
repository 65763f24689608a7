"""Tables of records, of their texts and counts, and of extractors."""

import hashlib
from collections.abc import Iterable
from datetime import UTC, datetime

from sqlalchemy import (
    BigInteger,
    Column,
    DateTime,
    Dialect,
    Float,
    Index,
    Integer,
    MetaData,
    SmallInteger,
    String,
    Table,
    Text,
    TypeDecorator,
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
"""Columns of each kind of record that queries select by, besides id, run and unit."""

WITHOUT_INDEX = {("probe", "run_id"), ("response", "probe_id"), ("features", "probe_id")}
"""Columns that no query selects by: ids of planned records are derived, and indexes cost writes."""

UNIT_PARTS = 64
"""Partitions of units: few, to write texts to few pages; many, so that a purge reads little."""

metadata = MetaData()


def check_zones(times: Iterable[datetime | None]) -> None:
    """Refuse times without a time zone."""
    for time in times:
        if time is not None and time.tzinfo is None:
            raise ValueError("A time without a zone cannot be stored; pass it in UTC.")


class UtcDateTime(TypeDecorator[datetime]):
    """A time in UTC; SQLite drops the zone, so reads restore it."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Convert a time to UTC; refuse one without a zone."""
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
            if key.endswith("_id") and (kind, key) not in WITHOUT_INDEX
        ),
    )


RECORDS = {
    route.record.kind: _record_table(route.record.kind)
    for route in ROUTES
    if "recorder" in route.consumers or route.record is Probe  # a probe is stored with its response
}

TEXTS = Table(
    "text",
    metadata,
    Column("record_id", String(32), primary_key=True),
    Column("field", String(96), primary_key=True),
    Column("tenant", String(96), nullable=False),
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
"""Everything that people and models wrote, apart from numbers, so that a purge deletes rows.

A purge of a unit scans one partition of units. An index of units themselves would write every
production answer to a page of its own.
"""

PURGES = Table(
    "purge",
    metadata,
    Column("tenant", String(96), primary_key=True),
    Column("scope", String(16), primary_key=True),
    Column("key", Text, primary_key=True),
    Column("at", UtcDateTime, nullable=False),
    Index("purge_key", "key"),
)
"""Purges of one tenant, or of all where the tenant is empty; late copies of texts are dropped."""

RECORD_COUNTS = Table(
    "record_count",
    metadata,
    Column("run_id", String(32), primary_key=True),
    Column("kind", String(32), primary_key=True),
    Column("purpose", String(16), primary_key=True),
    Column("lane", String(96), primary_key=True),
    Column("records", BigInteger, nullable=False),
)
"""Number of records of each run, updated in the transaction that writes them."""

EXTRACTORS = Table(
    "extractor",
    metadata,
    Column("name", String(96), primary_key=True),
    Column("version", String(96), primary_key=True),
    Column("features", Text, nullable=False),
    Column("seen_at", UtcDateTime, nullable=False),
    Column("instrument", Text, nullable=False),
    Column("kind", String(16), nullable=False),
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


def unit_part_of(unit_id: str | None) -> int | None:
    """Return the partition of a unit."""
    if unit_id is None:
        return None
    return hashlib.sha256(unit_id.encode()).digest()[0] % UNIT_PARTS
