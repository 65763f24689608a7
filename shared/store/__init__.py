"""The store of all records: SQLite by default, PostgreSQL in production."""

from biaswatch.shared.store.answer_file_writer import AnswerFilesLocation
from biaswatch.shared.store.batches import Batches
from biaswatch.shared.store.calls import Calls, PausedTargets
from biaswatch.shared.store.counted_runs import CountedRun
from biaswatch.shared.store.gather_rows import Closing
from biaswatch.shared.store.gathers import Gathers
from biaswatch.shared.store.monitors import Schedule
from biaswatch.shared.store.planning import PlannedProbes, PlanningCursor, PlanningCursors
from biaswatch.shared.store.record_rows import WriteResult
from biaswatch.shared.store.records import Records
from biaswatch.shared.store.revisions import migrate
from biaswatch.shared.store.store import Store

__all__ = [
    "AnswerFilesLocation",
    "Batches",
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
