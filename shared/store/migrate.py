"""Migrations: forward only, safe when several processes start at once."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, text

from shared.errors import ConfigurationError
from shared.store.engine import READS, engine_of, explain_open_errors

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


def check(engine: Engine) -> None:
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
