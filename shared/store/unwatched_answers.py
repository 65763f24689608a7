"""How many answers were sent in of live systems that nobody watched: numbers, no answers."""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import Connection, Engine, select

from biaswatch.shared.contracts import UnwatchedSource
from biaswatch.shared.store.engine import read_transaction, upsert, write_transaction
from biaswatch.shared.store.scope import ScopeNow, everything
from biaswatch.shared.store.traffic_tables import UNWATCHED_ANSWERS

MOST_SOURCES = 1000
"""Of one tenant, by name: a sender may invent as many names as it likes."""
OTHER_SOURCES, NO_SOURCE_NAMED = "(others)", "(no name)"
"""In place of a name: of the systems beyond `MOST_SOURCES`, and of answers that name no system."""
_COLUMNS = UNWATCHED_ANSWERS.c


class UnwatchedAnswers:
    """The counts of all live systems; people see those of their own tenant alone."""

    def __init__(self, engine: Engine, scope: ScopeNow = everything) -> None:
        self._engine = engine
        self._scope = scope

    def count(self, tenant: str, by_source: Mapping[str, int], at: datetime) -> None:
        """Add what was sent in at a moment and nobody watched; an empty name names no system."""
        with write_transaction(self._engine) as connection:
            count_unwatched(connection, tenant, by_source, at)

    def read(self) -> list[UnwatchedSource]:
        """Return every live system of which something came that nobody watched, by name."""
        query = select(UNWATCHED_ANSWERS).order_by(_COLUMNS.tenant, _COLUMNS.source)
        if (tenant := self._scope().tenant) is not None:
            query = query.where(_COLUMNS.tenant == tenant)
        with read_transaction(self._engine) as connection:
            return [UnwatchedSource(**row) for row in connection.execute(query).mappings()]


def count_unwatched(
    connection: Connection, tenant: str, by_source: Mapping[str, int], at: datetime
) -> None:
    """Add to the counts of a tenant within a transaction."""
    for source, answers in sorted(_named(connection, tenant, by_source).items()):
        row = {"tenant": tenant, "source": source, "answers": answers}
        statement = upsert(connection, UNWATCHED_ANSWERS).values(**row, first_at=at, last_at=at)
        changed = {"answers": _COLUMNS.answers + statement.excluded.answers, "last_at": at}
        connection.execute(
            statement.on_conflict_do_update(index_elements=["tenant", "source"], set_=changed)
        )


def _named(connection: Connection, tenant: str, by_source: Mapping[str, int]) -> dict[str, int]:
    """Return the counts by the names under which they are kept."""
    mine = select(_COLUMNS.source).where(_COLUMNS.tenant == tenant)
    known = set(connection.scalars(mine))
    found = Counter[str]()
    for source, answers in by_source.items():
        name = source or NO_SOURCE_NAMED
        if name not in known and len(known) >= MOST_SOURCES:
            name = OTHER_SOURCES
        known.add(name)
        found[name] += answers
    return found
