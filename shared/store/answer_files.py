"""Answers of live systems in files, as they came: found by their ids, read in their order."""

import heapq
import json
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, and_, func, select, update

from biaswatch.shared.contracts.identity import BEGINNING_HEX_DIGITS, ID_HEX_DIGITS
from biaswatch.shared.errors import TransientError
from biaswatch.shared.store.answer_file_reader import AnswerFileReader, Row
from biaswatch.shared.store.archive_files import COLUMNS, ArchiveFile
from biaswatch.shared.store.archived_runs import MOVED_KINDS
from biaswatch.shared.store.engine import read_transaction, write_transaction
from biaswatch.shared.store.monitoring_tables import ARCHIVE_FILES
from biaswatch.shared.store.tables import TEXTS
from biaswatch.shared.store.texts import TextOwner, purged

TEXT = TEXTS.name
"""The kind of file that holds what people and models wrote."""
THERE = and_(COLUMNS.uri.is_not(None), COLUMNS.verified.is_(True), COLUMNS.doomed.is_(False))
LAST_DIGIT = "f"
KINDS = {*MOVED_KINDS, TEXT}


class AnswerFiles:
    """Finds records in the files in which they were written as they came.

    Ids of a window begin with the same digits and are in order, and so is each file: whoever looks
    for some ids reads the files that may hold them.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._read = AnswerFileReader()

    def present(self, kind: str, ids: Iterable[str]) -> set[str]:
        """Return which of these records are in files."""
        found: set[str] = set()
        for file, some in self._holding(kind, ids):
            found |= self._read.ids(file, some)
        return found

    def rows(self, kind: str, ids: Iterable[str], tenant: str | None = None) -> dict[str, Row]:
        """Return the rows of those of these records that are in files, by their ids."""
        found: dict[str, Row] = {}
        for file, some in self._holding(kind, ids):
            for row in self._read.rows(file, some):
                if tenant in (None, row["tenant"]):
                    found.setdefault(row["id"], _whole(row))
        return found

    def texts(self, record_ids: Iterable[str]) -> dict[str, dict[str, str]]:
        """Return the texts of records by their fields, without what was purged meanwhile."""
        found: dict[str, dict[str, str]] = {}
        for row in self.text_rows(record_ids):
            found.setdefault(row["record_id"], {})[row["field"]] = row["body"]
        return found

    def text_rows(self, record_ids: Iterable[str]) -> list[Row]:
        """Return the rows of the texts of records, without what was purged meanwhile."""
        ids = list(record_ids)
        try:
            return self._text_rows(ids)
        except TransientError:  # a purge may have replaced a file since it was looked up
            return self._text_rows(ids)

    def _text_rows(self, record_ids: Sequence[str]) -> list[Row]:
        holding = self._holding(TEXT, record_ids)
        if not holding:
            return []
        with read_transaction(self._engine) as connection:
            gone = purged(connection)
        return [
            row
            for file, some in holding
            for row in self._read.rows(file, some)
            if not gone.covers_texts_of(
                TextOwner(row["tenant"], row["run_id"], row["unit_id"], row["at"], judging=False)
            )
        ]

    def beginning(self, kind: str, beginnings: Iterable[str]) -> Iterator[Row]:
        """Return the rows of records whose ids begin with one of these, all as long."""
        by_run: dict[str, set[str]] = {}
        for each in beginnings:
            by_run.setdefault(each[:BEGINNING_HEX_DIGITS], set()).add(each)
        for wanted in by_run.values() if self._has_any(kind) else ():
            last = max(wanted).ljust(ID_HEX_DIGITS, LAST_DIGIT)
            for file in self._where(_may_hold(kind, min(wanted), last)):
                yield from map(_whole, self._read.beginning(file, wanted))

    def in_order(
        self, kind: str, run_id: str, *, after: str = "", tenant: str | None = None
    ) -> Iterator[Row]:
        """Return the rows of a run's records after an id, in the order of their ids."""
        begins = run_id[:BEGINNING_HEX_DIGITS]
        last = begins.ljust(ID_HEX_DIGITS, LAST_DIGIT)
        which = and_(_may_hold(kind, max(after, begins), last), COLUMNS.run_id == run_id)
        for row in _merged(self._read, self._where(which), after):
            if tenant in (None, row["tenant"]):
                yield _whole(row)

    def count(self, kind: str, run_id: str | None = None, tenant: str | None = None) -> int:
        """Count the records of a kind that are in files, of a run or of all; each is in one."""
        mine = and_(THERE, COLUMNS.kind == kind)
        if run_id is not None:
            mine = and_(mine, COLUMNS.run_id == run_id)
        if tenant is not None:
            mine = and_(mine, COLUMNS.tenant == tenant)
        with read_transaction(self._engine) as connection:
            return int(connection.scalar(select(func.sum(COLUMNS.rows)).where(mine)) or 0)

    def any_of(self, run_id: str) -> bool:
        """Tell whether answers of a run are in files as they came."""
        mine = select(COLUMNS.path).where(THERE, COLUMNS.run_id == run_id).limit(1)
        with read_transaction(self._engine) as connection:
            return connection.scalar(mine) is not None

    def runs(self) -> list[str]:
        """Return the runs of which answers are in files as they came."""
        with read_transaction(self._engine) as connection:
            return list(connection.scalars(select(COLUMNS.run_id).where(THERE).distinct()))

    def give_up(self, run_id: str) -> None:
        """Note that the files of a run are to be removed: the archive has what they hold."""
        mine = and_(COLUMNS.run_id == run_id, COLUMNS.uri.is_not(None))
        with write_transaction(self._engine) as connection:
            connection.execute(update(ARCHIVE_FILES).where(mine).values(doomed=True))

    def unfinished(self, before: datetime) -> list[ArchiveFile]:
        """Return the files that somebody began before a moment and did not finish."""
        left = and_(
            COLUMNS.uri.is_not(None), COLUMNS.verified.is_(False), COLUMNS.purged_at < before
        )
        return self._where(and_(left, COLUMNS.doomed.is_(False)))

    def overlapping(
        self, connection: Connection, kind: str, run_id: str, ids: Sequence[str]
    ) -> list[ArchiveFile]:
        """Return the finished files of a run that may hold some of these ids, which are sorted."""
        mine = (_may_hold(kind, ids[0], ids[-1]), COLUMNS.run_id == run_id)
        return _files(connection, and_(*mine))

    def ids_in(self, file: ArchiveFile, ids: Sequence[str]) -> set[str]:
        """Return which of these ids, which are sorted, a file holds."""
        some = _within(file, ids)
        return self._read.ids(file, some) if some else set()

    def _holding(self, kind: str, ids: Iterable[str]) -> list[tuple[ArchiveFile, Sequence[str]]]:
        """Return the files that may hold some of these ids, each with those ids."""
        if kind not in KINDS or not self._has_any(kind):
            return []
        by_beginning: dict[str, list[str]] = {}
        for id_ in sorted(set(ids)):
            by_beginning.setdefault(id_[:BEGINNING_HEX_DIGITS], []).append(id_)
        return [
            (file, mine)
            for some in by_beginning.values()
            for file in self._where(_may_hold(kind, some[0], some[-1]))
            if (mine := _within(file, some))
        ]

    def _has_any(self, kind: str) -> bool:
        """Tell whether there is any such file: ids of hashes would be one question each."""
        query = select(COLUMNS.path).where(COLUMNS.kind == kind).limit(1)
        with read_transaction(self._engine) as connection:
            return connection.scalar(query) is not None

    def _where(self, which: ColumnElement[bool]) -> list[ArchiveFile]:
        with read_transaction(self._engine) as connection:
            return _files(connection, which)


