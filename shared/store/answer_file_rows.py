"""The rows of a record in files of answers: one of its numbers, and one for each of its texts."""

from typing import Any

from pydantic_core import to_json

from biaswatch.shared.contracts import Purpose, Record
from biaswatch.shared.store.record_rows import PURPOSES
from biaswatch.shared.store.tables import KEYS
from biaswatch.shared.store.texts import Purged, body_of, texts_of

PRODUCTION = PURPOSES[Purpose.PRODUCTION]
Row = dict[str, Any]


def record_row(record: Record) -> Row:
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


def text_rows(record: Record, gone: Purged) -> list[Row]:
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
