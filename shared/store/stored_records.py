"""Records wherever they are: rows, and answers of live systems in files as they came."""

from collections import Counter
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from heapq import merge
from itertools import islice
from operator import attrgetter, itemgetter
from typing import TypeVar

from pydantic_core import from_json
from sqlalchemy import Connection, Engine

from biaswatch.shared.contracts import Features, Probe, Record, Response
from biaswatch.shared.contracts.identity import BEGINNING_HEX_DIGITS, is_id
from biaswatch.shared.store.answer_file_writer import AnswerFileWriter, goes_to_file
from biaswatch.shared.store.answer_files import AnswerFiles
from biaswatch.shared.store.archived_runs import lock_run
from biaswatch.shared.store.engine import ScopeNow, chunks, everything
from biaswatch.shared.store.record_rows import Row, WriteResult
from biaswatch.shared.store.records import PAGE, ByKind, Records

R = TypeVar("R", bound=Record)
IN_FILES: tuple[type[Record], ...] = (Response, Probe, Features)
BEGINNING = 2 * BEGINNING_HEX_DIGITS
"""What the ids of an answer and of its measurements have in common, where they are in order."""


class StoredRecords(Records):
    """Reads and writes records; who reads one need not know where it is.

    A row comes before a file: what was kept as rows before stays there. Nobody asks for answers of
    live systems by their age, or by columns other than these: such methods look at rows alone.
    """

    def __init__(
        self,
        engine: Engine,
        scope: ScopeNow = everything,
        *,
        files: AnswerFiles,
        writer: AnswerFileWriter | None = None,
    ) -> None:
        super().__init__(engine, scope)
        self._files = files
        self._writer = writer

    def write(self, records: Iterable[Record]) -> WriteResult:
        """Write records and those embedded in them; the first copy stays, wherever it is.

        Files come first, each in a transaction with its place in the store; then all rows in one.

        Raises
        ------
        TransientError
            The store or the place of the files is not available; writing again repeats nothing.
        ValueError
            A record is another tenant's than that of the scope: a fault of the caller.
        """
        by_kind = self._by_kind(records)
        in_files = _going_to_files(by_kind)
        if self._writer is None or not in_files:
            return self._write_rows(by_kind)
        new = self._writer.write(in_files)
        written = self._write_rows(_without(by_kind, in_files))
        written.new.update(new)
        written.known.update(Counter({kind: len(found) for kind, found in in_files.items()}) - new)
        return written

    def _without_files(self, connection: Connection, by_kind: ByKind) -> ByKind:
        """Return the records that become rows: what a file has, from before or beside, does not.

        Who adds a file to a run waits for this transaction, and this one for them.
        """
        if not (in_files := _going_to_files(by_kind)):
            return by_kind
        every = (each for found in in_files.values() for each in found.values())
        for run_id in sorted({str(each.run) for each in every}):
            lock_run(connection, run_id, shared=True)
        known = {kind: self._files.present(kind, found) for kind, found in in_files.items()}
        return _without(by_kind, known)

    def count(self, kind: type[Record], **keys: str) -> int:
        """Count the records of a kind: all, or those with this run_id, purpose, monitor_id, ..."""
        found = super().count(kind, **keys)
        if kind in IN_FILES and not keys.keys() - {"run_id"}:
            found += self._files.count(kind.kind, keys.get("run_id"), self._scope().tenant)
        return found

    def count_without(self, kind: type[Record], other: type[Record], *, run_id: str) -> int:
        """Count the records of a run that name another one which is not there."""
        if kind not in IN_FILES or not self._files.any_of(run_id):
            return super().count_without(kind, other, run_id=run_id)
        lacking = 0
        with closing(self.numbers(kind, run_id=run_id)) as bodies:
            while named := Counter(body[f"{other.kind}_id"] for body in islice(bodies, PAGE)):
                lacking += sum(named[id_] for id_ in self.missing(other, named))
        return lacking

    def missing(self, kind: type[Record], ids: Iterable[str]) -> set[str]:
        """Return the ids that are not in the store."""
        wanted = super().missing(kind, ids)
        if kind not in IN_FILES or not wanted:
            return wanted
        if self._scope().tenant is not None:
            return wanted - self._rows(kind, wanted).keys()
        return wanted - self._files.present(kind.kind, filter(is_id, wanted))

    def read(self, kind: type[R], *, run_id: str, texts: bool = True) -> Iterator[R]:
        """Return the records of a run, in the order of their ids; faster without texts."""
        rows = super().read(kind, run_id=run_id, texts=texts)
        if kind not in IN_FILES or not self._files.any_of(run_id):
            return rows
        both = merge(rows, self._in_files_of_run(kind, run_id, texts=texts), key=attrgetter("id"))
        return _once(both)

    def numbers(self, kind: type[R], *, run_id: str) -> Generator[Row, None, None]:
        """Return a run's records without texts and embedded records, as plain data.

        Those in files come last. Close it where not all is read: it holds a connection as long as
        it is open.
        """
        yield from super().numbers(kind, run_id=run_id)
        if kind in IN_FILES:
            for row in self._files.in_order(kind.kind, run_id, tenant=self._scope().tenant):
                yield from_json(row["body"])

    def numbers_of(self, kind: type[Record], ids: Iterable[str]) -> dict[str, Row]:
        """Return those of these records that exist, by their ids, as what `numbers` returns."""
        wanted = set(ids)
        found = super().numbers_of(kind, wanted)
        rows = self._rows(kind, wanted - found.keys())
        return found | {id_: from_json(row["body"]) for id_, row in rows.items()}

    def answered_of(self, response_ids: Iterable[str]) -> dict[str, tuple[Row, Row]]:
        """Return those of these responses that exist, each with its probe, as `numbers` does."""
        wanted = set(response_ids)
        found = super().answered_of(wanted)
        rows = self._rows(Response, wanted - found.keys())
        probes = self.numbers_of(Probe, (row["probe_id"] for row in rows.values()))
        for id_, row in rows.items():
            if (probe := probes.get(row["probe_id"])) is not None:
                found[id_] = from_json(row["body"]), probe
        return found

    def get(self, kind: type[R], ids: Iterable[str], *, texts: bool = True) -> Iterator[R]:
        """Return the records with these ids that exist, in the order of their ids.

        Text that cannot be an id never reaches the database. Without texts it is faster.
        """
        if kind not in IN_FILES:
            yield from super().get(kind, ids, texts=texts)
            return
        for some in chunks(filter(is_id, ids)):
            found = {each.id: each for each in super().get(kind, some, texts=texts)}
            rows = self._rows(kind, set(some) - found.keys())
            for each in self._records(kind, list(rows.values()), texts=texts):
                found[each.id] = each
            yield from (found[id_] for id_ in sorted(found))

    def by_key(self, kind: type[R], key: str, values: Iterable[str], **equal: str) -> Iterator[R]:
        """Return the records whose column `key` has one of these values.

        By their ids, but that those in files come last.
        """
        wanted = set(values)
        yield from super().by_key(kind, key, wanted, **equal)
        if (kind, key) != (Features, "response_id"):
            return
        begins = {value[:BEGINNING] for value in wanted}
        asked = {**equal, **self._of_tenant()}
        rows = [
            row
            for row in self._files.beginning(kind.kind, begins)
            if row[key] in wanted and all(row[name] == value for name, value in asked.items())
        ]
        yield from self._records(kind, sorted(rows, key=itemgetter("id")), texts=True)

    def all(self, kind: type[R]) -> Iterator[R]:
        """Return every record of a kind: rows in the order of their ids, then those in files."""
        yield from super().all(kind)
        if kind in IN_FILES:
            for run_id in self._files.runs():
                yield from self._in_files_of_run(kind, run_id, texts=True)

    def ids_of_run(self, kind: type[Record], run_id: str, *, after: str, most: int) -> list[str]:
        """Return at most so many ids of a run's records that come after an id, in their order."""
        ids = super().ids_of_run(kind, run_id, after=after, most=most)
        if kind not in IN_FILES:
            return ids
        tenant = self._scope().tenant
        rows = self._files.in_order(kind.kind, run_id, after=after, tenant=tenant)
        return sorted({*ids, *(row["id"] for row in islice(rows, most))})[:most]

    def _in_files_of_run(self, kind: type[R], run_id: str, *, texts: bool) -> Iterator[R]:
        rows = self._files.in_order(kind.kind, run_id, tenant=self._scope().tenant)
        while page := list(islice(rows, PAGE)):
            yield from self._records(kind, page, texts=texts)

    def _records(self, kind: type[R], rows: Sequence[Row], *, texts: bool) -> Iterator[R]:
        """Return the records of rows that were read from files."""
        if not rows:
            return
        texts = texts and self._scope().texts
        said = self._files.texts(row["id"] for row in rows) if texts and kind.text_fields() else {}
        yield from self._whole(kind, rows, said, texts=texts)

    def _rows(self, kind: type[Record], ids: Iterable[str]) -> dict[str, Row]:
        if kind not in IN_FILES:
            return {}
        return self._files.rows(kind.kind, filter(is_id, ids), self._scope().tenant)

    def _of_tenant(self) -> dict[str, str]:
        tenant = self._scope().tenant
        return {} if tenant is None else {"tenant": tenant}


def _going_to_files(by_kind: ByKind) -> ByKind:
    """Return the records that belong into files, where those are kept."""
    found = {
        kind.kind: {id_: each for id_, each in by_kind[kind.kind].items() if goes_to_file(each)}
        for kind in IN_FILES
        if kind.kind in by_kind
    }
    return {kind: some for kind, some in found.items() if some}


def _once(records: Iterable[R]) -> Iterator[R]:
    """Return each record once, the row before what is in a file."""
    last = None
    for each in records:
        if each.id != last:
            yield each
        last = each.id


def _without(by_kind: ByKind, known: Mapping[str, Collection[str]]) -> ByKind:
    """Return records without those that are somewhere else."""
    return {
        kind: {id_: each for id_, each in found.items() if id_ not in known.get(kind, ())}
        for kind, found in by_kind.items()
    }
