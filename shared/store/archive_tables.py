"""The tables of the archive: which runs' answers lie elsewhere, and in which files."""

from sqlalchemy import BigInteger, Boolean, Column, Index, Integer, String, Table, Text, false

from shared.store.tables import UtcDateTime, metadata

ARCHIVED_RUNS = Table(
    "archived_run",
    metadata,
    Column("run_id", String(32), primary_key=True),
    Column("tenant", String(96), nullable=False),
    Column("source", String(512), nullable=False),
    Column("uri", Text, nullable=False),
    Column("state", String(16), nullable=False),
    Column("at", UtcDateTime, nullable=False),
    Column("answers", BigInteger, nullable=False, server_default="0"),
    Column("measurements", BigInteger, nullable=False, server_default="0"),
    Index("archived_run_state", "state"),
)
"""Runs whose answers are archived, or on their way there or back."""

ARCHIVE_FILES = Table(
    "archive_file",
    metadata,
    Column("run_id", String(32), primary_key=True),
    Column("path", String(1024), primary_key=True),
    Column("tenant", String(96), nullable=False),
    Column("dataset", String(16), nullable=False),
    Column("day", String(10), nullable=False),
    Column("rows", Integer, nullable=False, server_default="0"),
    Column("digest", String(64), nullable=False, server_default=""),
    Column("verified", Boolean, nullable=False, server_default=false()),
    Column("doomed", Boolean, nullable=False, server_default=false()),
    Column("purged_at", UtcDateTime, nullable=False),
    Index("archive_file_dataset", "dataset", "tenant"),
)
"""Every file of the archive, named before it is written: none is left that nobody knows of."""
