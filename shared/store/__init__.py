"""The store of all records: SQLite by default, PostgreSQL in production."""

from shared.store.calls import Calls
from shared.store.gathers import Closing, Gathers
from shared.store.monitor_rounds import Schedule
from shared.store.paused_targets import PausedTargets
from shared.store.records import Records, WriteResult
from shared.store.store import Store, migrate

__all__ = [
    "Calls",
    "Closing",
    "Gathers",
    "PausedTargets",
    "Records",
    "Schedule",
    "Store",
    "WriteResult",
    "migrate",
]
