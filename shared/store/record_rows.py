"""Rows of records and of their texts, in tables and in files, and the counts of a run's records."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from pydantic_core import to_json
from sqlalchemy import Connection

from biaswatch.shared.contracts import (
    BEGINNING_HEX_DIGITS,
    Diagnosis,
    Features,
    PairVerdict,
    Probe,
    Purpose,
    Record,
    Response,
)
from biaswatch.shared.store.database import upsert
from biaswatch.shared.store.tables import KEYS, RECORD_COUNTS, unit_part_of
from biaswatch.shared.store.texts import Purged, body_of, texts_of

Row = dict[str, Any]
ByKind = Mapping[str, Mapping[str, Record]]
"""Records by kind and id."""
CountKey = tuple[str, str, str, str]
"""Run, kind, purpose and lane."""
PURPOSES = {purpose: purpose.value for purpose in Purpose}
"""Values of purposes; the attribute of an enumeration is slow to read for every row."""
IN_FILES: tuple[type[Record], ...] = (Features, Response, Probe)
"""Kinds of records that go to files and archives; findings, rounds and counts stay in tables."""
COUNTED = {kind.kind for kind in (Response, Features, Diagnosis, PairVerdict)}
"""Kinds of records that progress is computed from."""
FILE_KINDS = {kind.kind for kind in IN_FILES}
_run_purpose_lane = itemgetter("run_id", "purpose", "lane")


@dataclass(frozen=True)
class WriteResult:
    """Changes by a write."""

    new: Counter[str] = field(default_factory=Counter)
    """Number of new records, by kind."""
    new_ids: set[str] = field(default_factory=set)
    """Ids of the new records that became rows."""
    known: Counter[str] = field(default_factory=Counter)
    """Number of records that existed already and were left unchanged."""


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


def portable_row(kind: str, row: Mapping[str, Any]) -> Row:
    """Return a row with the columns common to all kinds, and the other columns as JSON."""
    keys = {name: row[name] for name in KEYS.get(kind, ())}
    common = {name: value for name, value in row.items() if name not in keys}
    return {"kind": kind, **common, "keys": to_json(keys).decode()}


def restored_row(row: Mapping[str, Any]) -> Row:
    """Return a portable row with the columns of its kind."""
    return {**row, **json.loads(row["keys"])}


def text_rows_of(record: Record, row: Row, purged: Purged) -> list[Row]:
    """Return the rows of a record's texts, given its own row; none where they were purged."""
    if not (texts := texts_of(record)) or purged.covers(record):
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


def goes_to_file(record: Record) -> bool:
    """Return whether a record is a production answer or its measurements, with ids in order."""
    return (
        record.kind in FILE_KINDS
        and record.purpose is Purpose.PRODUCTION
        and record.run is not None
        and record.id.startswith(record.run[:BEGINNING_HEX_DIGITS])
    )


def without(by_kind: ByKind, known: Mapping[str, Iterable[str]]) -> dict[str, dict[str, Record]]:
    """Return records without those of known ids."""
    remaining = {}
    for kind, records in by_kind.items():
        ids = set(known.get(kind, ()))
        remaining[kind] = {id_: record for id_, record in records.items() if id_ not in ids}
    return remaining


def count_keys(kind: str, rows: Iterable[Mapping[str, Any]]) -> Counter[CountKey]:
    """Count rows of a kind by run, purpose and lane, leaving out rows without a run."""
    if kind not in COUNTED:
        return Counter()
    counts = Counter(map(_run_purpose_lane, rows))
    return Counter(
        {
            (run_id, kind, purpose, lane): count
            for (run_id, purpose, lane), count in counts.items()
            if run_id is not None
        }
    )


def add_counts(connection: Connection, counts: Counter[CountKey]) -> None:
    """Add to the counts of runs, as the last step of the transaction that writes the records.

    The order of rows is fixed, so that two writers cannot deadlock.
    """
    total = RECORD_COUNTS.c.records
    statement = upsert(connection, RECORD_COUNTS, lambda row: {"records": total + row.records})
    for key in sorted(counts):
        run_id, kind, purpose, lane = key
        row = {"run_id": run_id, "kind": kind, "purpose": purpose, "lane": lane}
        connection.execute(statement, {**row, "records": counts[key]})
