"""The record of everything: SQLite by default, PostgreSQL in production."""

from shared.store.calls import Calls
from shared.store.extractors import ExtractorStatus
from shared.store.gathers import Closing, Gathers, GatherState
from shared.store.migrate import migrate
from shared.store.monitor_rounds import Schedule, ScheduledMonitor
from shared.store.records import Records, WriteResult
from shared.store.store import Store

__all__ = [
    "Calls",
    "Closing",
    "ExtractorStatus",
    "GatherState",
    "Gathers",
    "Records",
    "Schedule",
    "ScheduledMonitor",
    "Store",
    "WriteResult",
    "migrate",
]
