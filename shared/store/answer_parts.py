"""Answers that are incomplete, and counts of answers without a monitor."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Engine,
    and_,
    delete,
    func,
    or_,
    select,
    tuple_,
)

from biaswatch.shared.contracts import UnwatchedSource
from biaswatch.shared.store.engine import (
    ScopeNow,
    everything,
    insert_new,
    read_transaction,
    upsert,
    write_transaction,
)
from biaswatch.shared.store.monitoring_tables import ANSWER_PARTS, UNWATCHED_ANSWERS

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


MOST_READ = 2000
AT_ONCE = 200
Operation = tuple[str, str, str]
"""Tenant, live system, and what names the operation."""


@dataclass(frozen=True)
class WaitingPart:
    """What one signal tells of an answer, as JSON."""

    tenant: str
    source: str
    key: str
    part: str
    """A digest of the signal: one that is sent again is the same."""
    at: datetime
    """When it was taken in."""
    is_span: bool
    answered: bool
    """Whether it says what became of the question."""
    body: str

    @property
    def operation(self) -> Operation:
        """Return what its parts have in common."""
        return self.tenant, self.source, self.key


class AnswerParts:
    """Keeps parts until the operation they belong to is complete; calls block."""

    def __init__(self, engine: Engine, scope: ScopeNow = everything) -> None:
        self._engine = engine
        self._scope = scope

    def keep(self, parts: Iterable[WaitingPart]) -> int:
        """Keep parts; return how many were not there already."""
        rows = [
            {"tenant": each.tenant, "source": each.source, "key": each.key, "part": each.part,
             "at": each.at, "spans": int(each.is_span), "answers": int(each.answered),
             "body": each.body}
            for each in parts
        ]  # fmt: skip
        if not rows:
            return 0
        with write_transaction(self._engine) as connection:
            return len(insert_new(connection, ANSWER_PARTS, rows))

    def settled(self, quiet_since: datetime, deadline: datetime) -> list[list[WaitingPart]]:
        """Return the parts of operations that are complete, or were waited for long enough.

        Complete is an operation of which there are a span and an answer, and nothing has come of it
        since `quiet_since`; of any other, nothing has come since the `deadline`.
        """
        columns, operation = ANSWER_PARTS.c, _operation()
        last = func.max(columns.at)
        complete = and_(func.sum(columns.spans) > 0, func.sum(columns.answers) > 0)
        ended = (
            select(*operation)
            .group_by(*operation)
            .having(or_(last < deadline, and_(complete, last < quiet_since)))
            .order_by(func.min(columns.at))
            .limit(MOST_READ)
            .subquery()
        )
        same = and_(*(ended.c[each.name] == each for each in operation))
        found: dict[Operation, list[WaitingPart]] = {}
        with read_transaction(self._engine) as connection:
            wanted = select(ANSWER_PARTS).join(ended, same).order_by(columns.at)
            for row in connection.execute(wanted):
                part = WaitingPart(
                    row.tenant, row.source, row.key, row.part, row.at,
                    bool(row.spans), bool(row.answers), row.body,
                )  # fmt: skip
                found.setdefault(part.operation, []).append(part)
        return list(found.values())

    def remove(
        self, operations: Sequence[Operation], unwatched: Collection[Operation] = ()
    ) -> None:
        """Remove all parts of operations; those of `unwatched` are counted as such.

        Whoever removes them counts them: two gateways that join the same parts count them once.
        """
        if not operations:
            return
        gone: dict[Operation, datetime] = {}
        with write_transaction(self._engine) as connection:
            for start in range(0, len(operations), AT_ONCE):
                some = operations[start : start + AT_ONCE]
                which = tuple_(*_operation()).in_(some)
                removed = delete(ANSWER_PARTS).where(which)
                for row in connection.execute(removed.returning(*_operation(), ANSWER_PARTS.c.at)):
                    gone[row.tenant, row.source, row.key] = row.at
            counted = gone.keys() & set(unwatched)
            for tenant in sorted({each[0] for each in counted}):
                mine = [each for each in counted if each[0] == tenant]
                sources = Counter(source for _, source, _ in mine)
                count_unwatched(connection, tenant, sources, max(gone[each] for each in mine))

    def purge_units(self, units: Collection[str]) -> int:
        """Remove every part of the operations that are of these units; return how many parts.

        A part is of a unit if it names it, or if the operation is called so.
        """
        columns = ANSWER_PARTS.c
        said = [json.dumps(unit, ensure_ascii=False) for unit in units]
        named = select(*_operation(), columns.body).where(
            or_(*(columns.body.contains(each, autoescape=True) for each in said))
        )
        called = select(*_operation()).where(columns.key.in_(list(units)))
        with read_transaction(self._engine) as connection:
            found = {(row.tenant, row.source, row.key) for row in connection.execute(called)}
            found |= {
                (row.tenant, row.source, row.key)
                for row in connection.execute(named)
                if json.loads(row.body).get("unit") in units
            }
        mine = sorted(found)
        some = (mine[start : start + AT_ONCE] for start in range(0, len(mine), AT_ONCE))
        return self._purge(*(tuple_(*_operation()).in_(each) for each in some))

    def purge_before(self, moment: datetime) -> int:
        """Remove the parts that were taken in before a moment; return how many."""
        return self._purge(ANSWER_PARTS.c.at < moment)

    def _purge(self, *which: ColumnElement[bool]) -> int:
        """Remove what one of the conditions names, in the scope."""
        tenant = self._scope().tenant
        mine = [] if tenant is None else [ANSWER_PARTS.c.tenant == tenant]
        with write_transaction(self._engine) as connection:
            removals = [delete(ANSWER_PARTS).where(each, *mine) for each in which]
            return sum(connection.execute(each).rowcount for each in removals)


def _operation() -> tuple[Column[str], ...]:
    columns = ANSWER_PARTS.c
    return columns.tenant, columns.source, columns.key
