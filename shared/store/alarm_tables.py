"""The tables of alarms on their way to people, and of the channels by which they go."""

from sqlalchemy import Boolean, Column, Index, Integer, String, Table, Text

from biaswatch.shared.store.tables import UtcDateTime, metadata

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
"""The channels that diagnosers have read in their operator's file."""
