"""Gathers: which stage waits for which records until when; each closes exactly once."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from pydantic import JsonValue
from sqlalchemy import ColumnElement, Connection, Engine, and_, select, update

from shared.contracts import ClosedBy, GatherState, Record
from shared.store.engine import chunks, insert_new, read_transaction, write_transaction
from shared.store.tables import GATHER_ITEMS, GATHERS, RECORDS


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


class Gathers:
    """The gathers of one stage; all state is in the store, so that any process may end."""

    def __init__(self, engine: Engine, stage: str) -> None:
        self._engine = engine
        self._stage = stage

    def expect(
        self,
        key: str,
        ids: Iterable[str],
        *,
        deadline: datetime,
        now: datetime,
        context: Mapping[str, JsonValue] | None = None,
        already: Iterable[str] = (),
    ) -> bool:
        """Start to wait for these records; return False if that was started before.

        Call it before anything asks for the records, and name those that are `already` there.
        """
        wanted, there = sorted(set(ids)), set(already)
        arrived = sum(id_ in there for id_ in wanted)
        gather = {
            **self._one(key), "context": json.dumps(context or {}), "deadline": deadline,
            "expected": len(wanted), "arrived": arrived, "late": 0, "opened_at": now,
        }  # fmt: skip
        with write_transaction(self._engine) as connection:
            if not insert_new(connection, GATHERS, [gather]):
                return False
            items = [
                {**self._one(key), "item_id": id_, "arrived_at": now if id_ in there else None}
                for id_ in wanted
            ]
            insert_new(connection, GATHER_ITEMS, items)
            if arrived == len(wanted):
                self._close(connection, key, ClosedBy.ARRIVAL, now)
        return True

    def arrive(self, ids: Iterable[str], now: datetime) -> int:
        """Note that records have arrived; return how many of them this stage does not wait for.

        A record counts once, however often it arrives. One that comes after its gather was closed
        is counted as late and changes nothing else.
        """
        unique = set(ids)
        with write_transaction(self._engine) as connection:
            known = set().union(*(self._arrive(connection, some, now) for some in chunks(unique)))
        return len(unique - known)

    def _arrive(self, connection: Connection, ids: Sequence[str], now: datetime) -> set[str]:
        mine = and_(GATHER_ITEMS.c.stage == self._stage, GATHER_ITEMS.c.item_id.in_(ids))
        rows = connection.execute(select(GATHER_ITEMS.c.key, GATHER_ITEMS.c.item_id).where(mine))
        by_key: dict[str, set[str]] = {}
        for row in rows:
            by_key.setdefault(row.key, set()).add(row.item_id)
        # Lock first, count second: of two writers that bring the last two, one must see both.
        for gather in self._locked(connection, sorted(by_key)):
            came = connection.execute(
                update(GATHER_ITEMS)
                .where(
                    mine, GATHER_ITEMS.c.key == gather["key"], GATHER_ITEMS.c.arrived_at.is_(None)
                )
                .values(arrived_at=now, late=gather["closed_at"] is not None)
            ).rowcount
            column = "late" if gather["closed_at"] else "arrived"
            self._set(connection, gather["key"], **{column: gather[column] + came})
            if not gather["closed_at"] and gather["arrived"] + came == gather["expected"]:
                self._close(connection, gather["key"], ClosedBy.ARRIVAL, now)
        return set().union(*by_key.values())

    def expire(self, now: datetime) -> int:
        """Close the gathers whose deadline has passed; return how many."""
        overdue = and_(
            GATHERS.c.stage == self._stage, GATHERS.c.closed_at.is_(None), GATHERS.c.deadline <= now
        )
        with write_transaction(self._engine) as connection:
            closing = {"closed_by": ClosedBy.DEADLINE.value, "closed_at": now}
            return connection.execute(update(GATHERS).where(overdue).values(closing)).rowcount

    def cancel(self, key: str, now: datetime) -> bool:
        """Close a gather that is not needed any more; return False if it is not open."""
        with write_transaction(self._engine) as connection:
            rows = self._locked(connection, [key])
            if not rows or rows[0]["closed_at"]:
                return False
            self._close(connection, key, ClosedBy.CANCELLATION, now)
        return True

    def reopen(self, key: str, *, deadline: datetime, now: datetime) -> bool:
        """Wait again for what is missing; return False if nothing is, or the gather is open.

        Records that came late count from now on.
        """
        with write_transaction(self._engine) as connection:
            rows = self._locked(connection, [key])
            if not rows or not rows[0]["closed_at"] or rows[0]["arrived"] == rows[0]["expected"]:
                return False
            there = rows[0]["arrived"] + rows[0]["late"]
            self._set(
                connection, key, deadline=deadline, arrived=there, late=0,
                closed_at=None, closed_by=None, emitted_at=None, recorded_at=None,
                opening=rows[0]["opening"] + 1, opened_at=now,
            )  # fmt: skip
            mine = and_(GATHER_ITEMS.c.stage == self._stage, GATHER_ITEMS.c.key == key)
            connection.execute(update(GATHER_ITEMS).where(mine).values(late=False))
            if there == rows[0]["expected"]:
                self._close(connection, key, ClosedBy.ARRIVAL, now)
        return True

    def open_keys(self) -> list[str]:
        """Return the keys of the open gathers."""
        mine = and_(GATHERS.c.stage == self._stage, GATHERS.c.closed_at.is_(None))
        with read_transaction(self._engine) as connection:
            query = select(GATHERS.c.key).where(mine).order_by(GATHERS.c.key)
            return list(connection.scalars(query))

    def due(self) -> list[Closing]:
        """Return the closings that have not been emitted yet, oldest first."""
        return self._closings(GATHERS.c.closed_at.is_not(None), GATHERS.c.emitted_at.is_(None))

    def unrecorded(self) -> list[Closing]:
        """Return the closings that were emitted and not yet noted as recorded, oldest first."""
        return self._closings(GATHERS.c.emitted_at.is_not(None), GATHERS.c.recorded_at.is_(None))

    def _closings(self, *which: ColumnElement[bool]) -> list[Closing]:
        mine = select(GATHERS).where(GATHERS.c.stage == self._stage, *which)
        query = mine.order_by(GATHERS.c.closed_at, GATHERS.c.key)
        with read_transaction(self._engine) as connection:
            return [_closing(dict(row)) for row in connection.execute(query).mappings()]

    def recorded(self, key: str, opening: int, now: datetime) -> None:
        """Note that the store has all that followed from a closing, unless it was reopened."""
        same = and_(self._is(key), GATHERS.c.opening == opening)
        with write_transaction(self._engine) as connection:
            connection.execute(update(GATHERS).where(same).values(recorded_at=now))

    def emitted(self, key: str, now: datetime) -> None:
        """Note that the closing of a gather has been emitted."""
        with write_transaction(self._engine) as connection:
            self._set(connection, key, emitted_at=now)

    def waiting_for(self, key: str) -> list[str]:
        """Return the ids that a gather waits for, or did not get."""
        mine = and_(GATHER_ITEMS.c.stage == self._stage, GATHER_ITEMS.c.key == key)
        query = select(GATHER_ITEMS.c.item_id).where(mine, GATHER_ITEMS.c.arrived_at.is_(None))
        with read_transaction(self._engine) as connection:
            return list(connection.scalars(query.order_by(GATHER_ITEMS.c.item_id)))

    def arrive_recorded(self, key: str, kind: type[Record], now: datetime) -> None:
        """Note the arrival of what one gather waits for and the store has already.

        What arrived before it was expected, or whose message was lost, is noted so.
        """
        items, there = GATHER_ITEMS.c, RECORDS[kind.kind].c
        query = select(items.item_id).join(RECORDS[kind.kind], there.id == items.item_id)
        waiting = (items.stage == self._stage, items.key == key, items.arrived_at.is_(None))
        with read_transaction(self._engine) as connection:
            recorded = list(connection.scalars(query.where(*waiting)))
        if recorded:
            self.arrive(recorded, now)

    def opened_at(self, key: str) -> datetime | None:
        """Return when a gather was opened last; None of those from before this was kept."""
        with read_transaction(self._engine) as connection:
            query = select(GATHERS.c.opened_at).where(self._is(key))
            return connection.scalar(query)

    def came_to(self, key: str) -> list[str]:
        """Return the ids that have arrived."""
        return self._arrived(key)

    def came_in_time(self, key: str) -> list[str]:
        """Return the ids that had arrived when a gather was closed; of an open one, up to now."""
        return self._arrived(key, GATHER_ITEMS.c.late.is_(False))

    def _arrived(self, key: str, *which: ColumnElement[bool]) -> list[str]:
        mine = and_(GATHER_ITEMS.c.stage == self._stage, GATHER_ITEMS.c.key == key, *which)
        query = select(GATHER_ITEMS.c.item_id).where(mine, GATHER_ITEMS.c.arrived_at.is_not(None))
        with read_transaction(self._engine) as connection:
            return list(connection.scalars(query.order_by(GATHER_ITEMS.c.item_id)))

    def look(self, key: str) -> GatherState | None:
        """Return the state of a gather, or None if there is none."""
        with read_transaction(self._engine) as connection:
            row = connection.execute(select(GATHERS).where(self._is(key))).mappings().first()
        if row is None:
            return None
        closed_by = ClosedBy(row["closed_by"]) if row["closed_by"] else None
        return GatherState(row["expected"], row["arrived"], row["opening"], closed_by)

    def late(self, key: str) -> int:
        """Count the records that came after the gather was closed."""
        with read_transaction(self._engine) as connection:
            query = select(GATHERS.c.late).where(self._is(key))
            return int(connection.scalar(query) or 0)

    def _one(self, key: str) -> dict[str, str]:
        return {"stage": self._stage, "key": key}

    def _is(self, key: str) -> Any:
        return and_(GATHERS.c.stage == self._stage, GATHERS.c.key == key)

    def _locked(self, connection: Connection, keys: Sequence[str]) -> Sequence[Mapping[str, Any]]:
        """Read and lock gathers; SQLite has locked everything already."""
        query = (
            select(GATHERS)
            .where(GATHERS.c.stage == self._stage, GATHERS.c.key.in_(keys))
            .order_by(GATHERS.c.key)
            .with_for_update()
        )
        return [dict(row) for row in connection.execute(query).mappings()]

    def _set(self, connection: Connection, key: str, **values: object) -> None:
        connection.execute(update(GATHERS).where(self._is(key)).values(**values))

    def _close(self, connection: Connection, key: str, by: ClosedBy, now: datetime) -> None:
        self._set(connection, key, closed_by=by.value, closed_at=now)


def _closing(row: Mapping[str, Any]) -> Closing:
    read = {"context": json.loads(row["context"]), "closed_by": ClosedBy(row["closed_by"])}
    return Closing(**{each.name: row[each.name] for each in fields(Closing)} | read)
