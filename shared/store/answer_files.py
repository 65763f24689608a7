"""Production answers in files in insertion order: found by id, read in the order of ids."""

import heapq
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, and_, func, or_, select, update

from biaswatch.shared.contracts import Response
from biaswatch.shared.contracts.identity import BEGINNING_HEX_DIGITS, ID_HEX_DIGITS
from biaswatch.shared.errors import TransientError
from biaswatch.shared.lookup import grouped
from biaswatch.shared.store.answer_file_reader import AnswerFileReader
from biaswatch.shared.store.archive_files import COLUMNS, MANIFEST, ArchiveFile
from biaswatch.shared.store.database import Database
from biaswatch.shared.store.monitoring_tables import ARCHIVE_FILES
from biaswatch.shared.store.record_rows import FILE_KINDS, Row, restored_row
from biaswatch.shared.store.tables import TEXTS
from biaswatch.shared.store.texts import TextOwner, purges_of

TEXT = TEXTS.name
"""Kind of the files of texts."""
FINISHED = and_(
    COLUMNS.uri.is_not(None), COLUMNS.verified.is_(True), COLUMNS.pending_deletion.is_(False)
)
LAST_DIGIT = "f"
MAX_WINDOWS = 50
"""Windows per query of the manifest."""


class AnswerFiles:
    """Finds records in files of production answers, of every tenant.

    The ids of a window start with the same digits and are in order, as is each file, so a lookup
    of ids reads the files whose range of ids contains them.
    """

    def __init__(self, db: Database) -> None:
        self._db = db
        self._reader = AnswerFileReader()

    def check_available(self) -> None:
        """Raise TransientError while the place of the files, if there are any, does not answer."""
        query = select(COLUMNS.uri).where(FINISHED, COLUMNS.kind == Response.kind).limit(1)
        uri = self._db.scalar(query)
        if uri is not None:
            self._reader.folder(uri).check_available()

    def present(self, kind: str, ids: Iterable[str]) -> set[str]:
        """Return the ids of these records that are in files."""
        return {
            id_
            for file, candidates in self._candidates(kind, ids)
            for id_ in self._reader.ids(file, candidates)
        }

    def rows(self, kind: str, ids: Iterable[str], tenant: str | None = None) -> dict[str, Row]:
        """Return the rows of these records that are in files, by id."""
        rows: dict[str, Row] = {}
        for file, candidates in self._candidates(kind, ids):
            for row in self._reader.rows(file, candidates):
                if tenant in (None, row["tenant"]):
                    rows.setdefault(row["id"], restored_row(row))
        return rows

    def texts(self, record_ids: Iterable[str]) -> dict[str, dict[str, str]]:
        """Return the texts of records by field, without purged ones."""
        texts: dict[str, dict[str, str]] = {}
        for row in self.text_rows(record_ids):
            texts.setdefault(row["record_id"], {})[row["field"]] = row["body"]
        return texts

    def text_rows(self, record_ids: Iterable[str]) -> list[Row]:
        """Return the rows of the texts of records, without purged ones."""
        ids = list(record_ids)
        try:
            return self._text_rows(ids)
        except TransientError:  # a purge may have replaced a file since it was looked up
            return self._text_rows(ids)

    def _text_rows(self, record_ids: Sequence[str]) -> list[Row]:
        rows = [
            row
            for file, candidates in self._candidates(TEXT, record_ids)
            for row in self._reader.rows(file, candidates)
        ]
        if not rows:
            return []
        keys = {key for row in rows for key in (row["run_id"], row["unit_id"])}
        with self._db.reading() as connection:
            purged = purges_of(connection, keys, {row["tenant"] for row in rows})
        return [
            row
            for row in rows
            if not purged.covers_texts_of(
                TextOwner(row["tenant"], row["run_id"], row["unit_id"], row["at"], judging=False)
            )
        ]

    def with_prefixes(self, kind: str, prefixes: Iterable[str]) -> Iterator[Row]:
        """Return the rows of records whose ids start with a prefix; all have one length."""
        by_window = _by_window(prefixes) if self._has_any(kind) else []
        ranges = [(wanted[0], wanted[-1].ljust(ID_HEX_DIGITS, LAST_DIGIT)) for wanted in by_window]
        for file, wanted in self._files_of_ranges(kind, by_window, ranges):
            yield from map(restored_row, self._reader.with_prefixes(file, wanted))

    def in_order(
        self, kind: str, run_id: str, *, after: str = "", tenant: str | None = None
    ) -> Iterator[Row]:
        """Return the rows of a run's records after an id, in the order of ids."""
        with self._db.reading() as connection:
            files = _files(connection, _of_run(kind, run_id, after))
        for row in _merged(self._reader, files, after):
            if tenant in (None, row["tenant"]):
                yield restored_row(row)

    def count(self, kind: str, run_id: str | None = None, tenant: str | None = None) -> int:
        """Return the number of records of a kind in files, of a run or of all."""
        files = and_(FINISHED, COLUMNS.kind == kind) if run_id is None else _of_run(kind, run_id)
        query = select(func.sum(COLUMNS.rows)).where(files)
        query = query if tenant is None else query.where(COLUMNS.tenant == tenant)
        return int(self._db.scalar(query) or 0)

    def any_of(self, run_id: str) -> bool:
        """Return whether a run has answers in files."""
        query = select(COLUMNS.path).where(FINISHED, COLUMNS.run_id == run_id).limit(1)
        return self._db.scalar(query) is not None

    def runs(self) -> list[str]:
        """Return the runs that have answers in files."""
        return self._db.scalars(select(COLUMNS.run_id).where(FINISHED).distinct())

    def give_up(self, run_id: str) -> None:
        """Mark the files of a run for deletion, after the archive has their content."""
        of_run = (COLUMNS.run_id == run_id, COLUMNS.uri.is_not(None))
        self._db.execute(update(ARCHIVE_FILES).where(*of_run).values(pending_deletion=True))

    def unfinished(self, before: datetime) -> list[ArchiveFile]:
        """Return the files that were begun before a time and never finished."""
        condition = and_(
            COLUMNS.uri.is_not(None),
            COLUMNS.verified.is_(False),
            COLUMNS.purged_at < before,
            COLUMNS.pending_deletion.is_(False),
        )
        with self._db.reading() as connection:
            return _files(connection, condition)

    def overlapping(
        self, connection: Connection, kind: str, run_id: str, ids: Sequence[str]
    ) -> list[ArchiveFile]:
        """Return the finished files of a run whose range overlaps sorted ids."""
        return _files(connection, _may_hold(kind, ids[0], ids[-1]), COLUMNS.run_id == run_id)

    def ids_in(self, file: ArchiveFile, ids: Sequence[str]) -> set[str]:
        """Return the sorted ids that a file contains."""
        candidates = _within(file, ids)
        return self._reader.ids(file, candidates) if candidates else set()

    def _candidates(self, kind: str, ids: Iterable[str]) -> list[tuple[ArchiveFile, Sequence[str]]]:
        """Return the files that may contain some of these ids, each with those ids."""
        if kind not in {*FILE_KINDS, TEXT} or not self._has_any(kind):
            return []
        by_window = _by_window(ids)
        ranges = [(window_ids[0], window_ids[-1]) for window_ids in by_window]
        return [
            (file, candidates)
            for file, window_ids in self._files_of_ranges(kind, by_window, ranges)
            if (candidates := _within(file, window_ids))
        ]

    def _files_of_ranges(
        self, kind: str, by_window: Sequence[list[str]], ranges: Sequence[tuple[str, str]]
    ) -> Iterator[tuple[ArchiveFile, list[str]]]:
        """Return the files that may contain ids in the range of a window, with its ids."""
        windows = {ids[0][:BEGINNING_HEX_DIGITS]: ids for ids in by_window}
        for start in range(0, len(ranges), MAX_WINDOWS):
            conditions = (_may_hold(kind, *pair) for pair in ranges[start : start + MAX_WINDOWS])
            with self._db.reading() as connection:
                files = _files(connection, or_(*conditions))
            for file in files:
                yield file, windows[str(file.first_id)[:BEGINNING_HEX_DIGITS]]

    def _has_any(self, kind: str) -> bool:
        """Return whether there is any file, since unordered ids are one window each."""
        query = select(COLUMNS.path).where(COLUMNS.kind == kind).limit(1)
        return self._db.scalar(query) is not None


