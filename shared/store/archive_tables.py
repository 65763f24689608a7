"""The tables of the archive: which runs' answers lie elsewhere, and in which files."""

from sqlalchemy import BigInteger, Boolean, Column, Index, Integer, String, Table, Text, false

from biaswatch.shared.store.tables import UtcDateTime, metadata

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
    Column("uri", Text),
    Column("kind", String(16)),
    Column("source", String(96)),
    Column("first_id", String(32)),
    Column("last_id", String(32)),
    Index("archive_file_dataset", "dataset", "tenant"),
    Index("archive_file_ids", "kind", "last_id"),
)
"""Every file, named before it is written: none is left that nobody knows of. Those of the archive
lie where their run is archived. Those with an address of their own hold answers of live systems as
they came: of which kind and system, and from which id to which."""
