"""Tables of production traffic, of the archive and of alarms."""

from sqlalchemy import BigInteger, Boolean, Column, Index, Integer, String, Table, Text, false

from biaswatch.shared.contracts import ACCOUNTS
from biaswatch.shared.store.tables import UtcDateTime, metadata

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
"""The windows of monitors of traffic: when the list of its members was fixed, and what became of
the answers that were sent in for it."""

TAKEN_ANSWERS = Table(
    "taken_answer",
    metadata,
    Column("run_id", String(32), primary_key=True),
    Column("answer_id", String(32), primary_key=True),
    Column("sending", String(40), nullable=False),
    Column("late", Boolean, nullable=False),
    Column("response_id", String(32)),
    Index("taken_answer_response", "run_id", "response_id"),
    sqlite_with_rowid=False,
)
"""Every answer that was taken in, by window; those that are not late are the window's members. The
id of its response tells when it was said; an older version, which writes none, means the answer's
own."""

OTHER_SENDINGS = Table(
    "other_sending",
    metadata,
    Column("run_id", String(32), primary_key=True),
    Column("answer_id", String(32), primary_key=True),
    Column("sending", String(40), primary_key=True),
    sqlite_with_rowid=False,
)
"""Sendings that were counted as duplicate or refused: a redelivery counts none of them again."""

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
    Column("body", Text, nullable=False),
    Index("answer_part_at", "at"),
)
"""What single spans and log events tell of answers, for the minute in which the rest may come."""

UNWATCHED_ANSWERS = Table(
    "unwatched_answer",
    metadata,
    Column("tenant", String(96), primary_key=True),
    Column("source", String(96), primary_key=True),
    Column("answers", BigInteger, nullable=False),
    Column("first_at", UtcDateTime, nullable=False),
    Column("last_at", UtcDateTime, nullable=False),
)
"""How many answers of live systems were sent in that no monitor watched; none of them is kept."""


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
"""Each alarm on its way to each channel, and how that ended."""

CHANNELS = Table(
    "channel",
    metadata,
    Column("name", String(96), primary_key=True),
    Column("kind", String(16), nullable=False),
    Column("seen_at", UtcDateTime, nullable=False),
    Column("trouble", Text),
)
"""The channels that notifiers have read in their operator's file."""
