"""The rows of a run's answers as an archive takes them, and gives them back."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from pydantic_core import to_json
from sqlalchemy import Engine, delete, select

from biaswatch.shared.contracts import Record
from biaswatch.shared.store.answer_files import AnswerFiles
from biaswatch.shared.store.engine import (
    MOST_PARAMETERS,
    insert_new,
    read_transaction,
    write_transaction,
)
from biaswatch.shared.store.statements import among
from biaswatch.shared.store.tables import KEYS, RECORDS, TEXTS, unit_part_of

Row = dict[str, Any]
_OF_TEXTS = [column for column in TEXTS.columns if column is not TEXTS.c.unit_part]
"""What is archived: the rest follows from it."""


class ArchiveRows:
    """Reads a run's answers as rows, removes them, and writes them again."""

    def __init__(self, engine: Engine, files: AnswerFiles) -> None:
        self._engine = engine
        self._files = files

    def records(self, kind: type[Record], run_id: str) -> Iterator[list[Row]]:
        """Return the rows of a kind of a run, some at a time, then what of them is in files."""
        table, last = RECORDS[kind.kind], ""
        while True:
            query = select(table).where(table.c.run_id == run_id, table.c.id > last)
            with read_transaction(self._engine) as connection:
                page = connection.execute(query.order_by(table.c.id).limit(MOST_PARAMETERS))
                rows = [_portable(kind.kind, row) for row in page.mappings()]
            if not rows:
                break
            last = rows[-1]["id"]
            yield rows
        filed = self._files.in_order(kind.kind, run_id)
        while some := list(islice(filed, MOST_PARAMETERS)):
            yield some

    def texts(self, record_ids: Sequence[str]) -> list[Row]:
        """Return the texts of at most as many records as `records` returns at once."""
        query = select(*_OF_TEXTS).where(among(TEXTS.c.record_id, record_ids))
        query = query.order_by(TEXTS.c.record_id, TEXTS.c.field)
        with read_transaction(self._engine) as connection:
            rows = [dict(row) for row in connection.execute(query).mappings()]
        return [*rows, *self._files.text_rows(record_ids)]

    def remove(self, kind: str, ids: Sequence[str]) -> None:
        """Remove some records and their texts from the store."""
        table = RECORDS[kind]
        with write_transaction(self._engine) as connection:
            connection.execute(delete(TEXTS).where(among(TEXTS.c.record_id, ids)))
            connection.execute(delete(table).where(among(table.c.id, ids)))

    def put_back(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Write records into the store again, those that are there already as they are."""
        by_kind: dict[str, list[Row]] = {}
        for row in rows:
            kept = {name: value for name, value in row.items() if name not in ("kind", "keys")}
            by_kind.setdefault(row["kind"], []).append({**kept, **json.loads(row["keys"])})
        with write_transaction(self._engine) as connection:
            for kind, found in sorted(by_kind.items()):
                insert_new(connection, RECORDS[kind], found)

    def put_texts_back(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write texts into the store again; leave out what may not be kept any more."""
        kept = [
            {
                **{each.name: row[each.name] for each in _OF_TEXTS},
                "unit_part": unit_part_of(row["unit_id"]),
            }
            for row in rows
        ]
        with write_transaction(self._engine) as connection:
            insert_new(connection, TEXTS, kept)

    def count(self, kind: type[Record], run_id: str, ids: Sequence[str]) -> int:
        """Return how many of these records of a run the store has."""
        table = RECORDS[kind.kind]
        query = select(table.c.id).where(table.c.run_id == run_id, among(table.c.id, ids))
        with read_transaction(self._engine) as connection:
            return len(list(connection.scalars(query)))


def _portable(kind: str, row: Mapping[Any, Any]) -> Row:
    """Return a row with the columns that every kind has; the others as JSON."""
    keys = {name: row[name] for name in KEYS.get(kind, ())}
    rest = {name: value for name, value in row.items() if name not in keys}
    return {"kind": kind, **rest, "keys": to_json(keys).decode()}
