"""Gathers: which stage waits for which records until when; each closes exactly once."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from pydantic import JsonValue
from sqlalchemy import ColumnElement, Connection, Engine, and_, func, select, update

from biaswatch.shared.contracts import ClosedBy, GatherState, Record
from biaswatch.shared.store.answer_files import AnswerFiles
from biaswatch.shared.store.engine import chunks, read_transaction, write_transaction
from biaswatch.shared.store.gather_rows import (
    TOGETHER,
    Closing,
    GatherRows,
    closing_of,
    state_of_row,
)
from biaswatch.shared.store.planning import PlanningCursor, restart
from biaswatch.shared.store.statements import among
from biaswatch.shared.store.tables import GATHER_ITEMS, GATHERS, RECORDS


class Gathers(GatherRows):
    """The gathers of one stage; all state is in the store, so that any process may end."""

    def __init__(self, engine: Engine, stage: str, files: AnswerFiles) -> None:
        super().__init__(engine, stage)
        self._files = files

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
        with write_transaction(self._engine) as connection:
            if not self._begin(connection, key, len(wanted), deadline, now, context):
                return False
            self._expect(connection, key, wanted, there, now)
        return True

    def begin(
        self,
        key: str,
        expected: int,
        *,
        deadline: datetime,
        now: datetime,
        context: Mapping[str, JsonValue],
        cursors: Sequence[PlanningCursor],
    ) -> bool:
        """Start to wait for so many records, which are named later; False if that was done before.

        The cursors tell how far they are named: `add` is called until they are at their end.
        """
        with write_transaction(self._engine) as connection:
            if not self._begin(connection, key, expected, deadline, now, context):
                return False
            if expected:
                restart(connection, cursors)
            else:
                self._close(connection, key, ClosedBy.ARRIVAL, now)
        return True

    def add(self, key: str, ids: Iterable[str], *, already: Iterable[str], now: datetime) -> bool:
        """Name some of what an open gather waits for; return False if it has closed.

        What was named before stays, and has arrived if it is `already` there.
        """
        wanted, there = sorted(set(ids)), set(already)
        with write_transaction(self._engine) as connection:
            rows = self._locked(connection, [key])
            if not rows or rows[0]["closed_at"]:
                return False
            self._expect(connection, key, wanted, there, now)
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
        mine = and_(GATHER_ITEMS.c.stage == self._stage, among(GATHER_ITEMS.c.item_id, ids))
        items = GATHER_ITEMS.c
        # By the id alone: with the stage as well, SQLite goes through all items of the stage.
        rows = select(items.stage, items.key, items.item_id).where(among(items.item_id, ids))
        by_key: dict[str, set[str]] = {}
        for row in connection.execute(rows):
            if row.stage == self._stage:
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

    def reopen(
        self, key: str, *, deadline: datetime, now: datetime, cursors: Sequence[PlanningCursor] = ()
    ) -> bool:
        """Wait again for what is missing; return False if nothing is, or the gather is open.

        Records that came late count from now on. Cursors begin where they are given.
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
            else:
                restart(connection, cursors)
        return True

    def open_arrivals(self) -> dict[str, int]:
        """Return how many records have arrived for each open gather, by its key."""
        mine = (GATHERS.c.stage == self._stage, GATHERS.c.closed_at.is_(None))
        query = select(GATHERS.c.key, GATHERS.c.arrived).where(*mine).order_by(GATHERS.c.key)
        with read_transaction(self._engine) as connection:
            return {row.key: row.arrived for row in connection.execute(query)}

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
            return [closing_of(dict(row)) for row in connection.execute(query).mappings()]

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
        """Note the arrival of what one gather waits for and the store, or a file, has already.

        What arrived before it was expected, or whose message was lost, is noted so. The key is
        that of a run.
        """
        items, there = GATHER_ITEMS.c, RECORDS[kind.kind].c
        query = select(items.item_id).join(RECORDS[kind.kind], there.id == items.item_id)
        waiting = (items.stage == self._stage, items.key == key, items.arrived_at.is_(None))
        recorded = None
        while recorded is None or len(recorded) == TOGETHER:
            with read_transaction(self._engine) as connection:
                recorded = list(connection.scalars(query.where(*waiting).limit(TOGETHER)))
            if recorded:
                self.arrive(recorded, now)
        if self._files.any_of(key):
            for some in self._pages(select(items.item_id).where(*waiting)):
                if there_too := self._files.present(kind.kind, some):
                    self.arrive(there_too, now)

    def opened_at(self, key: str) -> datetime | None:
        """Return when a gather was opened last; None of those from before this was kept."""
        with read_transaction(self._engine) as connection:
            query = select(GATHERS.c.opened_at).where(self._is(key))
            return connection.scalar(query)

    def arrived(self, key: str, ids: Iterable[str], *, in_time: bool = False) -> set[str]:
        """Return which of these ids have arrived, or had when the gather was closed."""
        items = GATHER_ITEMS.c
        mine = [items.stage == self._stage, items.key == key, items.arrived_at.is_not(None)]
        if in_time:
            mine.append(items.late.is_(False))
        found: set[str] = set()
        with read_transaction(self._engine) as connection:
            for some in chunks(ids):
                query = select(items.item_id).where(*mine, among(items.item_id, some))
                found |= set(connection.scalars(query))
        return found

    def unstored(self, key: str, kind: type[Record]) -> int:
        """Count what has arrived and is not in the store."""
        items, there = GATHER_ITEMS.c, RECORDS[kind.kind]
        mine = (items.stage == self._stage, items.key == key, items.arrived_at.is_not(None))
        stored = select(there.c.id).where(there.c.id == items.item_id).exists()
        query = select(func.count()).select_from(GATHER_ITEMS).where(*mine, ~stored)
        with read_transaction(self._engine) as connection:
            no_rows = int(connection.scalar(query) or 0)
        if not no_rows or not self._files.any_of(key):
            return no_rows
        pages = self._pages(select(items.item_id).where(*mine, ~stored))
        return sum(len(some) - len(self._files.present(kind.kind, some)) for some in pages)

    def known(self, keys: Iterable[str]) -> set[str]:
        """Return which of these keys have a gather, open or closed."""
        found: set[str] = set()
        with read_transaction(self._engine) as connection:
            for some in chunks(keys):
                mine = (GATHERS.c.stage == self._stage, among(GATHERS.c.key, some))
                found |= set(connection.scalars(select(GATHERS.c.key).where(*mine)))
        return found

    def look(self, key: str) -> GatherState | None:
        """Return the state of a gather, or None if there is none."""
        with read_transaction(self._engine) as connection:
            row = connection.execute(select(GATHERS).where(self._is(key))).mappings().first()
        return None if row is None else state_of_row(row)

    def looks(self, keys: Iterable[str]) -> dict[str, GatherState]:
        """Return the states of those of these gathers that there are, by key."""
        found: dict[str, GatherState] = {}
        with read_transaction(self._engine) as connection:
            for some in chunks(keys):
                query = select(GATHERS).where(GATHERS.c.stage == self._stage)
                rows = connection.execute(query.where(among(GATHERS.c.key, some))).mappings()
                found |= {row["key"]: state_of_row(row) for row in rows}
        return found

    def late(self, key: str) -> int:
        """Count the records that came after the gather was closed."""
        with read_transaction(self._engine) as connection:
            query = select(GATHERS.c.late).where(self._is(key))
            return int(connection.scalar(query) or 0)
