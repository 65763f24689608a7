"""Tables of monitors, searches, production traffic, alarms, the archive and the audit trail."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Index,
    Integer,
    LargeBinary,
    String,
    Table,
    Text,
    false,
)

from biaswatch.shared.contracts import ACCOUNTS
from biaswatch.shared.store.tables import UtcDateTime, metadata

SCHEDULE = Table(
    "schedule",
    metadata,
    Column("tenant", String(96), primary_key=True),
    Column("name", String(96), primary_key=True),
    Column("moment_ms", BigInteger, nullable=False),
    Column("monitor_id", String(32), nullable=False),
    Column("monitor", Text, nullable=False),
    Column("next_round", Integer, nullable=False),
    Column("due_at", UtcDateTime, nullable=False),
    Column("run", Text),
    Column("ended", Text),
)
"""The next round of each monitor, when it is due, and the run of the previous round."""

SEARCHES = Table(
    "search",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("tenant", String(96), nullable=False),
    Column("at", UtcDateTime, nullable=False),
    Column("space", String(96), nullable=False),
    Column("target", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("calls", Integer, nullable=False),
    Column("asked", Integer, nullable=False),
    Column("missing", Integer, nullable=False),
    Column("state", String(16), nullable=False),
    Column("why", Text),
    Column("next_round", Integer, nullable=False),
    Column("run", Text),
    Column("planned_calls", Integer),
    Index("search_state", "state"),
)
"""Searches: the budget, the next round, and the run of a round under way with its budget."""

SEARCH_ROUNDS = Table(
    "search_round",
    metadata,
    Column("search_id", String(32), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("body", Text, nullable=False),
)
"""Measured answers of closed rounds, in order; nothing else is evidence of a search."""

ENROLLED_UNITS = Table(
    "entry",
    metadata,
    Column("monitor_id", String(32), primary_key=True),
    Column("epoch", Integer, primary_key=True),
    Column("dimension", Text, primary_key=True),
    Column("unit", String(32), primary_key=True),
    Column("round", Integer, nullable=False),
)
"""The first round of each user, as a digest, in an epoch's evidence of production traffic."""

TRAFFIC_WINDOWS = Table(
    "traffic_window",
    metadata,
    Column("run_id", String(32), primary_key=True),
    Column("monitor_id", String(32), nullable=False),
    Column("begins", UtcDateTime, nullable=False),
    Column("ends", UtcDateTime, nullable=False),
    Column("fixed_at", UtcDateTime),
    *(Column(name, BigInteger, nullable=False, server_default="0") for name in ACCOUNTS),
    Index("traffic_window_monitor", "monitor_id", "begins"),
)
"""Windows of traffic monitors: when their members were fixed, and counts of their answers."""

TAKEN_ANSWERS = Table(
    "taken_answer",
    metadata,
    Column("run_id", String(32), primary_key=True),
    Column("answer_id", String(32), primary_key=True),
    Column("sending", String(40), nullable=False),
    Column("late", Boolean, nullable=False),
    Column("response_id", String(32), nullable=False),
    Index("taken_answer_response", "run_id", "response_id"),
    sqlite_with_rowid=False,
)
"""Accepted answers by window; the members of a window are those that are not late."""

OTHER_SENDINGS = Table(
    "other_sending",
    metadata,
    Column("run_id", String(32), primary_key=True),
    Column("answer_id", String(32), primary_key=True),
    Column("sending", String(40), primary_key=True),
    sqlite_with_rowid=False,
)
"""Sendings counted as duplicate or refused; a redelivery is not counted again."""

ANSWER_PARTS = Table(
    "answer_part",
    metadata,
    Column("tenant", String(96), primary_key=True),
    Column("source", String(96), primary_key=True),
    Column("key", String(512), primary_key=True),
    Column("part", String(32), primary_key=True),
    Column("at", UtcDateTime, nullable=False),
    Column("spans", Integer, nullable=False),
    Column("answers", Integer, nullable=False),
    Column("closes", Integer, nullable=False),
    Column("body", Text, nullable=False),
    Index("answer_part_at", "at"),
)
"""Spans and log events that wait for the rest of their trace."""

UNWATCHED_ANSWERS = Table(
    "unwatched_answer",
    metadata,
    Column("tenant", String(96), primary_key=True),
    Column("source", String(96), primary_key=True),
    Column("answers", BigInteger, nullable=False),
    Column("first_at", UtcDateTime, nullable=False),
    Column("last_at", UtcDateTime, nullable=False),
)
"""Number of answers of live systems that no monitor watched; the answers are not kept."""

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
"""Runs whose answers are archived, or being archived or restored."""

ARCHIVE_FILES = Table(
    "archive_file",
    metadata,
    Column("run_id", String(32), primary_key=True),
    Column("path", String(1024), primary_key=True),
    Column("tenant", String(96), nullable=False),
    Column("dataset", String(16), nullable=False),
    Column("day", String(10), nullable=False),
    Column("rows", Integer, nullable=False),
    Column("digest", String(64), nullable=False),
    Column("verified", Boolean, nullable=False, server_default=false()),
    Column("pending_deletion", Boolean, nullable=False, server_default=false()),
    Column("purged_at", UtcDateTime, nullable=False),
    Column("uri", Text),
    Column("kind", String(16)),
    Column("source", String(96)),
    Column("first_id", String(32)),
    Column("last_id", String(32)),
    Column("units", LargeBinary),
    Index("archive_file_dataset", "dataset", "tenant"),
    Index("archive_file_ids", "kind", "last_id"),
)
"""The manifest of Parquet files; a file is listed before it is written, so none is forgotten.

Files of the archive are at the address of their archived run. Files with their own address hold
answers of live systems in insertion order, with their kind, source, and first and last id. Files of
texts have a filter of their units.
"""

ALARM_DELIVERIES = Table(
    "alarm_delivery",
    metadata,
    Column("alarm_id", String(32), primary_key=True),
    Column("channel", String(128), primary_key=True),
    Column("tenant", String(96), nullable=False),
    Column("topic", Text, nullable=False),
    Column("at", UtcDateTime, nullable=False),
    Column("over", Boolean, nullable=False),
    Column("state", String(16), nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("next_at", UtcDateTime, nullable=False),
    Column("why", Text),
    Index("alarm_delivery_due", "state", "channel", "next_at"),
)
"""Deliveries of alarms to channels, and their outcomes."""

CHANNELS = Table(
    "channel",
    metadata,
    Column("name", String(96), primary_key=True),
    Column("kind", String(16), nullable=False),
    Column("seen_at", UtcDateTime, nullable=False),
    Column("trouble", Text),
)
"""Channels that notifiers read from their operator's file."""

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
"""The audit trail; a trigger refuses to change or delete a row."""

SENT_FORMS = Table(
    "sent_form",
    metadata,
    Column("key", String(64), primary_key=True),
    Column("at", UtcDateTime, nullable=False),
    Column("done", Boolean, nullable=False),
    Index("sent_form_at", "at"),
)
"""Submitted forms of pages, so that a button pressed twice acts once."""
