"""Rows of records and their texts, and the counts of records of each run."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from pydantic_core import to_json
from sqlalchemy import Connection

from biaswatch.shared.contracts import Diagnosis, Features, PairVerdict, Purpose, Record, Response
from biaswatch.shared.store.engine import upsert
from biaswatch.shared.store.run_tables import RECORD_COUNTS
from biaswatch.shared.store.tables import KEYS, unit_part_of
from biaswatch.shared.store.texts import Purged, body_of, texts_of

Row = dict[str, Any]
PURPOSES = {purpose: purpose.value for purpose in Purpose}
"""The words of purposes: looked up for every row, which an enumeration does slowly."""


def row_of(record: Record) -> Row:
    """Return the row of a record in the table of its kind."""
    return {
        "id": record.id,
        "tenant": record.tenant,
        "purpose": PURPOSES[record.purpose],
        "lane": record.lane,
        "run_id": record.run,
        "unit_id": record.unit,
        "at": record.at,
        "body": body_of(record),
        **{key: str(getattr(record, key)) for key in KEYS.get(record.kind, ())},
    }


def text_rows_of(record: Record, row: Row, gone: Purged) -> list[Row]:
    """Return the rows of a record's texts, beside its own; none where they must not be kept."""
    if not (texts := texts_of(record)) or gone.covers(record):
        return []
    common = {
        "record_id": row["id"],
        "tenant": row["tenant"],
        "kind": record.kind,
        "run_id": row["run_id"],
        "unit_id": row["unit_id"],
        "unit_part": unit_part_of(row["unit_id"]),
        "at": row["at"],
    }
    return [{**common, "field": name, "body": body} for name, body in texts.items()]


COUNTED = {kind.kind for kind in (Response, Features, Diagnosis, PairVerdict)}
"""What progress is told by."""
CountedAs = tuple[str, str, str, str]
"""Run, kind, purpose and lane."""
_run_key = itemgetter("run_id", "purpose", "lane")


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
    counted = Counter(map(_run_key, rows))
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


PRODUCTION = PURPOSES[Purpose.PRODUCTION]


def file_row(record: Record) -> Row:
    """Return the row of a record with the columns that every kind has; the others as JSON."""
    keys = {key: str(getattr(record, key)) for key in KEYS.get(record.kind, ())}
    return {
        "kind": record.kind,
        "id": record.id,
        "tenant": record.tenant,
        "purpose": PRODUCTION,
        "lane": record.lane,
        "run_id": record.run,
        "unit_id": record.unit,
        "at": record.at,
        "keys": to_json(keys).decode(),
        "body": body_of(record),
    }


def file_text_rows(record: Record, gone: Purged) -> list[Row]:
    """Return the rows of a record's texts; none where they must not be kept."""
    said = texts_of(record)
    if not said or gone.covers(record):
        return []
    common = {
        "record_id": record.id,
        "kind": record.kind,
        "tenant": record.tenant,
        "run_id": record.run,
        "unit_id": record.unit,
        "at": record.at,
        "purpose": PRODUCTION,
    }
    return [{**common, "field": name, "body": said[name]} for name in sorted(said)]
