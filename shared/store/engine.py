"""The database: a URL becomes an engine with transactions; its errors become sentences."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import SQLITE_BUSY, Cursor
from sqlite3 import OperationalError as SqliteError
from typing import Any

from sqlalchemy import Connection, Engine, Table, create_engine, event, make_url
from sqlalchemy.dialects import postgresql, sqlite
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
    connection_parameters,
    end_silent_connections,
    try_rested_connections,
)

DRIVERS = {"sqlite": "sqlite+pysqlite", "postgresql": "postgresql+psycopg"}
MOST_PARAMETERS = 500
"""Keys in one query: below every database's limit."""
ROWS_OF_AN_INSERT = 50
"""Rows in one statement: every number of them is a statement of its own, which SQLite keeps ready
for each connection, and with hundreds of rows each would keep a megabyte."""
STATEMENTS_KEPT = 32
"""Statements that a connection to SQLite keeps ready."""
PRAGMAS = (
    "synchronous=NORMAL",
    "foreign_keys=ON",
    "secure_delete=ON",
    "wal_autocheckpoint=8000",  # 32 MB: a page that is filled by many transactions is copied once
)
BUSY_TIMEOUT_S = 30
BUSY_PAUSE_S = 0.01
LASTING = (
    *("authentication failed", "no pg_hba.conf entry", "no password supplied"),
    *("permission denied", "does not exist"),
    *("unable to open database file", "readonly database"),
)
"""What a database says that does not pass by itself: the driver gives no code while connecting."""
FULL = "Make room on its disk; what it has is kept"
ADVICE = {
    "disk is full": FULL,
    "No space left on device": FULL,
    "due to statement timeout": "BIASWATCH_STORE_STATEMENT_S says how long a statement may take",
    "in a read-only transaction": "It takes reads alone; let it take writes again",
}
"""What to do about what SQLite and PostgreSQL say."""
READS = "reads"
"""The execution option of transactions that only read, so that they block no writer."""


def engine_of(url: str, statement_s: float | None = STATEMENT_S, *, pooled: bool = True) -> Engine:
    """Return an engine for the database at `url`; nothing is opened yet.

    Parameters
    ----------
    statement_s
        How long PostgreSQL may take for a statement; None for as long as it likes. SQLite has one
        writer, and a wait for it is bounded by `BUSY_TIMEOUT_S`.
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
            insertmanyvalues_page_size=ROWS_OF_AN_INSERT,
            connect_args={"timeout": BUSY_TIMEOUT_S, "cached_statements": STATEMENTS_KEPT},
        )
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    engine = create_engine(
        parsed,
        insertmanyvalues_page_size=ROWS_OF_AN_INSERT,
        connect_args=connection_parameters(parsed),
        poolclass=QueuePool if pooled else NullPool,
    )
    end_silent_connections(engine, statement_s)
    try_rested_connections(engine)
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
    """Let this module begin transactions; turn on WAL and foreign keys.

    What is deleted is overwritten, so that a purged text cannot be read from the file either.
    """
    connection.isolation_level = None  # type: ignore[attr-defined]
    cursor = connection.cursor()  # type: ignore[attr-defined]
    _write_ahead(cursor)
    for pragma in PRAGMAS:
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _write_ahead(cursor: Cursor) -> None:
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

    A database that is starting, stopping or out of reach may answer the next time; one that
    refuses this user, or is none, does not until a person changes something.
    """
    try:
        yield
    except DatabaseError as error:
        where, why = engine.url.render_as_string(hide_password=True), _reason(error)
        if isinstance(error, OperationalError) and not any(each in why for each in LASTING):
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
    """Open a read transaction that may be idle for as long as the reader of its rows needs."""
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
            "The store is not available: it has not finished what it was asked before."
        ) from None
    except (OperationalError, InterfaceError, InternalError) as error:
        why = _reason(error)
        why += next((f". {advice}" for said, advice in ADVICE.items() if said in why), "")
        raise TransientError(f"The store is not available: {why}.") from error


def _reason(error: DatabaseError | InterfaceError) -> str:
    return str(error.orig).strip().splitlines()[0].rstrip(".")


def insert_new(
    connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Insert the rows whose key is new; return the first key column of those."""
    if not rows:
        return []
    first_key, *_ = table.primary_key
    statement = upsert(connection, table).on_conflict_do_nothing().returning(first_key)
    return list(connection.scalars(statement, rows))


def upsert(connection: Connection, table: Table) -> Any:
    """Return the dialect's INSERT, which has an ON CONFLICT clause."""
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    return dialect.insert(table)


def chunks(keys: Iterable[str]) -> Iterator[list[str]]:
    """Return the keys sorted, each once, as lists short enough for one query."""
    ordered = sorted(set(keys))
    for start in range(0, len(ordered), MOST_PARAMETERS):
        yield ordered[start : start + MOST_PARAMETERS]


@dataclass(frozen=True)
class Scope:
    """A part of the store; what lies outside is as if it were not there."""

    tenant: str | None = None
    """The only tenant whose records are seen and written; None for every tenant, for services."""
    texts: bool = True
    """Whether texts are seen; without them, records read as if their texts had been purged."""


EVERYTHING = Scope()
ScopeNow = Callable[[], Scope]
"""Returns the scope of whoever reads at this moment."""


def everything() -> Scope:
    """Return the scope of a service: it sees all there is."""
    return EVERYTHING
