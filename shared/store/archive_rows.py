"""Rows of a run's answers as an archive takes them, and as it gives them back."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sqlalchemy import delete, select

from biaswatch.shared.contracts import Record
from biaswatch.shared.store.answer_files import AnswerFiles
from biaswatch.shared.store.database import MAX_KEYS, Database, insert_new
from biaswatch.shared.store.record_rows import Row, portable_row, restored_row
from biaswatch.shared.store.statements import is_in
from biaswatch.shared.store.tables import RECORDS, TEXTS, unit_part_of

TEXT_COLUMNS = [column for column in TEXTS.columns if column is not TEXTS.c.unit_part]
"""Archived columns; the partition is derived from the unit."""


@dataclass(eq=False)
class ArchiveRows:
    """Reads a run's answers as rows, removes them, and restores them."""

    db: Database
    files: AnswerFiles

    def records(self, kind: type[Record], run_id: str) -> Iterator[list[Row]]:
        """Return pages of a run's rows of one kind: those of the table, then those of files."""
        table, last_id = RECORDS[kind.kind], ""
        query = select(table).where(table.c.run_id == run_id).order_by(table.c.id).limit(MAX_KEYS)
        while rows := self.db.rows(query.where(table.c.id > last_id)):
            last_id = rows[-1].id
            yield [portable_row(kind.kind, row._asdict()) for row in rows]
        rows_in_files = self.files.in_order(kind.kind, run_id)
        while page := list(islice(rows_in_files, MAX_KEYS)):
            yield page

    def texts(self, record_ids: Sequence[str]) -> list[Row]:
        """Return the texts of one page of records."""
        query = select(*TEXT_COLUMNS).where(is_in(TEXTS.c.record_id, record_ids))
        rows = self.db.rows(query.order_by(TEXTS.c.record_id, TEXTS.c.field))
        return [*(row._asdict() for row in rows), *self.files.text_rows(record_ids)]

    def remove(self, kind: str, ids: Sequence[str]) -> None:
        """Remove records and their texts from the tables."""
        self.db.execute(
            delete(TEXTS).where(is_in(TEXTS.c.record_id, ids)),
            delete(RECORDS[kind]).where(is_in(RECORDS[kind].c.id, ids)),
        )

    def put_back(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Restore records; existing ones stay unchanged."""
        by_kind: dict[str, list[Row]] = {}
        for row in rows:
            restored = restored_row(row)
            del restored["keys"]
            by_kind.setdefault(restored.pop("kind"), []).append(restored)
        with self.db.writing() as connection:
            for kind, restored_rows in sorted(by_kind.items()):
                insert_new(connection, RECORDS[kind], restored_rows)

    def put_texts_back(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Restore texts."""
        restored = [
            {column.name: row[column.name] for column in TEXT_COLUMNS}
            | {"unit_part": unit_part_of(row["unit_id"])}
            for row in rows
        ]
        self.db.insert_new(TEXTS, restored)

    def count(self, kind: type[Record], run_id: str, ids: Sequence[str]) -> int:
        """Return the number of these records that a run has in the tables."""
        table = RECORDS[kind.kind]
        query = select(table.c.id).where(table.c.run_id == run_id, is_in(table.c.id, ids))
        return len(self.db.rows(query))