def _may_hold(kind: str, first: str, last: str) -> ColumnElement[bool]:
    """Return the condition that a file may hold ids of a window from one to another."""
    end = first[:BEGINNING_HEX_DIGITS].ljust(ID_HEX_DIGITS, LAST_DIGIT)
    return and_(
        THERE,
        COLUMNS.kind == kind,
        COLUMNS.last_id >= first,
        COLUMNS.last_id <= end,  # so that the index ends with the window
        COLUMNS.first_id <= last,
    )


def _files(connection: Connection, which: ColumnElement[bool]) -> list[ArchiveFile]:
    query = select(ARCHIVE_FILES).where(which).order_by(COLUMNS.first_id, COLUMNS.path)
    return [ArchiveFile(**row) for row in connection.execute(query).mappings()]


def _within(file: ArchiveFile, ids: Sequence[str]) -> Sequence[str]:
    """Return the sorted ids that lie between a file's first and last."""
    first, last = str(file.first_id), str(file.last_id)
    return ids[bisect_left(ids, first) : bisect_right(ids, last)]


def _whole(row: Mapping[str, Any]) -> Row:
    """Return a row with the columns that the table of its kind has."""
    return {**row, **json.loads(row["keys"])}


def _merged(read: AnswerFileReader, files: Sequence[ArchiveFile], after: str) -> Iterator[Row]:
    """Return the rows of files, which are given by their first ids, in the order of their ids.

    A file is opened when its first id is due: few are open at the same time.
    """
    waiting = deque(files)
    heads: list[tuple[str, str, Row, Iterator[Row]]] = []
    while waiting or heads:
        while waiting and (not heads or str(waiting[0].first_id) <= heads[0][0]):
            file = waiting.popleft()
            _push(heads, file.path, read.after(file, after))
        if heads:
            _, path, row, rest = heapq.heappop(heads)
            yield row
            _push(heads, path, rest)


def _push(heads: list[tuple[str, str, Row, Iterator[Row]]], path: str, rows: Iterator[Row]) -> None:
    if (row := next(rows, None)) is not None:
        heapq.heappush(heads, (row["id"], path, row, rows))
