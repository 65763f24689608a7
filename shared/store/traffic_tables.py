"""The tables of production traffic: windows, and the answers that were sent in for them."""

from sqlalchemy import BigInteger, Boolean, Column, Index, Integer, String, Table, Text

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
