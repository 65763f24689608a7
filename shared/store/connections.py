"""Connections to PostgreSQL: bounded waits, and a check after a rest."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from psycopg import Connection as PsycopgConnection
from psycopg import Error, OperationalError
from psycopg.errors import _WaitTimeout
from sqlalchemy import Engine, event
from sqlalchemy.engine import URL
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import InvalidatePoolError
from sqlalchemy.pool import ConnectionPoolEntry

CONNECTION: dict[str, str | int] = {
    "connect_timeout": 5,
    "client_encoding": "utf8",  # a database created without a locale has none
    "keepalives": 1,
    "keepalives_idle": 15,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
"""Parameters of libpq, in s, but `tcp_user_timeout` in ms; what the store's URL says counts more.

A server that has vanished is noticed within 30 s, also while nothing is sent."""
STATEMENT_S = 60.0
"""How long a statement may take, unless a setting says otherwise."""
SILENT_AFTER_S = 5.0
"""How much longer than a statement may take its answer may take."""
INTERRUPTED_EVERY_S = 0.1
"""How often a wait looks for Ctrl-C, as psycopg's own does."""
PING_S = 5.0
"""How long the answer to a ping may take."""


class AnsweringConnection(PsycopgConnection[Any]):
    """A connection that is closed with an error where an answer takes longer than `patience_s`."""

    patience_s: float | None = None

    def wait(
        self, gen: Any, interval: float = INTERRUPTED_EVERY_S, timeout: float | None = None
    ) -> Any:
        """Wait for an answer as psycopg does, but not for ever."""
        patience_s = self.patience_s if timeout is None else timeout
        try:
            return super().wait(gen, interval, patience_s)
        except _WaitTimeout:
            if timeout is not None:  # psycopg asked for it, and handles it
                raise
            self.pgconn.finish()
            raise OperationalError(
                f"the database has not answered for {patience_s:g} s; the connection is closed"
            ) from None


def connection_parameters(url: URL) -> dict[str, str | int]:
    """Return libpq's parameters, without those that the URL gives."""
    return {name: value for name, value in CONNECTION.items() if name not in url.query}


def end_silent_connections(engine: Engine, statement_s: float | None) -> None:
    """Bound every statement of an engine, at the server and here; None bounds neither."""

    def connect(_: Any, __: Any, args: Any, parameters: Any) -> AnsweringConnection:
        connection = AnsweringConnection.connect(*args, **parameters)
        connection.patience_s = PING_S
        if statement_s is not None:
            _bound_statements(connection, statement_s)
        connection.patience_s = None if statement_s is None else statement_s + SILENT_AFTER_S
        return connection

    event.listen(engine, "do_connect", connect)


def _bound_statements(connection: AnsweringConnection, statement_s: float) -> None:
    """Tell the server; a pooler may refuse this as a parameter of the connection.

    The server also ends a transaction that is idle for as long: the locks of a connection that
    died silently would otherwise stop every other connection.
    """
    limit_ms = round(statement_s * 1000)
    try:
        connection.execute(
            f"SET statement_timeout = {limit_ms};"
            f" SET idle_in_transaction_session_timeout = {limit_ms}"
        )
        connection.commit()
    except Error:
        connection.close()
        raise


@contextmanager
def pinging(connection: Any) -> Iterator[None]:
    """Wait for answers no longer than for a ping, in the block."""
    patience_s = connection.patience_s
    connection.patience_s = PING_S
    try:
        yield
    finally:
        connection.patience_s = patience_s


RESTED_S = 1.0
"""A connection that was in use so short a time ago is used without being tried."""
USED_AT = "used_at"


def try_rested_connections(engine: Engine) -> None:
    """Have the pool of an engine try what has rested, and open anew what does not answer."""

    def leave(_: DBAPIConnection | None, entry: ConnectionPoolEntry) -> None:
        entry.info[USED_AT] = time.monotonic()

    def take(connection: DBAPIConnection, entry: ConnectionPoolEntry, _: Any) -> None:
        used_at = entry.info.get(USED_AT)
        if used_at is None or time.monotonic() - used_at < RESTED_S:
            return
        if not _answers(engine, connection):
            raise InvalidatePoolError  # the pool opens this one anew, and the others at their use

    event.listen(engine, "checkin", leave)
    event.listen(engine, "checkout", take)


def _answers(engine: Engine, connection: DBAPIConnection) -> bool:
    try:
        with pinging(connection):
            return engine.dialect.do_ping(connection)
    except engine.dialect.loaded_dbapi.Error as error:
        if engine.dialect.is_disconnect(error, connection, None):
            return False
        raise
