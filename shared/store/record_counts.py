"""How many records of each run the store has, counted when they are written."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sqlalchemy import Connection, Engine, select

from shared.contracts import Diagnosis, Features, PairVerdict, Purpose, Record, Response
from shared.store.engine import chunks, read_transaction, upsert
from shared.store.run_tables import RECORD_COUNTS

COUNTED = {kind.kind for kind in (Response, Features, Diagnosis, PairVerdict)}
"""What progress is told by."""


@dataclass(frozen=True)
class RunCounts:
    """How many records of one run there are."""

    by_kind: Mapping[tuple[str, str], Mapping[str, int]] = field(default_factory=dict)
    """By kind and purpose, then by lane."""

    def all(self, kind: type[Record]) -> int:
        """Return how many records of a kind there are, whatever they were made for."""
        return sum(sum(lanes.values()) for (k, _), lanes in self.by_kind.items() if k == kind.kind)

    def of(self, kind: type[Record], purpose: Purpose, lane: str | None = None) -> int:
        """Return how many of a purpose there are, of all lanes or of one."""
        lanes = self.by_kind.get((kind.kind, purpose.value), {})
        return sum(lanes.values()) if lane is None else lanes.get(lane, 0)


class RecordCounts:
    """The counts of runs; who may see a run may see its counts."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def of(self, run_id: str) -> RunCounts:
        """Return the counts of a run."""
        return self.of_runs([run_id]).get(run_id, RunCounts())

    def of_runs(self, run_ids: Iterable[str]) -> dict[str, RunCounts]:
        """Return the counts of those of these runs that have any record."""
        table = RECORD_COUNTS.c
        found: dict[str, dict[tuple[str, str], dict[str, int]]] = {}
        for some in chunks(run_ids):
            query = select(RECORD_COUNTS).where(table.run_id.in_(some))
            with read_transaction(self._engine) as connection:
                for row in connection.execute(query):
                    lanes = found.setdefault(row.run_id, {}).setdefault((row.kind, row.purpose), {})
                    lanes[row.lane] = row.records
        return {run_id: RunCounts(counts) for run_id, counts in found.items()}


def count_new(connection: Connection, records: Iterable[Record]) -> None:
    """Count records in the transaction that has written them, which this is the last step of.

    The rows are taken in one order, so that two writers cannot wait for each other.
    """
    counted = Counter(
        (each.run, each.kind, each.purpose.value, each.lane)
        for each in records
        if each.kind in COUNTED and each.run is not None
    )
    names = ("run_id", "kind", "purpose", "lane")
    for key in sorted(counted):
        row = {**dict(zip(names, key, strict=True)), "records": counted[key]}
        statement = upsert(connection, RECORD_COUNTS).values(row)
        more = RECORD_COUNTS.c.records + counted[key]
        connection.execute(
            statement.on_conflict_do_update(index_elements=names, set_={"records": more})
        )
