"""How many records of each run the store has: counted in the transaction that writes them."""

from collections import Counter
from collections.abc import Iterable

from sqlalchemy import Connection

from shared.contracts import Diagnosis, Features, PairVerdict, Record, Response
from shared.store.engine import upsert
from shared.store.record_rows import PURPOSES
from shared.store.run_tables import RECORD_COUNTS

COUNTED = {kind.kind for kind in (Response, Features, Diagnosis, PairVerdict)}
"""What progress is told by."""


def count_new(connection: Connection, records: Iterable[Record]) -> None:
    """Count records in the transaction that has written them, which this is the last step of.

    The rows are taken in one order, so that two writers cannot wait for each other.
    """
    counted = Counter(
        (each.run, each.kind, PURPOSES[each.purpose], each.lane)
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