def _by_window(ids: Iterable[str]) -> list[list[str]]:
    """Return ids sorted, in a list for each window."""
    by_window = grouped((id_[:BEGINNING_HEX_DIGITS], id_) for id_ in sorted(set(ids)))
    return list(by_window.values())


def _of_run(kind: str, run_id: str, after: str = "") -> ColumnElement[bool]:
    """Return the condition for the files of a run that may hold ids after one.

    The range of ids makes databases use the index of ids.
    """
    prefix = run_id[:BEGINNING_HEX_DIGITS]
    last = prefix.ljust(ID_HEX_DIGITS, LAST_DIGIT)
    return and_(_may_hold(kind, max(after, prefix), last), COLUMNS.run_id == run_id)


def _may_hold(kind: str, first: str, last: str) -> ColumnElement[bool]:
    """Return the condition that a file may contain ids of a window in a range."""
    end = first[:BEGINNING_HEX_DIGITS].ljust(ID_HEX_DIGITS, LAST_DIGIT)
    return and_(
        FINISHED,
        COLUMNS.kind == kind,
        COLUMNS.last_id >= first,
        COLUMNS.last_id <= end,  # bounds the scan of the index
        COLUMNS.first_id <= last,
    )


def _files(connection: Connection, *conditions: ColumnElement[bool]) -> list[ArchiveFile]:
    query = select(*MANIFEST).where(*conditions).order_by(COLUMNS.first_id, COLUMNS.path)
    return [ArchiveFile(**row._asdict()) for row in connection.execute(query)]


def _within(file: ArchiveFile, ids: Sequence[str]) -> Sequence[str]:
    """Return the sorted ids between a file's first and last."""
    first, last = str(file.first_id), str(file.last_id)
    return ids[bisect_left(ids, first) : bisect_right(ids, last)]


def _merged(reader: AnswerFileReader, files: Sequence[ArchiveFile], after: str) -> Iterator[Row]:
    """Return the rows of files, sorted by first id, in the order of ids.

    A file is opened when its first id is due, so that few are open at the same time.
    """
    unopened = deque(files)
    heads: list[tuple[str, str, Row, Iterator[Row]]] = []
    while unopened or heads:
        while unopened and (not heads or str(unopened[0].first_id) <= heads[0][0]):
            file = unopened.popleft()
            _push(heads, file.path, reader.after(file, after))
        if heads:
            _, path, row, rows = heapq.heappop(heads)
            yield row
            _push(heads, path, rows)


def _push(heads: list[tuple[str, str, Row, Iterator[Row]]], path: str, rows: Iterator[Row]) -> None:
    if (row := next(rows, None)) is not None:
        heapq.heappush(heads, (row["id"], path, row, rows))
