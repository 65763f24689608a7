"""Progress of runs, and their numbers of records."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sqlalchemy import and_, bindparam, func, or_, select

from biaswatch.shared.contracts import RUN_GATHER, GatherState, Purpose, Record, Run
from biaswatch.shared.store.database import Database, key_chunks
from biaswatch.shared.store.gather_rows import state_of
from biaswatch.shared.store.run_tables import GATHERS
from biaswatch.shared.store.tables import RECORD_COUNTS, RECORDS

COUNTS = RECORD_COUNTS.c
GATHER_COLUMNS = ("key", "expected", "arrived", "opening", "closed_by", "closed_at", "recorded_at")
COUNT_COLUMNS = [COUNTS[name] for name in ("kind", "purpose", "lane", "records")]
SELECT_PROGRESS = (
    select(*(GATHERS.c[name] for name in GATHER_COLUMNS), *COUNT_COLUMNS)
    .select_from(GATHERS.outerjoin(RECORD_COUNTS, COUNTS.run_id == GATHERS.c.key))
    .where(GATHERS.c.stage == RUN_GATHER, GATHERS.c.key.in_(bindparam("keys", expanding=True)))
)
"""Compiled once; clients poll it three times a second."""
SELECT_COUNTS = select(COUNTS.run_id.label("key"), *COUNT_COLUMNS).where(
    COUNTS.run_id.in_(bindparam("keys", expanding=True))
)
"""For runs without a gather, such as a window whose answers came before it was planned."""


@dataclass(frozen=True)
class CountedRun:
    """Progress of a run, and its number of records."""

    gather: GatherState | None = None
    records: Mapping[tuple[str, str, str], int] = field(default_factory=dict)
    """Number of records by kind, purpose and lane."""

    def count(
        self, kind: type[Record], purpose: Purpose | None = None, lane: str | None = None
    ) -> int:
        """Return the number of records of a kind: all, or of a purpose, or of a lane."""
        return sum(
            count
            for (record_kind, record_purpose, record_lane), count in self.records.items()
            if record_kind == kind.kind
            and purpose in {None, record_purpose}
            and lane in {None, record_lane}
        )


@dataclass(eq=False)
class CountedRuns:
    """Looks up the counts of runs; a reader of a run may see its counts."""

    db: Database

    def of(self, run_ids: Iterable[str]) -> dict[str, CountedRun]:
        """Return the counts of the runs that are planned or have records."""
        wanted = set(run_ids)
        states: dict[str, GatherState] = {}
        records: dict[str, dict[tuple[str, str, str], int]] = defaultdict(dict)
        with self.db.reading() as connection:
            for batch in key_chunks(wanted):
                for row in connection.execute(SELECT_PROGRESS, {"keys": batch}).all():
                    if row.key not in states:
                        states[row.key] = state_of(row)
                    if row.records is not None:
                        records[row.key][row.kind, row.purpose, row.lane] = row.records
            for batch in key_chunks(wanted - states.keys()):
                for row in connection.execute(SELECT_COUNTS, {"keys": batch}).all():
                    records[row.key][row.kind, row.purpose, row.lane] = row.records
        keys = states.keys() | records.keys()
        return {key: CountedRun(states.get(key), records.get(key, {})) for key in keys}


@dataclass(eq=False)
class RunsUnderWay:
    """Counts the runs that were started and have not ended."""

    db: Database

    def count(self, tenant: str) -> int:
        """Count a tenant's runs, without rounds of monitors and windows of traffic."""
        runs, gathers = RECORDS[Run.kind], GATHERS.c
        gather_of_run = and_(gathers.stage == RUN_GATHER, gathers.key == runs.c.id)
        query = (
            select(func.count())
            .select_from(runs.outerjoin(GATHERS, gather_of_run))
            .where(runs.c.tenant == tenant, runs.c.purpose == Purpose.STUDY.value)
            .where(or_(gathers.key.is_(None), gathers.closed_at.is_(None)))
        )
        return int(self.db.scalar(query) or 0)
