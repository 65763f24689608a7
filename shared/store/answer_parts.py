"""Parts of answers that wait for the rest, and counts of answers without a monitor."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, and_, delete, func, or_, select, tuple_

from biaswatch.shared.contracts import UnwatchedSource
from biaswatch.shared.store.database import Database, upsert
from biaswatch.shared.store.monitoring_tables import ANSWER_PARTS, UNWATCHED_ANSWERS

MAX_OPERATIONS = 2000
"""Complete operations that are read together."""
BATCH_OPERATIONS = 200
MAX_SOURCES = 1000
"""Named sources per tenant; a sender may invent any number of names."""
OTHER_SOURCES, NO_SOURCE_NAMED = "(others)", "(no name)"
"""Names for sources beyond `MAX_SOURCES`, and for answers without a source."""
Operation = tuple[str, str, str]
"""Tenant, live system, and key of the operation."""
PARTS = ANSWER_PARTS.c
OPERATION = (PARTS.tenant, PARTS.source, PARTS.key)


@dataclass(frozen=True)
class WaitingPart:
    """The content of one signal about an answer, as JSON."""

    tenant: str
    source: str
    key: str
    part: str
    """Digest of the signal; a repeated signal has the same."""
    at: datetime
    """Time of intake."""
    is_span: bool
    answered: bool
    """True if the part has the outcome of the question."""
    body: str

    @property
    def operation(self) -> Operation:
        """Key that the parts of an answer share."""
        return self.tenant, self.source, self.key


@dataclass(eq=False)
class AnswerParts:
    """Keeps parts until their operation is complete."""

    db: Database

    def keep(self, parts: Iterable[WaitingPart]) -> int:
        """Keep parts; return the number of new ones."""
        rows = [
            {"tenant": part.tenant, "source": part.source, "key": part.key, "part": part.part,
             "at": part.at, "spans": int(part.is_span), "answers": int(part.answered),
             "body": part.body}
            for part in parts
        ]  # fmt: skip
        return len(self.db.insert_new(ANSWER_PARTS, rows)) if rows else 0

    def settled(self, quiet_since: datetime, deadline: datetime) -> list[list[WaitingPart]]:
        """Return the parts of operations that are complete or timed out.

        An operation is complete if it has a span and an answer, and no part arrived since
        `quiet_since`. It timed out if no part arrived since the `deadline`.
        """
        last = func.max(PARTS.at)
        complete = and_(func.sum(PARTS.spans) > 0, func.sum(PARTS.answers) > 0)
        ended = (
            select(*OPERATION)
            .group_by(*OPERATION)
            .having(or_(last < deadline, and_(complete, last < quiet_since)))
            .order_by(func.min(PARTS.at))
            .limit(MAX_OPERATIONS)
            .subquery()
        )
        same = and_(*(ended.c[column.name] == column for column in OPERATION))
        by_operation: dict[Operation, list[WaitingPart]] = {}
        for row in self.db.rows(select(ANSWER_PARTS).join(ended, same).order_by(PARTS.at)):
            part = WaitingPart(
                row.tenant, row.source, row.key, row.part, row.at,
                bool(row.spans), bool(row.answers), row.body,
            )  # fmt: skip
            by_operation.setdefault(part.operation, []).append(part)
        return list(by_operation.values())

    def remove(
        self, operations: Sequence[Operation], unwatched: Collection[Operation] = ()
    ) -> None:
        """Remove all parts of operations, and count those of `unwatched`.

        Only the process that removes the parts counts them, so two gateways count them once.
        """
        removed: dict[Operation, datetime] = {}
        with self.db.writing() as connection:
            for start in range(0, len(operations), BATCH_OPERATIONS):
                condition = tuple_(*OPERATION).in_(operations[start : start + BATCH_OPERATIONS])
                statement = delete(ANSWER_PARTS).where(condition).returning(*OPERATION, PARTS.at)
                for row in connection.execute(statement):
                    removed[row.tenant, row.source, row.key] = row.at
            counted = removed.keys() & set(unwatched)
            for tenant in sorted({tenant for tenant, _, _ in counted}):
                of_tenant = [operation for operation in counted if operation[0] == tenant]
                sources = Counter(source for _, source, _ in of_tenant)
                latest = max(removed[operation] for operation in of_tenant)
                count_unwatched(connection, tenant, sources, latest)

    def purge_units(self, units: Collection[str]) -> int:
        """Remove every part of the operations of units; return the number of parts.

        An operation belongs to a unit if a part names the unit, or if its key is the unit.
        """
        quoted = [json.dumps(unit, ensure_ascii=False) for unit in units]
        naming = select(*OPERATION, PARTS.body).where(
            or_(*(PARTS.body.contains(text, autoescape=True) for text in quoted))
        )
        keyed = select(*OPERATION).where(PARTS.key.in_(list(units)))
        operations = {(row.tenant, row.source, row.key) for row in self.db.rows(keyed)}
        operations |= {
            (row.tenant, row.source, row.key)
            for row in self.db.rows(naming)
            if json.loads(row.body).get("unit") in units
        }
        ordered = sorted(operations)
        starts = range(0, len(ordered), BATCH_OPERATIONS)
        return self._purge(
            *(tuple_(*OPERATION).in_(ordered[n : n + BATCH_OPERATIONS]) for n in starts)
        )

    def purge_before(self, time: datetime) -> int:
        """Remove the parts that arrived before a time; return their number."""
        return self._purge(PARTS.at < time)

    def _purge(self, *conditions: ColumnElement[bool]) -> int:
        """Remove the parts of the scope that match one of the conditions."""
        visible = self.db.visible(ANSWER_PARTS)
        with self.db.writing() as connection:
            return sum(
                connection.execute(delete(ANSWER_PARTS).where(condition, *visible)).rowcount
                for condition in conditions
            )


@dataclass(eq=False)
class UnwatchedAnswers:
    """Counts of answers by live system; a reader with a tenant sees that tenant's only."""

    db: Database

    def count(self, tenant: str, by_source: Mapping[str, int], at: datetime) -> None:
        """Add answers that no monitor watched; an empty name means no source."""
        with self.db.writing() as connection:
            count_unwatched(connection, tenant, by_source, at)

    def read(self) -> list[UnwatchedSource]:
        """Return every live system with unwatched answers, by name."""
        query = select(UNWATCHED_ANSWERS).where(*self.db.visible(UNWATCHED_ANSWERS))
        query = query.order_by(UNWATCHED_ANSWERS.c.tenant, UNWATCHED_ANSWERS.c.source)
        return [UnwatchedSource(**row._asdict()) for row in self.db.rows(query)]


def count_unwatched(
    connection: Connection, tenant: str, by_source: Mapping[str, int], at: datetime
) -> None:
    """Add to the counts of a tenant in a transaction."""
    columns = UNWATCHED_ANSWERS.c
    known = set(connection.scalars(select(columns.source).where(columns.tenant == tenant)))
    counts = Counter[str]()
    for source, answers in by_source.items():
        name = source or NO_SOURCE_NAMED
        if name not in known and len(known) >= MAX_SOURCES:
            name = OTHER_SOURCES
        known.add(name)
        counts[name] += answers
    for name, answers in sorted(counts.items()):
        row = {"tenant": tenant, "source": name, "answers": answers}
        statement = upsert(connection, UNWATCHED_ANSWERS).values(**row, first_at=at, last_at=at)
        total = columns.answers + statement.excluded.answers
        connection.execute(
            statement.on_conflict_do_update(
                index_elements=["tenant", "source"], set_={"answers": total, "last_at": at}
            )
        )
