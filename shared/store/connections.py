"""Connections to PostgreSQL: bounded waits for answers, and a check after a rest.

A proxy may acknowledge packets that it drops, so no TCP time-out ends the wait for an answer. The
server cancels a statement after `statement_timeout`; longer silence means a dead connection.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

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
"""Default parameters of libpq, in s, except `tcp_user_timeout` in ms; the store's URL overrides.

A vanished server is noticed within 30 s, even while nothing is sent."""
STATEMENT_S = 60.0
"""Default limit of a statement."""
SILENT_AFTER_S = 5.0
"""Time beyond the statement limit before a silent connection counts as dead."""
PING_S = 5.0
"""Limit of a ping."""
RESTED_S = 1.0
"""Idle time after which a pooled connection is pinged before use."""
USED_AT = "used_at"


def connection_parameters(url: URL) -> dict[str, str | int]:
    """Return libpq's parameters that the URL does not set."""
    return {name: value for name, value in CONNECTION.items() if name not in url.query}


def end_silent_connections(engine: Engine, statement_s: float | None) -> None:
    """Limit every statement of an engine, on server and client; None for no limit."""
    from biaswatch.shared.store.answering_connection import AnsweringConnection  # loads psycopg

    def connect(_: Any, __: Any, args: Any, parameters: Any) -> AnsweringConnection:
        connection = AnsweringConnection.connect(*args, **parameters)
        connection.patience_s = PING_S
        if statement_s is not None:
            connection.limit_statements(statement_s)
        connection.patience_s = None if statement_s is None else statement_s + SILENT_AFTER_S
        return connection

    event.listen(engine, "do_connect", connect)


def check_rested_connections(engine: Engine) -> None:
    """Ping pooled connections after a rest, and reopen those that do not answer.

    SQLAlchemy's own `pool_pre_ping` pings at every use; services use connections hundreds of times
    a second, and a ping costs as much as a short query.
    """

    def check_in(_: DBAPIConnection | None, entry: ConnectionPoolEntry) -> None:
        entry.info[USED_AT] = time.monotonic()

    def check_out(connection: DBAPIConnection, entry: ConnectionPoolEntry, _: Any) -> None:
        used_at = entry.info.get(USED_AT)
        if used_at is None or time.monotonic() - used_at < RESTED_S:
            return
        if not _answers(engine, connection):
            raise InvalidatePoolError  # the pool reopens this connection now, the others on use

    event.listen(engine, "checkin", check_in)
    event.listen(engine, "checkout", check_out)


def _answers(engine: Engine, connection: DBAPIConnection) -> bool:
    try:
        with _ping_limit(connection):
            return engine.dialect.do_ping(connection)
    except engine.dialect.loaded_dbapi.Error as error:
        if engine.dialect.is_disconnect(error, connection, None):
            return False
        raise


@contextmanager
def _ping_limit(connection: Any) -> Iterator[None]:
    patience_s = connection.patience_s
    connection.patience_s = PING_S
    try:
        yield
    finally:
        connection.patience_s = patience_s
