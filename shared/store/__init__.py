"""The record of everything: SQLite by default, PostgreSQL in production."""

from shared.store.calls import Calls
from shared.store.gathers import Closing, Gathers, GatherState
from shared.store.instruments import Instrument
from shared.store.migrate import migrate
from shared.store.records import Records, Written
from shared.store.schedule import Place, Schedule
from shared.store.store import Store

__all__ = [
    "Calls",
    "Closing",
    "GatherState",
    "Gathers",
    "Instrument",
    "Place",
    "Records",
    "Schedule",
    "Store",
    "Written",
    "migrate",
]
