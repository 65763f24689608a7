"""The store of a service: migrated forward only, opened once, checked, closed at the end."""

from datetime import datetime
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, select, text

from shared.contracts import Suite
from shared.errors import ConfigurationError
from shared.store.calls import Calls
from shared.store.engine import (
    READS,
    engine_of,
    explain_open_errors,
    insert_new,
    read_transaction,
    write_transaction,
)
from shared.store.extractors import Baselines, Calibrations, Extractors
from shared.store.gathers import Gathers
from shared.store.monitor_rounds import ClosedRounds, EnrolledUnits, Schedule
from shared.store.paused_targets import PausedTargets
from shared.store.records import Records
from shared.store.run_conclusions import RunConclusions
from shared.store.tables import SUITES
from shared.store.texts import Purges

MIGRATION_LOCK = 8_210_077
"""The number of the advisory lock, the same in every version: its holder migrates."""


def migrate(url: str) -> str:
    """Migrate the store at `url` to this version; return its revision.

    Raises
    ------
    ConfigurationError
        The store cannot be opened, or a newer version has made it.
    """
    engine = engine_of(url)
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
    """Raise ConfigurationError unless the store has exactly this version's revision."""
    with (
        explain_open_errors(engine),
        engine.connect().execution_options(**{READS: True}) as connection,
    ):
        _refuse_newer(connection)
        if _revision(connection) != _scripts().get_current_head():
            where = engine.url.render_as_string(hide_password=True)
            raise ConfigurationError(
                f"The store at {where} is not prepared for this version. Run `biaswatch provision`."
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


class Suites:
    """Suites by hash: a run names one, which never changes."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def keep(self, suite: Suite, now: datetime) -> str:
        """Store a suite; return its hash."""
        row = {"hash": suite.hash, "name": suite.name, "at": now, "body": suite.model_dump_json()}
        with write_transaction(self._engine) as connection:
            insert_new(connection, SUITES, [row])
        return suite.hash

    def get(self, hash_: str | None) -> Suite | None:
        """Return the suite with this hash, or None; a window of traffic has none."""
        with read_transaction(self._engine) as connection:
            body = connection.scalar(select(SUITES.c.body).where(SUITES.c.hash == hash_))
        return None if body is None else Suite.model_validate_json(body)


class Store:
    """All tables of one database; calls block, so call them from a thread."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.records = Records(engine)
        self.rounds = ClosedRounds(self.records)
        self.results = RunConclusions(self.records)
        self.purges = Purges(engine)
        self.suites = Suites(engine)
        self.extractors = Extractors(engine)
        self.calls = Calls(engine)
        self.paused_targets = PausedTargets(engine)
        self.baselines = Baselines(engine)
        self.calibrations = Calibrations(engine)
        self.schedule = Schedule(engine)
        self.enrolled_units = EnrolledUnits(engine)

    @classmethod
    def open(cls, url: str) -> "Store":
        """Open the store at `url`.

        Raises
        ------
        ConfigurationError
            It cannot be opened, is not migrated, or was created by a newer version.
        """
        engine = engine_of(url)
        try:
            _check(engine)
        except ConfigurationError:
            engine.dispose()
            raise
        return cls(engine)

    def gathers(self, stage: str) -> Gathers:
        """Return the gathers of one stage."""
        return Gathers(self._engine, stage)

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
