"""Monitors: definitions, schedule, closed rounds and enrolled units."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Engine, and_, func, or_, select, update

from biaswatch.shared.contracts import (
    RUN_GATHER,
    Description,
    Monitor,
    Purpose,
    Round,
    Run,
    ScheduledMonitor,
    derived_id,
)
from biaswatch.shared.store.engine import (
    ScopeNow,
    chunks,
    insert_new,
    read_transaction,
    write_transaction,
)
from biaswatch.shared.store.records import Records
from biaswatch.shared.store.statements import among
from biaswatch.shared.store.tables import ENROLLED_UNITS, GATHERS, RECORDS, SCHEDULE

MOST_KNOWN = 5000
"""Monitors, and runs of theirs, that are kept decoded: the schedule is read every second."""


class Schedule:
    """The schedule of all monitors; an update names the round it starts from, so only one wins."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def want(self, monitor: Monitor) -> bool:
        """Note what is wanted of a monitor; return False if something later is known already.

        Another plan under the same name starts with round 0, or where it stopped when it was wanted
        before. A change of its upkeep alone keeps the rounds.
        """
        fresh = {
            "moment_ms": monitor.moment_ms,
            "monitor_id": monitor.monitor_id,
            "monitor": monitor.model_dump_json(exclude={"id"}),
        }
        key = {"tenant": monitor.tenant, "name": monitor.name}
        mine = _named(**key)
        with write_transaction(self._engine) as connection:
            rounds = RECORDS[Round.kind]
            closed = select(func.count()).where(rounds.c.monitor_id == monitor.monitor_id)
            first = int(connection.scalar(closed) or 0)
            begin = {"next_round": first, "due_at": monitor.since, "run": None, "ended": None}
            if insert_new(connection, SCHEDULE, [{**key, **fresh, **begin}]):
                return True
            row = (
                connection.execute(select(SCHEDULE).where(mine).with_for_update()).mappings().one()
            )
            if row["moment_ms"] >= monitor.moment_ms:
                return False
            same = row["monitor_id"] == monitor.monitor_id
            more = {"due_at": min(row["due_at"], monitor.since), "ended": None} if same else begin
            connection.execute(update(SCHEDULE).where(mine).values(**fresh, **more))
        return True

    def monitors(self) -> list[ScheduledMonitor]:
        """Return all monitors, in the order of their tenants and names."""
        query = select(SCHEDULE).order_by(SCHEDULE.c.tenant, SCHEDULE.c.name)
        with read_transaction(self._engine) as connection:
            rows = connection.execute(query).mappings().all()
        return [_monitor_of(row) for row in rows]

    def get(self, name: str, tenant: str = "default") -> ScheduledMonitor | None:
        """Return a tenant's monitor of this name, or None."""
        with read_transaction(self._engine) as connection:
            row = connection.execute(select(SCHEDULE).where(_named(tenant, name))).mappings()
            found = row.first()
        return _monitor_of(found) if found else None

    def begin(self, scheduled: ScheduledMonitor, run: Run, due_at: datetime) -> bool:
        """Start the next round; return False if another process has started it."""
        values = {"next_round": scheduled.next_round + 1, "due_at": due_at}
        return self._move(scheduled, run=run.model_dump_json(exclude={"id"}), **values)

    def end(self, scheduled: ScheduledMonitor, why: str) -> bool:
        """Note that there will be no more rounds."""
        return self._move(scheduled, ended=why)

    def _move(self, scheduled: ScheduledMonitor, **values: object) -> bool:
        still_there = and_(
            _named(scheduled.monitor.tenant, scheduled.monitor.name),
            SCHEDULE.c.moment_ms == scheduled.monitor.moment_ms,
            SCHEDULE.c.next_round == scheduled.next_round,
        )
        with write_transaction(self._engine) as connection:
            moved = connection.execute(update(SCHEDULE).where(still_there).values(**values))
            return moved.rowcount == 1


def _named(tenant: str, name: str) -> ColumnElement[bool]:
    return and_(SCHEDULE.c.tenant == tenant, SCHEDULE.c.name == name)


def _monitor_of(row: Mapping[Any, Any]) -> ScheduledMonitor:
    return ScheduledMonitor(
        monitor=_monitor_in(row["monitor"]),
        next_round=row["next_round"],
        due_at=row["due_at"],
        run=_run_in(row["run"]) if row["run"] else None,
        ended=row["ended"],
    )


@lru_cache(MOST_KNOWN)
def _monitor_in(body: str) -> Monitor:
    return Monitor.model_validate_json(body)


@lru_cache(MOST_KNOWN)
def _run_in(body: str) -> Run:
    return Run.model_validate_json(body)


K = TypeVar("K", Round, Description)


