"""Writes records to tables or files, and moves the rows of a run between store and archive."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sqlalchemy import Connection, delete, select

from biaswatch.shared.contracts import Record
from biaswatch.shared.store.answer_file_writer import AnswerFileWriter
from biaswatch.shared.store.answer_files import AnswerFiles
from biaswatch.shared.store.archived_runs import lock_run, without_archived
from biaswatch.shared.store.database import MAX_KEYS, Database, insert_new
from biaswatch.shared.store.record_rows import (
    IN_FILES,
    ByKind,
    CountKey,
    Row,
    WriteResult,
    add_counts,
    count_keys,
    goes_to_file,
    portable_row,
    restored_row,
    row_of,
    text_rows_of,
    without,
)
from biaswatch.shared.store.statements import insert_missing, insert_records, is_in
from biaswatch.shared.store.tables import RECORDS, TEXTS, unit_part_of
from biaswatch.shared.store.texts import purges_of


@dataclass(eq=False)
class RecordWriter:
    """Writes each record once, in a table or in a file."""

    db: Database
    files: AnswerFiles
    file_writer: AnswerFileWriter | None = None

    def write(self, records: Iterable[Record]) -> WriteResult:
        """Write records and those embedded in them; existing copies stay unchanged.

        Files are written first, each committed with its entry in the manifest; then all rows in
        one transaction.
        """
        by_kind = self._by_kind(records)
        for_files = _for_files(by_kind)
        if self.file_writer is None or not for_files:
            return self._write_rows(by_kind)
        new = self.file_writer.write(for_files)
        result = self._write_rows(without(by_kind, for_files))
        result.new.update(new)
        result.known.update(Counter({kind: len(ids) for kind, ids in for_files.items()}) - new)
        return result

    def _by_kind(self, records: Iterable[Record]) -> dict[str, dict[str, Record]]:
        """Return records and embedded records by kind and id, the first copy of each."""
        tenant = self.db.tenant
        by_kind: dict[str, dict[str, Record]] = {}
        for record in records:
            for part in (record, *record.embedded):
                if tenant not in {None, part.tenant}:
                    raise ValueError(f"A {part.kind} record of another tenant cannot be written.")
                by_kind.setdefault(part.kind, {}).setdefault(part.id, part)
        return by_kind

    def _write_rows(self, by_kind: ByKind) -> WriteResult:
        result = WriteResult()
        counts: Counter[CountKey] = Counter()
        with self.db.writing() as connection:
            current = without_archived(connection, by_kind)
            for kind, records in sorted(self._without_files(connection, current).items()):
                # In the order of ids, so that two writers of the same records cannot deadlock.
                rows = {id_: row_of(records[id_]) for id_ in sorted(records)}
                new = insert_records(connection, RECORDS[kind], list(rows.values()))
                result.new[kind] += len(new)
                result.new_ids.update(new)
                result.known[kind] += len(records) - len(new)
                if new and type(records[new[0]]).text_fields():
                    keys = {rows[id_][name] for id_ in new for name in ("run_id", "unit_id")}
                    purged = purges_of(connection, keys, {rows[id_]["tenant"] for id_ in new})
                    texts = [
                        row for id_ in new for row in text_rows_of(records[id_], rows[id_], purged)
                    ]
                    insert_missing(connection, TEXTS, texts)
                counts += count_keys(kind, (rows[id_] for id_ in new))
            add_counts(connection, counts)
        return result

    def _without_files(self, connection: Connection, by_kind: ByKind) -> ByKind:
        """Return the records that become rows, without those that a file has already.

        A writer of files of the same run waits for this transaction, and this one for it.
        """
        if not (for_files := _for_files(by_kind)):
            return by_kind
        runs = {str(record.run) for records in for_files.values() for record in records.values()}
        for run_id in sorted(runs):
            lock_run(connection, run_id, shared=True)
        known = {kind: self.files.present(kind, ids) for kind, ids in for_files.items()}
        return without(by_kind, known)


def _for_files(by_kind: ByKind) -> dict[str, dict[str, Record]]:
    """Return the records that belong into files, where a location of files is set."""
    records = {
        kind.kind: {
            id_: record for id_, record in by_kind[kind.kind].items() if goes_to_file(record)
        }
        for kind in IN_FILES
        if kind.kind in by_kind
    }
    return {kind: of_kind for kind, of_kind in records.items() if of_kind}


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
