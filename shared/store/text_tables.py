"""The tables of texts, which are apart from numbers, and of what was purged of them."""

import hashlib

from sqlalchemy import Column, Index, SmallInteger, String, Table, Text

from biaswatch.shared.store.tables import UtcDateTime, metadata

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
