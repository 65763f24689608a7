"""The rows of a record: one of numbers in the table of its kind, and one for each of its texts."""

from typing import Any

from biaswatch.shared.contracts import Purpose, Record
from biaswatch.shared.store.tables import KEYS
from biaswatch.shared.store.text_tables import unit_part_of
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
