"""Parts of answers that wait for the rest: a span for its log events, or events for their span."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Column, ColumnElement, Engine, and_, delete, func, or_, select, tuple_

from biaswatch.shared.store.engine import insert_new, read_transaction, write_transaction
from biaswatch.shared.store.scope import ScopeNow, everything
from biaswatch.shared.store.traffic_tables import ANSWER_PARTS
from biaswatch.shared.store.unwatched_answers import count_unwatched

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
