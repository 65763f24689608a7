"""Records of every kind, wherever they are: in tables, or in files of production answers."""

from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from heapq import merge
from itertools import groupby, islice
from operator import attrgetter, itemgetter
from typing import Any, TypeVar, cast

from pydantic_core import from_json
from sqlalchemy import ColumnElement, Select, Table, func, select

from biaswatch.shared.contracts import (
    BEGINNING_HEX_DIGITS,
    Features,
    Probe,
    Purpose,
    Record,
    Response,
    Run,
    is_id,
)
from biaswatch.shared.lookup import first
from biaswatch.shared.store.answer_files import AnswerFiles
from biaswatch.shared.store.database import MAX_KEYS, Database, key_chunks
from biaswatch.shared.store.record_rows import IN_FILES, Row, WriteResult
from biaswatch.shared.store.record_writer import RecordWriter
from biaswatch.shared.store.statements import is_in
from biaswatch.shared.store.tables import RECORDS
from biaswatch.shared.store.texts import assemble, texts_by_record

R = TypeVar("R", bound=Record)
PAGE_ROWS = MAX_KEYS + 1
"""Rows per page: a lookup of one batch of ids is one query, because its page is never full."""
SHARED_PREFIX = 2 * BEGINNING_HEX_DIGITS
"""Digits that the ordered ids of an answer and of its measurements share."""


