"""Monitors: definitions, schedule, closed rounds and enrolled units."""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from threading import Lock
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Row, and_, func, select, update

from biaswatch.shared.contracts import (
    Description,
    Monitor,
    Purpose,
    Round,
    Run,
    ScheduledMonitor,
    derived_id,
)
from biaswatch.shared.contracts.identity import DEFAULT_TENANT
from biaswatch.shared.store.database import Database, insert_new, lock_number
from biaswatch.shared.store.monitoring_tables import ENROLLED_UNITS, SCHEDULE
from biaswatch.shared.store.records import Records
from biaswatch.shared.store.tables import RECORDS

_CHANGING = Lock()
"""Held before a connection is, as the waiting threads would hold all of them."""
CACHED_BODIES = 5000
"""Monitors and runs that are kept decoded; the schedule is read every second."""
K = TypeVar("K", Round, Description)


@dataclass(eq=False)
class MonitorDefinitions:
    """Definitions of monitors; each change is a record, and the latest counts."""

    db: Database
    records: Records

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Let one thread of one process at a time count a tenant's monitors and add one."""
        with _CHANGING, ExitStack() as stack:
            if self.db.engine.dialect.name == "postgresql":  # SQLite has one gateway
                connection = stack.enter_context(self.db.writing())
                number = lock_number(derived_id("monitors", self.db.tenant))
                connection.execute(select(func.pg_advisory_xact_lock(number)))
            yield

    def latest(self, name: str | None = None) -> list[Monitor]:
        """Return the latest definition of each monitor, or of one, oldest first.

        Deleted monitors are included. Definitions are never backdated, so the database selects
        the latest ones and the others are never read.
        """
        monitors = RECORDS[Monitor.kind]
        columns = monitors.c
        of_name = [] if name is None else [columns.name == name]
        latest = (
            select(columns.tenant, columns.name, func.max(columns.at).label("at"))
            .where(*self.db.visible(monitors), *of_name)
            .group_by(columns.tenant, columns.name)
            .subquery()
        )
        same = and_(*(columns[name] == latest.c[name] for name in ("tenant", "name", "at")))
        ids = self.db.scalars(select(columns.id).join(latest, same))
        ordered = sorted(self.records.get(Monitor, ids), key=lambda monitor: monitor.moment_ms)
        return list({(monitor.tenant, monitor.name): monitor for monitor in ordered}.values())


@dataclass(eq=False)
class Schedule:
    """The schedule of all monitors; an update names the round it starts from, so one wins."""

    db: Database

    def put(self, monitor: Monitor) -> bool:
        """Schedule a definition of a monitor; return False if a later one is scheduled.

        Another plan under the same name starts with round 0, or where it stopped earlier. A change
        of the upkeep only keeps the rounds.
        """
        fresh = {
            "moment_ms": monitor.moment_ms,
            "monitor_id": monitor.monitor_id,
            "monitor": monitor.model_dump_json(exclude={"id"}),
        }
        key = {"tenant": monitor.tenant, "name": monitor.name}
        with self.db.writing() as connection:
            rounds = RECORDS[Round.kind].c
            closed = select(func.count()).where(rounds.monitor_id == monitor.monitor_id)
            next_round = int(connection.scalar(closed) or 0)
            start = {"next_round": next_round, "due_at": monitor.since, "run": None, "ended": None}
            if insert_new(connection, SCHEDULE, [{**key, **fresh, **start}]):
                return True
            query = select(SCHEDULE).where(_named(**key)).with_for_update()
            row = connection.execute(query).one()
            if row.moment_ms >= monitor.moment_ms:
                return False
            if row.monitor_id == monitor.monitor_id:
                start = {"due_at": min(row.due_at, monitor.since), "ended": None}
            connection.execute(update(SCHEDULE).where(_named(**key)).values(**fresh, **start))
        return True

    def monitors(self) -> list[ScheduledMonitor]:
        """Return all monitors, by tenant and name."""
        query = select(SCHEDULE).order_by(SCHEDULE.c.tenant, SCHEDULE.c.name)
        return [_scheduled(row) for row in self.db.rows(query)]

    def get(self, name: str, tenant: str = DEFAULT_TENANT) -> ScheduledMonitor | None:
        """Return a tenant's monitor of this name, or None."""
        rows = self.db.rows(select(SCHEDULE).where(_named(tenant, name)))
        return _scheduled(rows[0]) if rows else None

    def begin(self, scheduled: ScheduledMonitor, run: Run, due_at: datetime) -> bool:
        """Start the next round; return False if another process has started it."""
        body = run.model_dump_json(exclude={"id"})
        return self._move(scheduled, next_round=scheduled.next_round + 1, due_at=due_at, run=body)

    def end(self, scheduled: ScheduledMonitor, why: str) -> bool:
        """End a monitor; return False if another process has moved it."""
        return self._move(scheduled, ended=why)

    def _move(self, scheduled: ScheduledMonitor, **values: object) -> bool:
        unchanged = (
            _named(scheduled.monitor.tenant, scheduled.monitor.name),
            SCHEDULE.c.moment_ms == scheduled.monitor.moment_ms,
            SCHEDULE.c.next_round == scheduled.next_round,
        )
        return self.db.execute(update(SCHEDULE).where(*unchanged).values(**values)) == 1


