"""Engines and transactions of the database, and sentences for its errors."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from sqlite3 import SQLITE_BUSY, Cursor
from sqlite3 import OperationalError as SqliteError

from sqlalchemy import Connection, Engine, create_engine, event, make_url
from sqlalchemy.engine import URL
from sqlalchemy.exc import (
    ArgumentError,
    DatabaseError,
    InterfaceError,
    InternalError,
    OperationalError,
)
from sqlalchemy.exc import TimeoutError as NoFreeConnection
from sqlalchemy.pool import NullPool, QueuePool

from biaswatch.shared.errors import ConfigurationError, TransientError
from biaswatch.shared.store.connections import (
    STATEMENT_S,
    check_rested_connections,
    connection_parameters,
    end_silent_connections,
)

DRIVERS = {"sqlite": "sqlite+pysqlite", "postgresql": "postgresql+psycopg"}
INSERT_ROWS = 50
"""Rows per INSERT: SQLite caches a statement per row count, of a megabyte for hundreds of rows."""
CACHED_STATEMENTS = 32
"""Prepared statements per SQLite connection."""
PRAGMAS = (
    "synchronous=NORMAL",
    "foreign_keys=ON",
    "secure_delete=ON",
    "wal_autocheckpoint=8000",  # 32 MB: a page that many transactions fill is copied once
)
BUSY_TIMEOUT_S = 30
BUSY_PAUSE_S = 0.01
PERMANENT_ERRORS = (
    *("authentication failed", "no pg_hba.conf entry", "no password supplied"),
    *("permission denied", "does not exist"),
    *("unable to open database file", "readonly database"),
)
"""Parts of messages that mean a permanent error; drivers give no code while connecting."""
FULL = "Make room on its disk; what it has is kept"
ADVICE = {
    "disk is full": FULL,
    "No space left on device": FULL,
    "due to statement timeout": "BIASWATCH_STORE_STATEMENT_S says how long a statement may take",
    "in a read-only transaction": "It takes reads alone; let it take writes again",
}
"""Advice by parts of the messages of SQLite and PostgreSQL."""
READS = "reads"
"""Execution option of read-only transactions, which block no writer."""


def engine_of(url: str, statement_s: float | None = STATEMENT_S, *, pooled: bool = True) -> Engine:
    """Return an engine for the database at `url`, without connecting.

    Parameters
    ----------
    statement_s
        Limit of a statement on PostgreSQL; None for no limit. SQLite has one writer, and waits at
        most `BUSY_TIMEOUT_S` for it.
    pooled
        Whether connections are kept for later use.

    Raises
    ------
    ConfigurationError
        The URL is of another kind, or the folder of an SQLite file cannot be written.
    """
    try:
        parsed = make_url(url)
        parsed = parsed.set(drivername=DRIVERS[parsed.get_backend_name()])
    except (ArgumentError, KeyError):
        raise ConfigurationError(
            "The store's URL must begin with sqlite:/// or postgresql://. Check"
            " BIASWATCH_STORE_URL."
        ) from None
    if parsed.get_backend_name() == "sqlite":
        _make_folder(parsed)
        engine = create_engine(
            parsed,
            insertmanyvalues_page_size=INSERT_ROWS,
            connect_args={"timeout": BUSY_TIMEOUT_S, "cached_statements": CACHED_STATEMENTS},
        )
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    engine = create_engine(
        parsed,
        insertmanyvalues_page_size=INSERT_ROWS,
        connect_args=connection_parameters(parsed),
        poolclass=QueuePool if pooled else NullPool,
    )
    end_silent_connections(engine, statement_s)
    check_rested_connections(engine)
    return engine


def _make_folder(url: URL) -> None:
    if not url.database or url.database == ":memory:":
        raise ConfigurationError("The store needs a file: sqlite:////path/to/store.db.")
    folder = Path(url.database).parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(
            f"The folder {folder} for the store cannot be made ({error.strerror}). Choose another"
            " with BIASWATCH_STATE_DIR or BIASWATCH_STORE_URL."
        ) from None


def _prepare_sqlite(connection: object, _: object) -> None:
    """Turn on explicit transactions, WAL and foreign keys.

    `secure_delete` overwrites deleted rows, so that a purged text cannot be read from the file.
    """
    connection.isolation_level = None  # type: ignore[attr-defined]
    cursor = connection.cursor()  # type: ignore[attr-defined]
    _enable_wal(cursor)
    for pragma in PRAGMAS:
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _enable_wal(cursor: Cursor) -> None:
    """Switch to WAL; wait for another process that is switching, which SQLite does not."""
    deadline = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            cursor.execute("PRAGMA journal_mode=WAL")
        except SqliteError as error:
            if error.sqlite_errorcode != SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(BUSY_PAUSE_S)
        else:
            return


def _begin_sqlite(connection: Connection) -> None:
    """Take the write lock at the start: a lock taken later fails instead of waiting."""
    reads = connection.get_execution_options().get(READS, False)
    connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")


@contextmanager
def explain_open_errors(engine: Engine) -> Iterator[None]:
    """Turn a database error on first contact into one sentence.

    A database that is starting, stopping or unreachable raises TransientError. A refused user or a
    missing database needs a person, and raises ConfigurationError.
    """
    try:
        yield
    except DatabaseError as error:
        where, why = engine.url.render_as_string(hide_password=True), _reason(error)
        permanent = any(message in why for message in PERMANENT_ERRORS)
        if isinstance(error, OperationalError) and not permanent:
            raise TransientError(
                f"The store at {where} does not answer: {why}. If it is not just starting, check"
                " BIASWATCH_STORE_URL."
            ) from None
        raise ConfigurationError(
            f"The store at {where} cannot be opened: {why}. Check BIASWATCH_STORE_URL."
        ) from None


@contextmanager
def write_transaction(engine: Engine) -> Iterator[Connection]:
    """Open a transaction that is committed as a whole or not at all."""
    with _readable_errors(), engine.begin() as connection:
        yield connection


@contextmanager
def read_transaction(engine: Engine) -> Iterator[Connection]:
    """Open a transaction that sees one state of the store and changes nothing."""
    with _readable_errors(), engine.connect().execution_options(**{READS: True}) as connection:
        yield connection


@contextmanager
def streaming_transaction(engine: Engine) -> Iterator[Connection]:
    """Open a read transaction without a limit of idle time, for slow readers."""
    with read_transaction(engine) as connection:
        if engine.dialect.name == "postgresql":
            connection.exec_driver_sql("SET LOCAL idle_in_transaction_session_timeout = 0")
        yield connection


@contextmanager
def _readable_errors() -> Iterator[None]:
    try:
        yield
    except NoFreeConnection:
        raise TransientError(
            "The store is not available: all connections are busy with earlier requests."
        ) from None
    except (OperationalError, InterfaceError, InternalError) as error:
        why = _reason(error)
        why += next((f". {advice}" for message, advice in ADVICE.items() if message in why), "")
        raise TransientError(f"The store is not available: {why}.") from error


def _reason(error: DatabaseError | InterfaceError) -> str:
    return str(error.orig).strip().splitlines()[0].rstrip(".")
