"""Availability check of the database over a separate connection."""

from sqlalchemy import Engine, text

from biaswatch.shared.errors import TransientError
from biaswatch.shared.store.answering_connections import PING_S
from biaswatch.shared.store.engine import engine_of, read_transaction

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
