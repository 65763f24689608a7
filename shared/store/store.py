"""The store of a service: opened, checked and closed once."""

from sqlalchemy import Engine

from biaswatch.shared.contracts.identity import DEFAULT_TENANT
from biaswatch.shared.errors import BiaswatchError
from biaswatch.shared.store.alarm_deliveries import AlarmDeliveries, Channels
from biaswatch.shared.store.answer_file_writer import AnswerFilesLocation, AnswerFileWriter
from biaswatch.shared.store.answer_files import AnswerFiles
from biaswatch.shared.store.answer_parts import AnswerParts, UnwatchedAnswers
from biaswatch.shared.store.archive_files import ArchiveFiles
from biaswatch.shared.store.archived_runs import ArchivedRuns
from biaswatch.shared.store.audit import AuditTrail
from biaswatch.shared.store.batches import Batches
from biaswatch.shared.store.calls import Calls, PausedTargets
from biaswatch.shared.store.connections import STATEMENT_S
from biaswatch.shared.store.counted_runs import CountedRuns, RunsUnderWay
from biaswatch.shared.store.database import Database, ScopeNow
from biaswatch.shared.store.engine import engine_of
from biaswatch.shared.store.extractors import Baselines, Calibrations, Extractors
from biaswatch.shared.store.gather_rows import GatherRows
from biaswatch.shared.store.gathers import Gathers
from biaswatch.shared.store.labelled_runs import LabelledRuns
from biaswatch.shared.store.monitors import (
    ClosedRounds,
    EnrolledUnits,
    MonitorDefinitions,
    Schedule,
)
from biaswatch.shared.store.planning import PlanningCursors
from biaswatch.shared.store.record_writer import ArchiveRows, RecordWriter
from biaswatch.shared.store.records import Records
from biaswatch.shared.store.revisions import StoreCheck, check_revision
from biaswatch.shared.store.run_results import JudgedItems, RunConclusions, UnansweredProbes
from biaswatch.shared.store.run_tables import JUDGING_CURSORS
from biaswatch.shared.store.searches import Searches
from biaswatch.shared.store.sent_forms import SentForms
from biaswatch.shared.store.suites import Suites
from biaswatch.shared.store.texts import Purges
from biaswatch.shared.store.window_answers import WindowAnswers
from biaswatch.shared.store.window_readings import WindowReadings


class Store:
    """All tables of one database; calls block, so call them from a thread."""

    def __init__(
        self,
        db: Database,
        *,
        answer_files: AnswerFiles | None = None,
        file_writer: AnswerFileWriter | None = None,
    ) -> None:
        self._db = db
        self._check = StoreCheck(db.engine)
        self._file_writer = file_writer
        self.answer_files = answer_files or AnswerFiles(Database(db.engine))
        writer = RecordWriter(db, self.answer_files, file_writer)
        self.records = Records(db, self.answer_files, writer)
        self.rounds = ClosedRounds(self.records)
        self.results = RunConclusions(self.records)
        self.purges = Purges(db)
        self.sent_forms = SentForms(db)
        self.suites = Suites(db)
        self.planning_cursors = PlanningCursors(db)
        self.judging_cursors = PlanningCursors(db, JUDGING_CURSORS)
        self.counted_runs = CountedRuns(db)
        self.runs_under_way = RunsUnderWay(db)
        self.judged_items = JudgedItems(self.records)
        self.labelled_runs = LabelledRuns(db)
        self.audit = AuditTrail(db)
        self.extractors = Extractors(db)
        self.calls = Calls(db)
        self.batches = Batches(db)
        self.paused_targets = PausedTargets(db)
        self.unanswered = UnansweredProbes(db, self.records)
        self.baselines = Baselines(db)
        self.calibrations = Calibrations(db)
        self.monitor_definitions = MonitorDefinitions(db, self.records)
        self.schedule = Schedule(db)
        self.searches = Searches(db)
        self.enrolled_units = EnrolledUnits(db)
        self.window_answers = WindowAnswers(db)
        self.window_readings = WindowReadings(self.records, self.window_answers)
        self.answer_parts = AnswerParts(db)
        self.unwatched_answers = UnwatchedAnswers(db)
        self.alarm_deliveries = AlarmDeliveries(db)
        self.channels = Channels(db)
        self.archived_runs = ArchivedRuns(db)
        self.archive_rows = ArchiveRows(db, self.answer_files)
        self.archive_files = ArchiveFiles(db)

    @classmethod
    def open(
        cls,
        url: str,
        answers_to: AnswerFilesLocation | None = None,
        *,
        statement_s: float | None = STATEMENT_S,
    ) -> "Store":
        """Open the store at `url`.

        Parameters
        ----------
        answers_to
            Location of files of production answers; None to write them as rows.
        statement_s
            Limit of a statement on PostgreSQL; None for no limit.

        Raises
        ------
        ConfigurationError
            It cannot be opened, is not migrated, or was created by another version.
        TransientError
            It does not answer now.
        """
        engine = engine_of(url, statement_s)
        try:
            check_revision(engine)
            db = Database(engine)
            files = AnswerFiles(db)
            writer = AnswerFileWriter(db, files, answers_to) if answers_to else None
        except BiaswatchError:
            engine.dispose()
            raise
        return cls(db, answer_files=files, file_writer=writer)

    @property
    def engine(self) -> Engine:
        """The engine of the database."""
        return self._db.engine

    @property
    def tenant(self) -> str:
        """The tenant of written records; `default` if the scope names none."""
        return self._db.tenant or DEFAULT_TENANT

    def check_available(self) -> None:
        """Check that the database and the place of the files it writes are available.

        Raises
        ------
        TransientError
            One of them does not answer, or the database is read-only.
        """
        self._check.check()
        if self._file_writer is not None:
            self._file_writer.check_available()

    def empty_write_ahead_log(self) -> None:
        """Write SQLite's log into the database and truncate it, since it keeps deleted rows.

        Waits for readers as long as for any lock; an active reader keeps the log until next time.
        """
        if self.engine.dialect.name != "sqlite":
            return
        connection = self.engine.raw_connection()
        try:
            connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            connection.close()

    def scoped(self, scope: ScopeNow) -> "Store":
        """Return this store within a scope that is looked up at every use."""
        return Store(Database(self.engine, scope), answer_files=self.answer_files)

    def gathers(self, stage: str) -> Gathers:
        """Return the gathers of one stage."""
        return Gathers(self._db, GatherRows(stage), self.answer_files)

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
