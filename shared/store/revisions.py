"""Revisions of the store's schema, and availability of its database."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, text

from biaswatch.shared.errors import ConfigurationError, StoreNotPreparedError, TransientError
from biaswatch.shared.store.connections import PING_S
from biaswatch.shared.store.engine import READS, engine_of, explain_open_errors, read_transaction

MIGRATION_LOCK = 8_210_077
"""Number of the advisory lock of migrations, the same in every version."""
SELECT_READ_ONLY = text("SELECT current_setting('transaction_read_only')")


def migrate(url: str) -> str:
    """Migrate the store at `url` to this version; return its revision.

    Raises
    ------
    ConfigurationError
        The store cannot be opened, or was created by another version.
    TransientError
        It does not answer now.
    """
    engine = engine_of(url, None)  # changing a large table has no time limit
    try:
        with explain_open_errors(engine), engine.begin() as connection:
            if engine.dialect.name == "postgresql":
                connection.execute(text(f"SELECT pg_advisory_xact_lock({MIGRATION_LOCK})"))
            _refuse_unknown(connection)
            config = alembic_config()
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
            return str(_revision(connection))
    finally:
        engine.dispose()


def check_revision(engine: Engine) -> None:
    """Raise StoreNotPreparedError unless the store has exactly this version's revision."""
    with (
        explain_open_errors(engine),
        engine.connect().execution_options(**{READS: True}) as connection,
    ):
        _refuse_unknown(connection)
        revision = _revision(connection)
        if revision != _scripts().get_current_head():
            where = engine.url.render_as_string(hide_password=True)
            empty = "holds nothing yet and " if revision is None else ""
            own = "; on a laptop the first run does it" if revision is None else ""
            raise StoreNotPreparedError(
                f"The store at {where} {empty}is not prepared for this version."
                f" Run `biaswatch admin provision`{own}."
            )


def alembic_config() -> Config:
    """Return Alembic's configuration for the revisions of this version."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    return config


def _refuse_unknown(connection: Connection) -> None:
    revision = _revision(connection)
    known = {script.revision for script in _scripts().walk_revisions()}
    if revision is not None and revision not in known:
        where = connection.engine.url.render_as_string(hide_password=True)
        raise ConfigurationError(
            f"The store at {where} was made by another version of biaswatch (revision {revision}),"
            " which this version cannot read. Use that version, or choose another store with"
            " BIASWATCH_STORE_URL."
        )


def _revision(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


def _scripts() -> ScriptDirectory:
    return ScriptDirectory.from_config(alembic_config())


class StoreCheck:
    """Checks a database over a separate connection, which queries in the pool do not delay."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._separate: Engine | None = None

    def check(self) -> None:
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
        if self._separate is None:
            url = self._engine.url.render_as_string(hide_password=False)
            self._separate = engine_of(url, PING_S, pooled=False)
        with read_transaction(self._separate) as connection:
            read_only = connection.scalar(SELECT_READ_ONLY)
        if read_only == "on":
            raise TransientError(
                "The store takes no writes: the database is read-only. Let it take writes again."
            )
