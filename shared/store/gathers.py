"""Gathers: the records that a stage waits for, and until when; each closes exactly once."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from pydantic import JsonValue
from sqlalchemy import ColumnElement, Connection, Select, and_, func, select, update

from biaswatch.shared.contracts import ClosedBy, GatherState, Record
from biaswatch.shared.store.answer_files import AnswerFiles
from biaswatch.shared.store.database import Database, key_chunks
from biaswatch.shared.store.gather_rows import Closing, GatherRows, closing_of, state_of
from biaswatch.shared.store.planning import PlanningCursor, restart
from biaswatch.shared.store.run_tables import GATHER_ITEMS, GATHERS
from biaswatch.shared.store.statements import is_in
from biaswatch.shared.store.tables import RECORDS

PAGE_ITEMS = 5000
"""Arrivals noted in one transaction."""


@dataclass(eq=False)
class Gathers:
    """The gathers of one stage; all state is in the store, so that any process may end."""

    db: Database
    rows: GatherRows
    files: AnswerFiles

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
        """Begin to wait for records; return False if the gather exists.

        Call it before anything requests the records, and pass those that exist as `already`.
        """
        wanted, arrived = set(ids), set(already)
        with self.db.writing() as connection:
            if not self.rows.begin(
                connection, key, len(wanted), deadline=deadline, now=now, context=context
            ):
                return False
            self.rows.expect(connection, key, wanted, arrived, now)
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
        """Begin to wait for a number of records; return False if the gather exists.

        The records are named later with `add`; the cursors tell how far that has got.
        """
        with self.db.writing() as connection:
            if not self.rows.begin(
                connection, key, expected, deadline=deadline, now=now, context=context
            ):
                return False
            if expected:
                restart(connection, cursors)
            else:
                self.rows.close(connection, key, ClosedBy.ARRIVAL, now)
        return True

    def add(self, key: str, ids: Iterable[str], *, already: Iterable[str], now: datetime) -> bool:
        """Name expected records of an open gather; return False if it has closed.

        Records named earlier stay, and count as arrived if they are in `already`.
        """
        wanted, arrived = set(ids), set(already)
        with self.db.writing() as connection:
            if not self.rows.locked_open(connection, key):
                return False
            self.rows.expect(connection, key, wanted, arrived, now)
        return True

    def arrive(self, ids: Iterable[str], now: datetime) -> int:
        """Note the arrival of records; return how many of them this stage does not expect.

        A record counts once, however often it arrives. A record that arrives after its gather
        closed counts as late and changes nothing else.
        """
        unique = set(ids)
        with self.db.writing() as connection:
            expected = [self._arrive(connection, batch, now) for batch in key_chunks(unique)]
        return len(unique.difference(*expected))

    def _arrive(self, connection: Connection, ids: Sequence[str], now: datetime) -> set[str]:
        items = GATHER_ITEMS.c
        # By id alone: with the stage as well, SQLite scans all items of the stage.
        query = select(items.stage, items.key, items.item_id).where(is_in(items.item_id, ids))
        rows = [row for row in connection.execute(query) if row.stage == self.rows.stage]
        pending = and_(is_in(items.item_id, ids), items.arrived_at.is_(None))
        # Lock before counting: of two writers that bring the last two, one must see both.
        for gather in self.rows.locked(connection, sorted({row.key for row in rows})):
            is_late = gather.closed_at is not None
            arrivals = connection.execute(
                update(GATHER_ITEMS)
                .where(self.rows.items(gather.key), pending)
                .values(arrived_at=now, late=is_late)
            ).rowcount
            if is_late:
                self.rows.change(connection, gather.key, late=gather.late + arrivals)
                continue
            self.rows.change(connection, gather.key, arrived=gather.arrived + arrivals)
            if gather.arrived + arrivals == gather.expected:
                self.rows.close(connection, gather.key, ClosedBy.ARRIVAL, now)
        return {row.item_id for row in rows}

    def expire(self, now: datetime) -> int:
        """Close the gathers whose deadline has passed; return how many."""
        overdue = update(GATHERS).where(
            GATHERS.c.stage == self.rows.stage,
            GATHERS.c.closed_at.is_(None),
            GATHERS.c.deadline <= now,
        )
        return self.db.execute(overdue.values(closed_by=ClosedBy.DEADLINE.value, closed_at=now))

    def cancel(self, key: str, now: datetime) -> bool:
        """Close a gather that is no longer needed; return False if it is not open."""
        with self.db.writing() as connection:
            if not self.rows.locked_open(connection, key):
                return False
            self.rows.close(connection, key, ClosedBy.CANCELLATION, now)
        return True

    def reopen(
        self, key: str, *, deadline: datetime, now: datetime, cursors: Sequence[PlanningCursor] = ()
    ) -> bool:
        """Wait again for missing records; return False if none is missing, or the gather is open.

        Late records count from now on. The cursors restart.
        """
        with self.db.writing() as connection:
            gather = next(iter(self.rows.locked(connection, [key])), None)
            if gather is None or not gather.closed_at or gather.arrived == gather.expected:
                return False
            arrived = gather.arrived + gather.late
            self.rows.change(
                connection, key, deadline=deadline, arrived=arrived, late=0,
                closed_at=None, closed_by=None, emitted_at=None, recorded_at=None,
                opening=gather.opening + 1, opened_at=now,
            )  # fmt: skip
            connection.execute(update(GATHER_ITEMS).where(self.rows.items(key)).values(late=False))
            if arrived == gather.expected:
                self.rows.close(connection, key, ClosedBy.ARRIVAL, now)
            else:
                restart(connection, cursors)
        return True

    def open_arrivals(self) -> dict[str, int]:
        """Return the number of arrived records of each open gather, by key."""
        query = select(GATHERS.c.key, GATHERS.c.arrived)
        query = query.where(GATHERS.c.stage == self.rows.stage, GATHERS.c.closed_at.is_(None))
        return {row.key: row.arrived for row in self.db.rows(query.order_by(GATHERS.c.key))}

    def open_keys(self, prefix: str = "") -> list[str]:
        """Return the keys of the open gathers, or those with a prefix."""
        query = select(GATHERS.c.key).where(
            GATHERS.c.stage == self.rows.stage,
            GATHERS.c.closed_at.is_(None),
            GATHERS.c.key.startswith(prefix, autoescape=True),
        )
        return self.db.scalars(query.order_by(GATHERS.c.key))

    def due(self) -> list[Closing]:
        """Return the closings that were not emitted yet, oldest first."""
        return self._closings(GATHERS.c.closed_at.is_not(None), GATHERS.c.emitted_at.is_(None))

    def unrecorded(self) -> list[Closing]:
        """Return the emitted closings whose results are not recorded yet, oldest first."""
        return self._closings(GATHERS.c.emitted_at.is_not(None), GATHERS.c.recorded_at.is_(None))

    def _closings(self, *conditions: ColumnElement[bool]) -> list[Closing]:
        query = select(GATHERS).where(GATHERS.c.stage == self.rows.stage, *conditions)
        query = query.order_by(GATHERS.c.closed_at, GATHERS.c.key)
        return [closing_of(row) for row in self.db.rows(query)]

    def recorded(self, key: str, opening: int, now: datetime) -> None:
        """Note that the results of a closing are recorded, unless it was reopened."""
        same = update(GATHERS).where(self.rows.gather(key), GATHERS.c.opening == opening)
        self.db.execute(same.values(recorded_at=now))

    def emitted(self, key: str, now: datetime) -> None:
        """Note that the closing of a gather was emitted."""
        self.db.execute(update(GATHERS).where(self.rows.gather(key)).values(emitted_at=now))

    def waiting_for(self, key: str) -> list[str]:
        """Return the ids that a gather waits for, or did not receive."""
        query = select(GATHER_ITEMS.c.item_id).where(
            self.rows.items(key), GATHER_ITEMS.c.arrived_at.is_(None)
        )
        return self.db.scalars(query.order_by(GATHER_ITEMS.c.item_id))

    def arrive_recorded(self, key: str, kind: type[Record], now: datetime) -> None:
        """Note the arrival of a run's expected records that the store has, in tables or files.

        It covers records that arrived before they were expected, or whose message was lost.
        """
        items, records = GATHER_ITEMS.c, RECORDS[kind.kind].c
        pending = select(items.item_id).where(self.rows.items(key), items.arrived_at.is_(None))
        recorded = pending.join(RECORDS[kind.kind], records.id == items.item_id)
        while ids := self.db.scalars(recorded.limit(PAGE_ITEMS)):
            self.arrive(ids, now)
        if self.files.any_of(key):
            for page in self._pages(pending):
                if present := self.files.present(kind.kind, page):
                    self.arrive(present, now)

    def opened_at(self, key: str) -> datetime | None:
        """Return when a gather was last opened; None if it does not exist."""
        time: datetime | None = self.db.scalar(
            select(GATHERS.c.opened_at).where(self.rows.gather(key))
        )
        return time

    def arrived(self, key: str, ids: Iterable[str], *, in_time: bool = False) -> set[str]:
        """Return the ids that have arrived, or had arrived when the gather closed."""
        items = GATHER_ITEMS.c
        query = select(items.item_id).where(self.rows.items(key), items.arrived_at.is_not(None))
        query = query.where(items.late.is_(False)) if in_time else query
        return set(self.db.scalars_in(query, items.item_id, ids))

    def unstored(self, key: str, kind: type[Record]) -> int:
        """Count the arrived records that the store lacks."""
        items, records = GATHER_ITEMS.c, RECORDS[kind.kind].c
        stored = select(records.id).where(records.id == items.item_id).exists()
        conditions = (self.rows.items(key), items.arrived_at.is_not(None), ~stored)
        count = select(func.count()).select_from(GATHER_ITEMS).where(*conditions)
        without_row = int(self.db.scalar(count) or 0)
        if not without_row or not self.files.any_of(key):
            return without_row
        pages = self._pages(select(items.item_id).where(*conditions))
        return sum(len(page) - len(self.files.present(kind.kind, page)) for page in pages)

    def known(self, keys: Iterable[str]) -> set[str]:
        """Return the keys that have a gather, open or closed."""
        query = select(GATHERS.c.key).where(GATHERS.c.stage == self.rows.stage)
        return set(self.db.scalars_in(query, GATHERS.c.key, keys))

    def state(self, key: str) -> GatherState | None:
        """Return the state of a gather, or None if it does not exist."""
        return self.states([key]).get(key)

    def states(self, keys: Iterable[str]) -> dict[str, GatherState]:
        """Return the states of the gathers that exist, by key."""
        query = select(GATHERS).where(GATHERS.c.stage == self.rows.stage)
        return {row.key: state_of(row) for row in self.db.rows_in(query, GATHERS.c.key, keys)}

    def late(self, key: str) -> int:
        """Return the number of records that arrived after the gather closed."""
        return int(self.db.scalar(select(GATHERS.c.late).where(self.rows.gather(key))) or 0)

    def _pages(self, query: Select[tuple[str]]) -> Iterator[list[str]]:
        """Return ids of items in order, a page at a time."""
        item_id, last_id = GATHER_ITEMS.c.item_id, ""
        query = query.order_by(item_id).limit(PAGE_ITEMS)
        while page := self.db.scalars(query.where(item_id > last_id)):
            last_id = page[-1]
            yield page
