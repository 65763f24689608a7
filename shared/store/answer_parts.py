"""Parts of answers that wait for the rest, and counts of answers without a monitor."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, and_, case, delete, func, or_, select, tuple_

from biaswatch.shared.contracts import UnwatchedSource
from biaswatch.shared.store.database import Database, insert_new, upsert
from biaswatch.shared.store.monitoring_tables import ANSWER_PARTS, UNWATCHED_ANSWERS

MAX_OPERATIONS = 2000
"""Complete operations that are read together."""
BATCH_OPERATIONS = 200
MAX_SOURCES = 1000
"""Named sources per tenant; a sender may invent any number of names."""
OTHER_SOURCES, NO_SOURCE_NAMED = "(others)", "(no name)"
"""Names for sources beyond `MAX_SOURCES`, and for answers without a source."""
Operation = tuple[str, str, str]
"""Tenant, live system, and key of the operation: its trace, if it has one."""
STEPS = "steps"
"""Digest of the part that holds the spans of a trace that was read, without texts."""
MAX_CHARACTERS, MAX_OPERATION_CHARACTERS = 64 * 1024 * 1024, 16 * 1024 * 1024
"""Characters of parts that are read together, and of one operation."""
PARTS = ANSWER_PARTS.c
OPERATION = (PARTS.tenant, PARTS.source, PARTS.key)


@dataclass(frozen=True)
class WaitingPart:
    """The content of one signal about an answer, as JSON."""

    tenant: str
    source: str
    key: str
    part: str
    """Digest of the signal, which is the same for a repeated one."""
    at: datetime
    """Time of intake."""
    is_span: bool
    answered: bool
    """True if the part has the outcome of the question."""
    body: str
    closes: bool = False
    """True for a span below the root of its trace, all of whose ancestors are known."""

    @property
    def operation(self) -> Operation:
        """Key that the parts of an answer share."""
        return self.tenant, self.source, self.key


class Patience(NamedTuple):
    """Times that decide which operations are read."""

    quiet_since: datetime
    """A complete operation without parts since then is read."""
    deadline: datetime
    """Any operation without parts since then is read."""
    oldest: datetime
    """Any operation whose first part is older is read."""


def _row(part: WaitingPart) -> dict[str, Any]:
    return {
        "tenant": part.tenant, "source": part.source, "key": part.key, "part": part.part,
        "at": part.at, "spans": int(part.is_span), "answers": int(part.answered),
        "closes": int(part.closes), "body": part.body,
    }  # fmt: skip


@dataclass(eq=False)
class AnswerParts:
    """Keeps parts until their operation is complete."""

    db: Database

    def keep(self, parts: Iterable[WaitingPart]) -> int:
        """Keep parts; return the number of new ones."""
        rows = [_row(part) for part in parts]
        return len(self.db.insert_new(ANSWER_PARTS, rows))

    def waiting(self, tenant: str, operations: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
        """Return those of a tenant's operations, by live system and key, that have parts."""
        named = list(operations)
        known: set[tuple[str, str]] = set()
        for start in range(0, len(named), BATCH_OPERATIONS):
            batch = named[start : start + BATCH_OPERATIONS]
            query = select(PARTS.source, PARTS.key).distinct()
            condition = tuple_(PARTS.source, PARTS.key).in_(batch)
            rows = self.db.rows(query.where(PARTS.tenant == tenant, condition))
            known |= {(row.source, row.key) for row in rows}
        return known

    def settled(self, patience: Patience) -> list[list[WaitingPart]]:
        """Return the parts of operations that are complete or timed out, in bounded memory.

        An operation is complete if its root has arrived, every call has an answer, and no part
        arrived since `quiet_since`. Above `MAX_OPERATION_CHARACTERS`, the earliest parts of an
        operation have no body.
        """
        is_part = PARTS.part != STEPS
        last, first = (function(case((is_part, PARTS.at))) for function in (func.max, func.min))
        complete = and_(
            func.sum(PARTS.closes) > 0,
            func.sum(PARTS.answers) > 0,
            func.sum(PARTS.spans) <= func.sum(PARTS.answers),
        )
        is_settled = or_(
            last < patience.deadline,
            first < patience.oldest,
            and_(complete, last < patience.quiet_since),
        )
        ended = select(*OPERATION, func.sum(func.length(PARTS.body)).label("size"))
        ended = ended.group_by(*OPERATION).having(is_settled).order_by(first).limit(MAX_OPERATIONS)
        operations: list[Operation] = []
        size = 0
        for row in self.db.rows(ended):
            size += min(row.size, MAX_OPERATION_CHARACTERS)
            if operations and size > MAX_CHARACTERS:
                break
            operations.append((row.tenant, row.source, row.key))
        starts = range(0, len(operations), BATCH_OPERATIONS)
        return [
            parts for n in starts for parts in self._parts(operations[n : n + BATCH_OPERATIONS])
        ]

    def _parts(self, operations: Sequence[Operation]) -> Iterable[list[WaitingPart]]:
        """Return the parts of operations, in order of arrival."""
        size = func.sum(func.length(PARTS.body)).over(
            partition_by=OPERATION, order_by=(PARTS.at.desc(), PARTS.part)
        )
        ranked = select(ANSWER_PARTS, size.label("size"))
        ranked_rows = ranked.where(tuple_(*OPERATION).in_(operations)).subquery()
        body = case(
            (ranked_rows.c.size <= MAX_OPERATION_CHARACTERS, ranked_rows.c.body), else_=""
        ).label("text")
        by_operation: dict[Operation, list[WaitingPart]] = {key: [] for key in operations}
        for row in self.db.rows(select(ranked_rows, body).order_by(ranked_rows.c.at)):
            part = WaitingPart(
                row.tenant, row.source, row.key, row.part, row.at,
                bool(row.spans), bool(row.answers), row.text, bool(row.closes),
            )  # fmt: skip
            by_operation[part.operation].append(part)
        # Another process may have removed the parts of an operation since it was selected.
        return [
            parts for parts in by_operation.values() if any(part.part != STEPS for part in parts)
        ]

    def remove(
        self,
        parts: Sequence[WaitingPart],
        unwatched: Mapping[Operation, int] = MappingProxyType({}),
        steps: Sequence[WaitingPart] = (),
        oldest: datetime | None = None,
    ) -> None:
        """Remove parts that were read, and count the `unwatched` answers of their operations.

        Only the process that removes the parts counts them, so two gateways count them once.
        `steps` replace the earlier ones of their operation; those before `oldest` are removed.
        """
        with self.db.writing() as connection:
            removed = _deleted(connection, parts)
            _deleted(connection, steps)
            insert_new(connection, ANSWER_PARTS, [_row(part) for part in steps])
            if oldest is not None:
                is_old = and_(PARTS.part == STEPS, PARTS.at < oldest)
                connection.execute(delete(ANSWER_PARTS).where(is_old))
            counted = removed.keys() & unwatched.keys()
            for tenant in sorted({tenant for tenant, _, _ in counted}):
                of_tenant = [operation for operation in counted if operation[0] == tenant]
                sources = Counter[str]()
                for operation in of_tenant:
                    sources[operation[1]] += unwatched[operation]
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


def _deleted(connection: Connection, parts: Sequence[WaitingPart]) -> dict[Operation, datetime]:
    """Delete parts; return the operations of those that were there, with a time of intake."""
    keys = [(*part.operation, part.part) for part in parts]
    removed: dict[Operation, datetime] = {}
    for start in range(0, len(keys), BATCH_OPERATIONS):
        condition = tuple_(*OPERATION, PARTS.part).in_(keys[start : start + BATCH_OPERATIONS])
        statement = delete(ANSWER_PARTS).where(condition).returning(*OPERATION, PARTS.at)
        for row in connection.execute(statement):
            removed[row.tenant, row.source, row.key] = row.at
    return removed


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
    statement = upsert(
        connection,
        UNWATCHED_ANSWERS,
        lambda row: {"answers": columns.answers + row.answers, "last_at": at},
    )
    for name, answers in sorted(counts.items()):
        row = {"tenant": tenant, "source": name, "answers": answers}
        connection.execute(statement, {**row, "first_at": at, "last_at": at})