def _named(tenant: str, name: str) -> ColumnElement[bool]:
    return and_(SCHEDULE.c.tenant == tenant, SCHEDULE.c.name == name)


def _scheduled(row: Row[tuple[Any, ...]]) -> ScheduledMonitor:
    return ScheduledMonitor(
        monitor=_monitor_of(row.monitor),
        next_round=row.next_round,
        due_at=row.due_at,
        run=_run_of(row.run) if row.run else None,
        ended=row.ended,
    )


@lru_cache(CACHED_BODIES)
def _monitor_of(body: str) -> Monitor:
    return Monitor.model_validate_json(body)


@lru_cache(CACHED_BODIES)
def _run_of(body: str) -> Run:
    return Run.model_validate_json(body)


@dataclass(eq=False)
class ClosedRounds:
    """Finds rounds by number: they close in order, from 0, without gaps.

    The number of closed rounds therefore names the last one, and reading it takes constant time.
    """

    records: Records

    def closed(self, monitor: Monitor) -> int:
        """Return the number of closed rounds."""
        return self.records.count(Round, monitor_id=monitor.monitor_id)

    def get(self, monitor: Monitor, number: int) -> Round | None:
        """Return a round, or None if it has not closed."""
        return next(self.records.get(Round, [_id_of(Round, monitor, number)]), None)

    def last(self, monitor: Monitor) -> Round | None:
        """Return the last closed round; None before the first."""
        return self.get(monitor, self.closed(monitor) - 1)

    def last_of(self, monitors: Iterable[Monitor]) -> dict[str, Round]:
        """Return the last closed round of each monitor that has any, by monitor id."""
        by_id = {monitor.monitor_id: monitor for monitor in monitors}
        closed = self.records.count_by(Round, "monitor_id", by_id)
        ids = [_id_of(Round, by_id[key], number - 1) for key, number in closed.items()]
        return {round_.monitor_id: round_ for round_ in self.records.get(Round, ids)}

    def latest(self, kind: type[K], monitor: Monitor, limit: int) -> list[K]:
        """Return the records of the latest rounds, in order."""
        return self.latest_of(kind, [(monitor, self.closed(monitor))], limit)

    def latest_of(
        self, kind: type[K], closed: Iterable[tuple[Monitor, int]], limit: int
    ) -> list[K]:
        """Return those of several monitors with their numbers of closed rounds, in one query."""
        ids = [
            _id_of(kind, monitor, number)
            for monitor, end in closed
            for number in range(max(0, end - limit), end)
        ]
        return sorted(self.records.get(kind, ids), key=lambda record: record.round)


def _id_of(kind: type[K], monitor: Monitor, number: int) -> str:
    purpose = Purpose.MONITOR if monitor.plan.traffic is None else Purpose.PRODUCTION
    return derived_id(kind.kind, monitor.tenant, purpose, monitor.monitor_id, number)


@dataclass(eq=False)
class EnrolledUnits:
    """First appearances of units; names of users are stored as digests only."""

    db: Database

    def enroll(
        self, monitor_id: str, epoch: int, dimension: str, units: Iterable[str], round_: int
    ) -> set[str]:
        """Enroll new units; return those of this round, the same after a crash."""
        epoch_key = {"monitor_id": monitor_id, "epoch": epoch, "dimension": dimension}
        by_digest = {derived_id("unit", monitor_id, unit): unit for unit in units}
        rows = [{**epoch_key, "unit": digest, "round": round_} for digest in sorted(by_digest)]
        self.db.insert_new(ENROLLED_UNITS, rows)
        columns = ENROLLED_UNITS.c
        of_epoch = (columns[name] == value for name, value in epoch_key.items())
        query = select(columns.unit).where(*of_epoch, columns.round == round_)
        return {by_digest[d] for d in self.db.scalars_in(query, columns.unit, by_digest)}
