"""The store of all records: SQLite by default, PostgreSQL in production."""

from biaswatch.shared.store.answer_file_writer import AnswerFilesLocation
from biaswatch.shared.store.calls import Calls
from biaswatch.shared.store.closings import Closing
from biaswatch.shared.store.gathers import Gathers
from biaswatch.shared.store.monitor_rounds import Schedule
from biaswatch.shared.store.paused_targets import PausedTargets
from biaswatch.shared.store.planned_probes import PlannedProbes
from biaswatch.shared.store.planning_cursors import PlanningCursor, PlanningCursors
from biaswatch.shared.store.record_counts import WriteResult
from biaswatch.shared.store.records import Records
from biaswatch.shared.store.run_progress import CountedRun
from biaswatch.shared.store.store import Store, migrate

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
