"""How many records of each run the store has: counted in the transaction that writes them."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from operator import itemgetter

from sqlalchemy import Connection

from biaswatch.shared.contracts import Diagnosis, Features, PairVerdict, Response
from biaswatch.shared.store.engine import upsert
from biaswatch.shared.store.record_rows import Row
from biaswatch.shared.store.run_tables import RECORD_COUNTS

COUNTED = {kind.kind for kind in (Response, Features, Diagnosis, PairVerdict)}
"""What progress is told by."""
CountedAs = tuple[str, str, str, str]
"""Run, kind, purpose and lane."""
_of_run = itemgetter("run_id", "purpose", "lane")


@dataclass(frozen=True)
class WriteResult:
    """What a write changed."""

    new: Counter[str] = field(default_factory=Counter)
    """Records that were not there before, by kind; `new_ids` has their ids."""
    new_ids: set[str] = field(default_factory=set)
    known: Counter[str] = field(default_factory=Counter)
    """Records that were there already; nothing of them was changed."""


def counted_as(kind: str, rows: Iterable[Row]) -> Counter[CountedAs]:
    """Return how often each row's record is counted as what; not at all where it is of no run."""
    if kind not in COUNTED:
        return Counter()
    counted = Counter(map(_of_run, rows))
    return Counter(
        {
            (run_id, kind, purpose, lane): records
            for (run_id, purpose, lane), records in counted.items()
            if run_id is not None
        }
    )


def count_new(connection: Connection, counted: Counter[CountedAs]) -> None:
    """Count records in the transaction that has written them, which this is the last step of.

    The rows are taken in one order, so that two writers cannot wait for each other.
    """
    names = ("run_id", "kind", "purpose", "lane")
    for key in sorted(counted):
        row = {**dict(zip(names, key, strict=True)), "records": counted[key]}
        statement = upsert(connection, RECORD_COUNTS).values(row)
        more = RECORD_COUNTS.c.records + counted[key]
        connection.execute(
            statement.on_conflict_do_update(index_elements=names, set_={"records": more})
        )
