"""What the gateway does with the store."""

from services.gateway.handlers.desk import Desk, NotThereError
from services.gateway.handlers.ingesting import Ingest
from services.gateway.handlers.monitor_board import MonitorBoard
from services.gateway.handlers.monitors import MonitorDesk
from services.gateway.handlers.studies import Studies, StudyResults

__all__ = [
    "Desk",
    "Ingest",
    "MonitorBoard",
    "MonitorDesk",
    "NotThereError",
    "Studies",
    "StudyResults",
]