class ClosedRounds:
    """Finds rounds by number: they close in order, from 0, without gaps.

    So the count of closed rounds names the last one, and reading it takes the same time for a
    monitor that has run for years.
    """

    def __init__(self, records: Records) -> None:
        self._records = records

    def closed(self, monitor: Monitor) -> int:
        """Count the rounds that have closed."""
        return self._records.count(Round, monitor_id=monitor.monitor_id)

    def get(self, monitor: Monitor, number: int) -> Round | None:
        """Return a round, or None if it has not closed."""
        return next(self._records.get(Round, [_id_of(Round, monitor, number)]), None)

    def last(self, monitor: Monitor) -> Round | None:
        """Return the last closed round; None before the first."""
        return self.get(monitor, self.closed(monitor) - 1)

    def last_of(self, monitors: Iterable[Monitor]) -> dict[str, Round]:
        """Return the last closed round of each monitor that has any, by the monitor's id."""
        by_id = {each.monitor_id: each for each in monitors}
        closed = self._records.count_by(Round, "monitor_id", by_id)
        ids = [_id_of(Round, by_id[key], number - 1) for key, number in closed.items()]
        return {each.monitor_id: each for each in self._records.get(Round, ids)}

    def latest(self, kind: type[K], monitor: Monitor, most: int) -> list[K]:
        """Return the records of the last `most` rounds, in their order."""
        end = self.closed(monitor)
        ids = [_id_of(kind, monitor, number) for number in range(max(0, end - most), end)]
        return sorted(self._records.get(kind, ids), key=lambda each: each.round)


def _id_of(kind: type[K], monitor: Monitor, number: int) -> str:
    purpose = Purpose.MONITOR if monitor.plan.traffic is None else Purpose.PRODUCTION
    return derived_id(kind.kind, monitor.tenant, purpose, monitor.monitor_id, number)


class EnrolledUnits:
    """First appearances of units; users' names are stored as digests only."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def enroll(
        self, monitor_id: str, epoch: int, dimension: str, units: Iterable[str], round_: int
    ) -> set[str]:
        """Enroll the new units; return those of this round.

        A second call for the same round, after a crash, returns the same units.
        """
        scope = {"monitor_id": monitor_id, "epoch": epoch, "dimension": dimension}
        by_digest = {derived_id("unit", monitor_id, unit): unit for unit in units}
        digests = sorted(by_digest)
        rows = [{**scope, "unit": digest, "round": round_} for digest in digests]
        with write_transaction(self._engine) as connection:
            insert_new(connection, ENROLLED_UNITS, rows)
        query = select(ENROLLED_UNITS.c.unit).where(
            *(ENROLLED_UNITS.c[name] == value for name, value in scope.items()),
            ENROLLED_UNITS.c.round == round_,
        )
        with read_transaction(self._engine) as connection:
            return {
                by_digest[digest]
                for some in chunks(digests)
                for digest in connection.scalars(query.where(among(ENROLLED_UNITS.c.unit, some)))
            }


class MonitorDefinitions:
    """The definitions of monitors; each change is a record of its own, and the last one counts."""

    def __init__(self, engine: Engine, records: Records, scope: ScopeNow) -> None:
        self._engine = engine
        self._records = records
        self._scope = scope

    def latest(self, name: str | None = None) -> list[Monitor]:
        """Return the last definition of each monitor, or of one, the oldest first.

        No definition is older than the one before it, so that the database finds the last ones and
        the others are never read.
        """
        table = RECORDS[Monitor.kind].c
        tenant = self._scope().tenant
        mine = [table.tenant == tenant] if tenant is not None else []
        if name is not None:
            mine.append(table.name == name)
        last = (
            select(table.tenant, table.name, func.max(table.at).label("at"))
            .where(*mine)
            .group_by(table.tenant, table.name)
            .subquery()
        )
        same = and_(table.tenant == last.c.tenant, table.name == last.c.name, table.at == last.c.at)
        query = select(table.id).join(last, same)
        with read_transaction(self._engine) as connection:
            ids = list(connection.scalars(query))
        found = sorted(self._records.get(Monitor, ids), key=lambda each: each.moment_ms)
        return list({(each.tenant, each.name): each for each in found}.values())


class RunsUnderWay:
    """Counts the runs that somebody has started and that have not ended."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def count(self, tenant: str) -> int:
        """Count a tenant's; rounds of monitors and windows of traffic are not among them."""
        runs, gathers = RECORDS[Run.kind], GATHERS.c
        waited_for = and_(gathers.stage == RUN_GATHER, gathers.key == runs.c.id)
        query = (
            select(func.count())
            .select_from(runs.outerjoin(GATHERS, waited_for))
            .where(runs.c.tenant == tenant, runs.c.purpose == Purpose.STUDY.value)
            .where(or_(gathers.key.is_(None), gathers.closed_at.is_(None)))
        )
        with read_transaction(self._engine) as connection:
            return int(connection.scalar(query) or 0)
