"""Rows of gathers as they change within transactions, and their states and closings."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import JsonValue
from sqlalchemy import ColumnElement, Connection, Row, and_, select, update

from biaswatch.shared.contracts import FOLLOWED_UP_FOR, ClosedBy, GatherState
from biaswatch.shared.store.database import insert_new, key_chunks
from biaswatch.shared.store.run_tables import GATHER_ITEMS, GATHERS
from biaswatch.shared.store.statements import insert_missing, is_in


@dataclass(frozen=True)
class Closing:
    """A closed gather: how many records it expected, and how many arrived."""

    stage: str
    key: str
    context: Mapping[str, JsonValue]
    expected: int
    arrived: int
    closed_by: ClosedBy
    closed_at: datetime
    opening: int
    """Number of times the gather was reopened."""


def closing_of(row: Row[tuple[Any, ...]]) -> Closing:
    """Return the closing of a gather."""
    return Closing(
        stage=row.stage,
        key=row.key,
        context=json.loads(row.context),
        expected=row.expected,
        arrived=row.arrived,
        closed_by=ClosedBy(row.closed_by),
        closed_at=row.closed_at,
        opening=row.opening,
    )


def state_of(row: Row[tuple[Any, ...]]) -> GatherState:
    """Return the state of a gather.

    Its results are complete if they were recorded before the follow-up gave up.
    """
    closed_by = ClosedBy(row.closed_by) if row.closed_by else None
    complete = row.recorded_at is not None and row.recorded_at <= row.closed_at + FOLLOWED_UP_FOR
    return GatherState(row.expected, row.arrived, row.opening, closed_by, complete)


@dataclass(frozen=True)
class GatherRows:
    """Reads and changes rows of one stage in the caller's transaction."""

    stage: str

    def gather(self, key: str) -> ColumnElement[bool]:
        """Return the condition that a row is this gather's."""
        return and_(GATHERS.c.stage == self.stage, GATHERS.c.key == key)

    def items(self, key: str) -> ColumnElement[bool]:
        """Return the condition that an item belongs to this gather."""
        return and_(GATHER_ITEMS.c.stage == self.stage, GATHER_ITEMS.c.key == key)

    def begin(
        self,
        connection: Connection,
        key: str,
        expected: int,
        *,
        deadline: datetime,
        now: datetime,
        context: Mapping[str, JsonValue] | None,
    ) -> bool:
        """Insert a gather; return False if it exists."""
        row = {
            "stage": self.stage, "key": key, "context": json.dumps(context or {}),
            "deadline": deadline, "expected": expected, "arrived": 0, "late": 0, "opened_at": now,
        }  # fmt: skip
        return bool(insert_new(connection, GATHERS, [row]))

    def expect(
        self,
        connection: Connection,
        key: str,
        ids: Collection[str],
        arrived: Collection[str],
        now: datetime,
    ) -> None:
        """Add expected items to a locked gather, and count those that have arrived."""
        common = {"stage": self.stage, "key": key}
        rows = [{**common, "item_id": id_, "arrived_at": None} for id_ in sorted(set(ids))]
        insert_missing(connection, GATHER_ITEMS, rows)
        pending = and_(self.items(key), GATHER_ITEMS.c.arrived_at.is_(None))
        newly_arrived: int = sum(
            connection.execute(
                update(GATHER_ITEMS)
                .where(pending, is_in(GATHER_ITEMS.c.item_id, batch))
                .values(arrived_at=now)
            ).rowcount
            for batch in key_chunks(set(arrived).intersection(ids))
        )
        query = select(GATHERS.c.expected, GATHERS.c.arrived).where(self.gather(key))
        row = connection.execute(query).one()
        total = row.arrived + newly_arrived
        if newly_arrived:
            self.change(connection, key, arrived=total)
        if total == row.expected:
            self.close(connection, key, ClosedBy.ARRIVAL, now)

    def locked(self, connection: Connection, keys: Sequence[str]) -> Sequence[Row[tuple[Any, ...]]]:
        """Read and lock gathers; SQLite has one writer, which is this transaction."""
        query = select(GATHERS).where(GATHERS.c.stage == self.stage, is_in(GATHERS.c.key, keys))
        return connection.execute(query.order_by(GATHERS.c.key).with_for_update()).all()

    def locked_open(self, connection: Connection, key: str) -> bool:
        """Lock a gather; return whether it is open."""
        return any(row.closed_at is None for row in self.locked(connection, [key]))

    def change(self, connection: Connection, key: str, **values: object) -> None:
        """Change columns of a gather."""
        connection.execute(update(GATHERS).where(self.gather(key)).values(**values))

    def close(self, connection: Connection, key: str, by: ClosedBy, now: datetime) -> None:
        """Close a gather."""
        self.change(connection, key, closed_by=by.value, closed_at=now)
