"""A connection of psycopg that ends where the server answers no more."""

from typing import Any

from psycopg import Connection, Error, OperationalError
from psycopg.errors import _WaitTimeout

INTERRUPTED_EVERY_S = 0.1
"""Interval at which a wait checks for Ctrl-C, as in psycopg."""


class AnsweringConnection(Connection[Any]):
    """A connection that closes with an error if an answer takes longer than `patience_s`."""

    patience_s: float | None = None

    def wait(
        self, gen: Any, interval: float = INTERRUPTED_EVERY_S, timeout: float | None = None
    ) -> Any:
        """Wait for an answer as psycopg does, for a limited time."""
        patience_s = self.patience_s if timeout is None else timeout
        try:
            return super().wait(gen, interval, patience_s)
        except _WaitTimeout:
            if timeout is not None:  # psycopg handles its own time-outs
                raise
            self.pgconn.finish()
            raise OperationalError(
                f"the database has not answered for {patience_s:g} s; the connection is closed"
            ) from None

    def limit_statements(self, limit_s: float) -> None:
        """Set the limits by a statement, because a pooler may refuse them as connection parameters.

        The limit of idle transactions releases the locks of a connection that died silently.
        """
        limit_ms = round(limit_s * 1000)
        try:
            self.execute(
                f"SET statement_timeout = {limit_ms};"
                f" SET idle_in_transaction_session_timeout = {limit_ms}"
            )
            self.commit()
        except Error:
            self.close()
            raise
