"""The store of a service: migrated forward only, opened once, checked, closed at the end."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, text

from biaswatch.shared.errors import (
    BiaswatchError,
    ConfigurationError,
    StoreNotPreparedError,
    TransientError,
)
from biaswatch.shared.store.alarm_deliveries import AlarmDeliveries, Channels
from biaswatch.shared.store.answer_file_writer import AnswerFilesLocation, AnswerFileWriter
from biaswatch.shared.store.answer_files import AnswerFiles
from biaswatch.shared.store.answer_parts import AnswerParts, UnwatchedAnswers
from biaswatch.shared.store.archive_files import ArchiveFiles
from biaswatch.shared.store.archive_rows import ArchiveRows
from biaswatch.shared.store.archived_runs import ArchivedRuns
from biaswatch.shared.store.audit import AuditTrail
from biaswatch.shared.store.calls import Calls, PausedTargets
from biaswatch.shared.store.connections import PING_S, STATEMENT_S
from biaswatch.shared.store.engine import (
    READS,
    ScopeNow,
    engine_of,
    everything,
    explain_open_errors,
    read_transaction,
)
from biaswatch.shared.store.extractors import Baselines, Calibrations, Extractors
from biaswatch.shared.store.gathers import Gathers
from biaswatch.shared.store.monitors import (
    ClosedRounds,
    EnrolledUnits,
    MonitorDefinitions,
    RunsUnderWay,
    Schedule,
)
from biaswatch.shared.store.planning import PlanningCursors
from biaswatch.shared.store.run_results import (
    CountedRuns,
    JudgedItems,
    LabelledRuns,
    RunConclusions,
    Unanswered,
)
from biaswatch.shared.store.run_tables import JUDGING_CURSORS
from biaswatch.shared.store.sent_forms import SentForms
from biaswatch.shared.store.stored_records import StoredRecords
from biaswatch.shared.store.suites import UNNAMED, Suites
from biaswatch.shared.store.texts import Purges
from biaswatch.shared.store.window_answers import WindowAnswers, WindowReadings

READ_ONLY = text("SELECT current_setting('transaction_read_only')")


class StoreProbe:
    """Checks a database; the separate connection is not delayed by queries in the pool."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._apart: Engine | None = None

    def ask(self) -> None:
        """Check that the database accepts writes.

        Raises
        ------
        TransientError
            The database does not answer, or is read-only.
        """
        if self._engine.dialect.name == "sqlite":
            with read_transaction(self._engine) as connection:
                connection.exec_driver_sql("SELECT 1")
            return
        if self._apart is None:
            url = self._engine.url.render_as_string(hide_password=False)
            self._apart = engine_of(url, PING_S, pooled=False)
        with read_transaction(self._apart) as connection:
            read_only = connection.scalar(READ_ONLY)
        if read_only == "on":
            raise TransientError(
                "The store takes no writes: the database is read-only. Let it take writes again."
            )


MIGRATION_LOCK = 8_210_077
"""The number of the advisory lock, the same in every version: its holder migrates."""


def migrate(url: str) -> str:
    """Migrate the store at `url` to this version; return its revision.

    Raises
    ------
    ConfigurationError
        The store cannot be opened, or a newer version has made it.
    TransientError
        It does not answer now.
    """
    engine = engine_of(url, None)  # to change a large table takes as long as it takes
    try:
        with explain_open_errors(engine), engine.begin() as connection:
            if engine.dialect.name == "postgresql":
                connection.execute(text(f"SELECT pg_advisory_xact_lock({MIGRATION_LOCK})"))
            _refuse_newer(connection)
            config = _config()
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
            return str(_revision(connection))
    finally:
        engine.dispose()


def _check(engine: Engine) -> None:
    """Raise StoreNotPreparedError unless the store has exactly this version's revision."""
    with (
        explain_open_errors(engine),
        engine.connect().execution_options(**{READS: True}) as connection,
    ):
        _refuse_newer(connection)
        revision = _revision(connection)
        if revision != _scripts().get_current_head():
            where = engine.url.render_as_string(hide_password=True)
            empty = "holds nothing yet and " if revision is None else ""
            own = "; on a laptop the first run does it" if revision is None else ""
            raise StoreNotPreparedError(
                f"The store at {where} {empty}is not prepared for this version."
                f" Run `biaswatch provision`{own}."
            )


