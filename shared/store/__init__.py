"""The store of all records: SQLite by default, PostgreSQL in production."""

from shared.store.answer_file_writer import AnswerFilesLocation
from shared.store.calls import Calls
from shared.store.closings import Closing
from shared.store.gathers import Gathers
from shared.store.monitor_rounds import Schedule
from shared.store.paused_targets import PausedTargets
from shared.store.planned_probes import PlannedProbes
from shared.store.planning_cursors import PlanningCursor, PlanningCursors
from shared.store.records import Records, WriteResult
from shared.store.run_progress import CountedRun
from shared.store.store import Store, migrate

__all__ = [
    "AnswerFilesLocation",
    "Calls",
    "Closing",
    "CountedRun",
    "Gathers",
    "PausedTargets",
    "PlannedProbes",
    "PlanningCursor",
    "PlanningCursors",
    "Records",
    "Schedule",
    "Store",
    "WriteResult",
    "migrate",
]
