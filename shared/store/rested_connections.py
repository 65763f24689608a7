"""Connections to a database are tried before use where they have rested: it may have restarted.

SQLAlchemy's own `pool_pre_ping` tries each at every use. Services use theirs hundreds of times a
second, and the answer to a try costs as much as that to a short query.
"""

import time
from typing import Any

from sqlalchemy import Engine, event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import InvalidatePoolError
from sqlalchemy.pool import ConnectionPoolEntry

from biaswatch.shared.store.answering_connections import pinging

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