def _refuse_newer(connection: Connection) -> None:
    revision = _revision(connection)
    known = {script.revision for script in _scripts().walk_revisions()}
    if revision is not None and revision not in known:
        where = connection.engine.url.render_as_string(hide_password=True)
        raise ConfigurationError(
            f"The store at {where} was made by a newer biaswatch (revision {revision}). Upgrade"
            " biaswatch, or choose another store with BIASWATCH_STORE_URL."
        )


def _revision(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    return config


def _scripts() -> ScriptDirectory:
    return ScriptDirectory.from_config(_config())


class Store:
    """All tables of one database; calls block, so call them from a thread."""

    def __init__(
        self,
        engine: Engine,
        scope: ScopeNow = everything,
        *,
        answer_files: AnswerFiles | None = None,
        writer: AnswerFileWriter | None = None,
    ) -> None:
        self._engine = engine
        self._scope = scope
        self._probe = StoreProbe(engine)
        self.answer_files = answer_files or AnswerFiles(engine)
        self.records = StoredRecords(engine, scope, files=self.answer_files, writer=writer)
        self.rounds = ClosedRounds(self.records)
        self.results = RunConclusions(self.records)
        self.purges = Purges(engine, scope)
        self.sent_forms = SentForms(engine)
        self.suites = Suites(engine, scope)
        self.planning_cursors = PlanningCursors(engine)
        self.judging_cursors = PlanningCursors(engine, JUDGING_CURSORS)
        self.counted_runs = CountedRuns(engine)
        self.runs_under_way = RunsUnderWay(engine)
        self.judged_items = JudgedItems(self.records)
        self.labelled_runs = LabelledRuns(engine)
        self.audit = AuditTrail(engine, scope)
        self.extractors = Extractors(engine)
        self.calls = Calls(engine)
        self.paused_targets = PausedTargets(engine)
        self.unanswered = Unanswered(engine, self.records, scope)
        self.baselines = Baselines(engine)
        self.calibrations = Calibrations(engine)
        self.monitor_definitions = MonitorDefinitions(engine, self.records, scope)
        self.schedule = Schedule(engine)
        self.enrolled_units = EnrolledUnits(engine)
        self.window_answers = WindowAnswers(engine)
        self.window_readings = WindowReadings(self.records, self.window_answers)
        self.answer_parts = AnswerParts(engine, scope)
        self.unwatched_answers = UnwatchedAnswers(engine, scope)
        self.alarm_deliveries = AlarmDeliveries(engine, scope)
        self.channels = Channels(engine)
        self.archived_runs = ArchivedRuns(engine, scope)
        self.archive_rows = ArchiveRows(engine, self.answer_files)
        self.archive_files = ArchiveFiles(engine)

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
            Where answers of live systems are written as files; None where they become rows.
        statement_s
            How long PostgreSQL may take for a statement; None for as long as it likes.

        Raises
        ------
        ConfigurationError
            It cannot be opened, is not migrated, or was created by a newer version.
        TransientError
            It does not answer now.
        """
        engine = engine_of(url, statement_s)
        try:
            _check(engine)
            files = AnswerFiles(engine)
            writer = AnswerFileWriter(engine, files, answers_to) if answers_to else None
        except BiaswatchError:
            engine.dispose()
            raise
        return cls(engine, answer_files=files, writer=writer)

    def probe(self) -> None:
        """Ask the database whether it takes writes, over a connection of its own.

        Raises
        ------
        TransientError
            It does not answer, or takes no writes.
        """
        self._probe.ask()

    def empty_write_ahead_log(self) -> None:
        """Write SQLite's log into the database and empty it: what was deleted would stay there.

        Waits for readers as long as for any lock; where one goes on, the log stays till the next.
        """
        if self._engine.dialect.name != "sqlite":
            return
        connection = self._engine.raw_connection()
        try:
            connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            connection.close()

    def scoped(self, scope: ScopeNow) -> "Store":
        """Return this store as somebody sees it whose scope is looked up at every use."""
        return Store(self._engine, scope, answer_files=self.answer_files)

    @property
    def tenant(self) -> str:
        """The tenant whose records are written; `default` where no scope names one."""
        return self._scope().tenant or UNNAMED

    def gathers(self, stage: str) -> Gathers:
        """Return the gathers of one stage."""
        return Gathers(self._engine, stage, self.answer_files)

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