@dataclass(eq=False)
class Records:
    """Reads and writes records; callers need not know where a record is.

    A row of a table takes precedence over a file. Methods that select by age, or by columns other
    than those of production answers, read tables only.
    """

    db: Database
    files: AnswerFiles
    writer: RecordWriter

    def write(self, records: Iterable[Record]) -> WriteResult:
        """Write records and those embedded in them; existing copies stay unchanged.

        Raises
        ------
        TransientError
            The store or the folder of files is not available; writing again repeats nothing.
        ValueError
            A record belongs to another tenant than the scope: a programming error.
        """
        return self.writer.write(records)

    def count(self, kind: type[Record], **keys: str) -> int:
        """Count the records of a kind: all, or those with this run_id, purpose, monitor_id, ..."""
        table = RECORDS[kind.kind]
        query = select(func.count()).select_from(table)
        query = query.where(*(table.c[name] == key for name, key in keys.items()))
        query = query.where(*self._visible(table, keys.get("run_id")))
        count = int(self.db.scalar(query) or 0)
        if kind in IN_FILES and not keys.keys() - {"run_id"}:
            count += self.files.count(kind.kind, keys.get("run_id"), self.db.tenant)
        return count

    def count_by(self, kind: type[Record], column: str, keys: Iterable[str]) -> dict[str, int]:
        """Count the records of a kind for each of these values of a column, without zeros."""
        table = RECORDS[kind.kind]
        query = select(table.c[column].label("key"), func.count().label("records"))
        query = query.where(*self._visible(table)).group_by(table.c[column])
        rows = self.db.rows_in(query, table.c[column], keys)
        return {str(row.key): int(row.records) for row in rows}

    def count_without(self, kind: type[Record], other: type[Record], *, run_id: str) -> int:
        """Count the records of a run that reference a missing record of another kind."""
        if kind in IN_FILES and self.files.any_of(run_id):
            missing = 0
            with closing(self.bodies(kind, run_id=run_id)) as bodies:
                while ids := Counter(
                    body[f"{other.kind}_id"] for body in islice(bodies, PAGE_ROWS)
                ):
                    missing += sum(ids[id_] for id_ in self.missing(other, ids))
            return missing
        table, other_table = RECORDS[kind.kind], RECORDS[other.kind]
        exists = (
            select(other_table.c.id).where(other_table.c.id == table.c[f"{other.kind}_id"]).exists()
        )
        query = select(func.count()).select_from(table).where(table.c.run_id == run_id, ~exists)
        return int(self.db.scalar(query.where(*self._visible(table, run_id))) or 0)

    def missing(self, kind: type[Record], ids: Iterable[str]) -> set[str]:
        """Return the ids that are not in the store."""
        table, wanted = RECORDS[kind.kind], set(ids)
        query = select(table.c.id).where(*self._visible(table))
        missing = wanted.difference(self.db.scalars_in(query, table.c.id, wanted))
        if kind not in IN_FILES or not missing:
            return missing
        if self.db.tenant is not None:
            return missing - self._file_rows(kind, missing).keys()
        return missing - self.files.present(kind.kind, filter(is_id, missing))

    def read(self, kind: type[R], *, run_id: str, texts: bool = True) -> Iterator[R]:
        """Return the records of a run, in the order of their ids; faster without texts."""
        table = RECORDS[kind.kind]
        query = select(table).where(table.c.run_id == run_id, *self._visible(table, run_id))
        rows = self._read(kind, query, texts=texts)
        if kind not in IN_FILES or not self.files.any_of(run_id):
            return rows
        both = merge(rows, self._in_files(kind, run_id, texts=texts), key=attrgetter("id"))
        # The sort is stable, so the row comes before its copy in a file.
        return (
            first(copies, "An id has no copy.") for _, copies in groupby(both, key=attrgetter("id"))
        )

    def bodies(self, kind: type[R], *, run_id: str) -> Generator[Row, None, None]:
        """Return a run's records as plain data, without texts and embedded records.

        Records in files come last. Close the generator if not all is read, because an open one
        holds a connection.
        """
        table = RECORDS[kind.kind]
        conditions = (table.c.run_id == run_id, *self._visible(table, run_id))
        query = select(table.c.body).where(*conditions).order_by(table.c.id)
        with self.db.streaming() as connection:
            streamed = connection.execution_options(yield_per=MAX_KEYS)
            # Closed even if the reader stops early: PostgreSQL would keep its cursor.
            with closing(streamed.scalars(query)) as bodies:
                for body in bodies:
                    yield from_json(body)
        if kind in IN_FILES:
            for row in self.files.in_order(kind.kind, run_id, tenant=self.db.tenant):
                yield from_json(row["body"])

    def bodies_of(self, kind: type[Record], ids: Iterable[str]) -> dict[str, Row]:
        """Return the existing ones of these records by id, in the form of `bodies`."""
        table, wanted = RECORDS[kind.kind], set(ids)
        query = select(table.c.id, table.c.body).where(*self._visible(table))
        rows = self.db.rows_in(query, table.c.id, filter(is_id, wanted))
        bodies = {row.id: from_json(row.body) for row in rows}
        for id_, row in self._file_rows(kind, wanted - bodies.keys()).items():
            bodies[id_] = from_json(row["body"])
        return bodies

    def bodies_with_probes(self, response_ids: Iterable[str]) -> dict[str, tuple[Row, Row]]:
        """Return the existing ones of these responses, each with its probe, as in `bodies`."""
        responses, probes = RECORDS[Response.kind], RECORDS[Probe.kind]
        wanted = set(response_ids)
        query = select(responses.c.id, responses.c.body, probes.c.body.label("probe"))
        query = query.join(probes, probes.c.id == responses.c.probe_id)
        query = query.where(*self._visible(responses))
        answered = {
            row.id: (from_json(row.body), from_json(row.probe))
            for row in self.db.rows_in(query, responses.c.id, wanted)
        }
        file_rows = self._file_rows(Response, wanted - answered.keys())
        file_probes = self.bodies_of(Probe, (row["probe_id"] for row in file_rows.values()))
        for id_, row in file_rows.items():
            if (probe := file_probes.get(row["probe_id"])) is not None:
                answered[id_] = from_json(row["body"]), probe
        return answered

    def get(self, kind: type[R], ids: Iterable[str], *, texts: bool = True) -> Iterator[R]:
        """Return the existing records with these ids, in the order of their ids.

        Text that cannot be an id never reaches the database. Faster without texts.
        """
        table = RECORDS[kind.kind]
        for batch in key_chunks(filter(is_id, ids)):
            query = select(table).where(is_in(table.c.id, batch), *self._visible(table))
            rows = self._read(kind, query, texts=texts)
            if kind not in IN_FILES:
                yield from rows
                continue
            records = {record.id: record for record in rows}
            file_rows = self._file_rows(kind, set(batch) - records.keys())
            for record in self._file_records(kind, list(file_rows.values()), texts=texts):
                records[record.id] = record
            yield from (records[id_] for id_ in sorted(records))

    def by_key(self, kind: type[R], key: str, values: Iterable[str], **equal: str) -> Iterator[R]:
        """Return the records whose column `key` has one of these values.

        Each batch of values is in the order of ids; records in files come last.
        """
        table, wanted = RECORDS[kind.kind], set(values)
        conditions = [table.c[name] == value for name, value in equal.items()]
        for batch in key_chunks(wanted):
            query = select(table).where(is_in(table.c[key], batch), *conditions)
            yield from self._read(kind, query.where(*self._visible(table)))
        if (kind, key) != (Features, "response_id"):
            return
        tenant = self.db.tenant
        required = equal if tenant is None else {**equal, "tenant": tenant}
        rows = [
            row
            for row in self.files.with_prefixes(
                kind.kind, {value[:SHARED_PREFIX] for value in wanted}
            )
            if row[key] in wanted and all(row[name] == value for name, value in required.items())
        ]
        yield from self._file_records(kind, sorted(rows, key=itemgetter("id")), texts=True)

    def of_runs(self, kind: type[R], run_ids: Iterable[str]) -> Iterator[R]:
        """Return the records of several runs that have few of this kind."""
        return self.by_key(kind, "run_id", run_ids)

    def of_monitor(self, kind: type[R], monitor_id: str) -> Iterator[R]:
        """Return the records of a monitor, in the order of their ids."""
        return self.by_key(kind, "monitor_id", [monitor_id])

    def all(self, kind: type[R]) -> Iterator[R]:
        """Return every record of a kind: rows in the order of their ids, then those in files."""
        table = RECORDS[kind.kind]
        yield from self._read(kind, select(table).where(*self._visible(table)))
        if kind in IN_FILES:
            for run_id in self.files.runs():
                yield from self._in_files(kind, run_id, texts=True)

    def latest(self, kind: type[R], limit: int, *, purpose: Purpose) -> list[R]:
        """Return the latest records of a kind and purpose, newest first."""
        rank = {id_: n for n, id_ in enumerate(self.latest_ids(kind, limit, purpose=purpose))}
        return sorted(self.get(kind, rank), key=lambda record: rank[record.id])

    def latest_ids(
        self, kind: type[Record], limit: int, *, purpose: Purpose | None = None, begins: str = ""
    ) -> list[str]:
        """Return the ids of the latest records of a kind, newest first."""
        table = RECORDS[kind.kind]
        query = select(table.c.id).where(table.c.id.startswith(begins), *self._visible(table))
        query = query.where(table.c.purpose == purpose.value) if purpose else query
        return self.db.scalars(query.order_by(table.c.at.desc(), table.c.id).limit(limit))

    def sees(self, record: Record) -> bool:
        """Return whether a record that was read earlier is in the current scope."""
        return self.db.tenant in {None, record.tenant}

    def since(self, kind: type[R], time: datetime, *, purpose: Purpose) -> list[R]:
        """Return the records of a kind and purpose made at or after a time, by id."""
        table = RECORDS[kind.kind]
        query = select(table).where(table.c.purpose == purpose.value, table.c.at >= time)
        return list(self._read(kind, query.where(*self._visible(table))))

    def ids_since(self, kind: type[Record], time: datetime) -> list[str]:
        """Return the ids of the records of a kind made at or after a time, of every purpose."""
        table = RECORDS[kind.kind]
        query = select(table.c.id).where(table.c.at >= time, *self._visible(table))
        return self.db.scalars(query)

    def ids_of_run(self, kind: type[Record], run_id: str, *, after: str, most: int) -> list[str]:
        """Return the ids of a run's records after an id, in order."""
        table = RECORDS[kind.kind]
        query = select(table.c.id).where(table.c.run_id == run_id, table.c.id > after)
        query = query.where(*self._visible(table, run_id)).order_by(table.c.id).limit(most)
        ids = self.db.scalars(query)
        if kind not in IN_FILES:
            return ids
        rows = self.files.in_order(kind.kind, run_id, after=after, tenant=self.db.tenant)
        return sorted({*ids, *(row["id"] for row in islice(rows, most))})[:most]

    def _visible(self, table: Table, run_id: str | None = None) -> list[ColumnElement[bool]]:
        """Return the conditions that exclude rows of other tenants.

        A visible run needs none, because reading the column of each of its rows is expensive.
        """
        if (tenant := self.db.tenant) is None:
            return []
        runs = RECORDS[Run.kind].c
        if run_id and self.db.scalar(select(runs.tenant).where(runs.id == run_id)) == tenant:
            return []
        return [table.c.tenant == tenant]

    def _read(self, kind: type[R], query: Select[Any], *, texts: bool = True) -> Iterator[R]:
        table = RECORDS[kind.kind]
        with_texts = texts and self.db.scope().texts and bool(kind.text_fields())
        embedded_ids = (table.c[f"{name}_id"] for name in kind.embedded_kinds())
        query = query.with_only_columns(table.c.id, table.c.body, *embedded_ids)
        query = query.order_by(table.c.id).limit(PAGE_ROWS)
        rows: list[Row] = []
        while not rows or len(rows) == PAGE_ROWS:
            last_id = rows[-1]["id"] if rows else ""
            with self.db.reading() as connection:
                page = connection.execute(query.where(table.c.id > last_id))
                rows = [dict(row) for row in page.mappings().all()]
                ids = [row["id"] for row in rows] if with_texts else []
                texts_of_rows = texts_by_record(connection, ids) if ids else {}
            if not rows:
                return
            yield from self._assembled(kind, rows, texts_of_rows, texts=texts)

    def _in_files(self, kind: type[R], run_id: str, *, texts: bool) -> Iterator[R]:
        rows = self.files.in_order(kind.kind, run_id, tenant=self.db.tenant)
        while page := list(islice(rows, PAGE_ROWS)):
            yield from self._file_records(kind, page, texts=texts)

    def _file_records(self, kind: type[R], rows: Sequence[Row], *, texts: bool) -> Iterator[R]:
        """Return the records of rows that were read from files."""
        with_texts = bool(rows) and texts and self.db.scope().texts and bool(kind.text_fields())
        texts_of_rows = self.files.texts(row["id"] for row in rows) if with_texts else {}
        yield from self._assembled(kind, rows, texts_of_rows, texts=texts)

    def _file_rows(self, kind: type[Record], ids: Iterable[str]) -> Mapping[str, Row]:
        if kind not in IN_FILES:
            return {}
        return self.files.rows(kind.kind, filter(is_id, ids), self.db.tenant)

    def _assembled(
        self,
        kind: type[R],
        rows: Sequence[Row],
        texts_of_rows: Mapping[str, Mapping[str, str]],
        *,
        texts: bool,
    ) -> Iterator[R]:
        parts: dict[str, dict[str, Record]] = {}
        for name, part in kind.embedded_kinds().items():
            records = self.get(part, [row[f"{name}_id"] for row in rows], texts=texts)
            parts[name] = {record.id: record for record in records}
        for row in rows:
            embedded = {name: records[row[f"{name}_id"]] for name, records in parts.items()}
            record = assemble(kind, row["body"], texts_of_rows.get(row["id"], {}), embedded)
            yield cast("R", record)
