"""Suites by their hash: a run names one, which never changes."""

from datetime import datetime

from sqlalchemy import Engine, select

from shared.contracts import Suite
from shared.store.engine import insert_new, read_transaction, write_transaction
from shared.store.tables import SUITES


class Suites:
    """Suites by hash."""

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
