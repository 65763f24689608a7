"""The tables of suites, of runs that are being planned, and of what is counted by run."""

from sqlalchemy import BigInteger, Boolean, Column, Index, Integer, LargeBinary, String, Table, Text

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
"""The header of each suite, and what is counted of its probes."""

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
"""The probes of a suite in their order, so that nobody has to read all of them at once."""

SUITE_TENANTS = Table(
    "suite_tenant",
    metadata,
    Column("hash", String(32), primary_key=True),
    Column("tenant", String(96), primary_key=True),
)
"""Who has uploaded a suite: the same one is stored once, and seen by those who have it."""

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
"""The groups of a suite, and where the probes about each stand: nobody reads all to find some."""


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
"""How far the list of what a run asks has been gone through; a list at its end has no row."""

JUDGING_CURSORS = _cursors("judging_cursor")
"""The same for the pairs of a closed run and what its judges are asked about them."""

RECORD_COUNTS = Table(
    "record_count",
    metadata,
    Column("run_id", String(32), primary_key=True),
    Column("kind", String(32), primary_key=True),
    Column("purpose", String(16), primary_key=True),
    Column("lane", String(96), primary_key=True),
    Column("records", BigInteger, nullable=False),
)
"""How many records of a run the store has, counted in the transaction that writes them."""

SENT_FORMS = Table(
    "sent_form",
    metadata,
    Column("key", String(64), primary_key=True),
    Column("at", UtcDateTime, nullable=False),
    Column("done", Boolean, nullable=False),
    Index("sent_form_at", "at"),
)
"""Forms of pages that were sent, so that a button that is pressed twice does one thing."""
