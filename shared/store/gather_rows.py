"""Rows of gathers, and their states and closings."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from pydantic import JsonValue
from sqlalchemy import Connection, Engine, Select, and_, select, update

from biaswatch.shared.contracts import FOLLOWED_UP_FOR, ClosedBy, GatherState
from biaswatch.shared.store.engine import chunks, insert_new, read_transaction
from biaswatch.shared.store.statements import among, insert_missing
from biaswatch.shared.store.tables import GATHER_ITEMS, GATHERS

TOGETHER = 5000
"""How many arrivals are noted in one transaction."""


class GatherRows:
    """Reads and changes rows; whoever calls opens the transaction."""

    def __init__(self, engine: Engine, stage: str) -> None:
        self._engine = engine
        self._stage = stage

    def _begin(
        self,
        connection: Connection,
        key: str,
        expected: int,
        deadline: datetime,
        now: datetime,
        context: Mapping[str, JsonValue] | None,
    ) -> bool:
        gather = {
            **self._one(key), "context": json.dumps(context or {}), "deadline": deadline,
            "expected": expected, "arrived": 0, "late": 0, "opened_at": now,
        }  # fmt: skip
        return bool(insert_new(connection, GATHERS, [gather]))

    def _expect(
        self,
        connection: Connection,
        key: str,
        wanted: Sequence[str],
        there: set[str],
        now: datetime,
    ) -> None:
        """Write down what is waited for, and count what of it has arrived; the gather is locked."""
        items = [{**self._one(key), "item_id": id_, "arrived_at": None} for id_ in wanted]
        insert_missing(connection, GATHER_ITEMS, items)
        mine = and_(
            GATHER_ITEMS.c.stage == self._stage,
            GATHER_ITEMS.c.key == key,
            GATHER_ITEMS.c.arrived_at.is_(None),
        )
        came: int = sum(
            connection.execute(
                update(GATHER_ITEMS)
                .where(mine, among(GATHER_ITEMS.c.item_id, some))
                .values(arrived_at=now)
            ).rowcount
            for some in chunks(there.intersection(wanted))
        )
        arrived = select(GATHERS.c.expected, GATHERS.c.arrived).where(self._is(key))
        row = connection.execute(arrived).one()
        if came:
            self._set(connection, key, arrived=row.arrived + came)
        if row.arrived + came == row.expected:
            self._close(connection, key, ClosedBy.ARRIVAL, now)

    def _pages(self, query: Select[tuple[str]]) -> Iterator[list[str]]:
        """Return ids of items in their order, some at a time."""
        last, some = "", [""]
        while some:
            page = query.where(GATHER_ITEMS.c.item_id > last).order_by(GATHER_ITEMS.c.item_id)
            with read_transaction(self._engine) as connection:
                some = list(connection.scalars(page.limit(TOGETHER)))
            if some:
                last = some[-1]
                yield some

    def _one(self, key: str) -> dict[str, str]:
        return {"stage": self._stage, "key": key}

    def _is(self, key: str) -> Any:
        return and_(GATHERS.c.stage == self._stage, GATHERS.c.key == key)

    def _locked(self, connection: Connection, keys: Sequence[str]) -> Sequence[Mapping[str, Any]]:
        """Read and lock gathers; SQLite has locked everything already."""
        query = (
            select(GATHERS)
            .where(GATHERS.c.stage == self._stage, among(GATHERS.c.key, keys))
            .order_by(GATHERS.c.key)
            .with_for_update()
        )
        return [dict(row) for row in connection.execute(query).mappings()]

    def _set(self, connection: Connection, key: str, **values: object) -> None:
        connection.execute(update(GATHERS).where(self._is(key)).values(**values))

    def _close(self, connection: Connection, key: str, by: ClosedBy, now: datetime) -> None:
        self._set(connection, key, closed_by=by.value, closed_at=now)


@dataclass(frozen=True)
class Closing:
    """A closed gather: what was expected, and how much of it arrived."""

    stage: str
    key: str
    context: Mapping[str, JsonValue]
    expected: int
    arrived: int
    closed_by: ClosedBy
    closed_at: datetime
    opening: int
    """How often the gather was reopened."""


def closing_of(row: Mapping[str, Any]) -> Closing:
    """Return the closing of a gather from its row."""
    read = {"context": json.loads(row["context"]), "closed_by": ClosedBy(row["closed_by"])}
    return Closing(**{each.name: row[each.name] for each in fields(Closing)} | read)


def state_of_row(row: Mapping[Any, Any]) -> GatherState:
    """Return the state of a gather from its row.

    One that was given up without all that follows from it is noted later than what was found.
    """
    closed_by = ClosedBy(row["closed_by"]) if row["closed_by"] else None
    closed_at, noted_at = row["closed_at"], row["recorded_at"]
    followed_up = noted_at is not None and noted_at <= closed_at + FOLLOWED_UP_FOR
    return GatherState(row["expected"], row["arrived"], row["opening"], closed_by, followed_up)
