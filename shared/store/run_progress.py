"""How far runs are, as counted: the state of what each waits for, and its records, in one query."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sqlalchemy import Engine, and_, bindparam, select

from biaswatch.shared.contracts import RUN_GATHER, GatherState, Purpose, Record
from biaswatch.shared.store.closings import state_of_row
from biaswatch.shared.store.engine import chunks, read_transaction
from biaswatch.shared.store.run_tables import RECORD_COUNTS
from biaswatch.shared.store.tables import GATHERS

COUNTS = RECORD_COUNTS.c
WITH_COUNTS = (
    select(
        *(GATHERS.c[name] for name in ("key", "expected", "arrived", "opening", "closed_by")),
        *(GATHERS.c[name] for name in ("closed_at", "recorded_at")),
        *(COUNTS[name] for name in ("kind", "purpose", "lane", "records")),
    )
    .select_from(GATHERS.outerjoin(RECORD_COUNTS, COUNTS.run_id == GATHERS.c.key))
    .where(
        and_(GATHERS.c.stage == RUN_GATHER, GATHERS.c.key.in_(bindparam("keys", expanding=True)))
    )
)
"""Made once: a follower asks it three times a second."""
COUNTS_ALONE = select(
    *(COUNTS[name] for name in ("run_id", "kind", "purpose", "lane", "records"))
).where(COUNTS.run_id.in_(bindparam("keys", expanding=True)))
"""For runs that nobody has planned yet, such as a window whose answers came before it."""


@dataclass(frozen=True)
class CountedRun:
    """What is known of a run that is waited for: how far it is, and how many records it has."""

    gather: GatherState | None = None
    records: Mapping[tuple[str, str, str], int] = field(default_factory=dict)
    """By kind, purpose and lane."""

    def count(
        self, kind: type[Record], purpose: Purpose | None = None, lane: str | None = None
    ) -> int:
        """Return how many records of a kind there are: all, or of a purpose, or of a lane."""
        return sum(
            records
            for (counted, made_for, of), records in self.records.items()
            if counted == kind.kind and purpose in {None, made_for} and lane in {None, of}
        )


class CountedRuns:
    """Looks up the counts of runs; who may see a run may see its counts."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def of(self, run_ids: Iterable[str]) -> dict[str, CountedRun]:
        """Return the counts of those of these runs that are planned or have records."""
        wanted = list(run_ids)
        states: dict[str, GatherState] = {}
        records: dict[str, dict[tuple[str, str, str], int]] = {}
        with read_transaction(self._engine) as connection:
            for some in chunks(wanted):
                for row in connection.execute(WITH_COUNTS, {"keys": some}).mappings():
                    if (key := row["key"]) not in states:
                        states[key], records[key] = state_of_row(row), {}
                    if row["records"] is not None:
                        by = (row["kind"], row["purpose"], row["lane"])
                        records[key][by] = row["records"]
            for some in chunks(set(wanted) - states.keys()):
                for row in connection.execute(COUNTS_ALONE, {"keys": some}).mappings():
                    by = (row["kind"], row["purpose"], row["lane"])
                    records.setdefault(row["run_id"], {})[by] = row["records"]
        return {key: CountedRun(states.get(key), counted) for key, counted in records.items()}
