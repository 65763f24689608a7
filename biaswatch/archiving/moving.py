"""Moving a run's answers into an archive: written, read back, only then removed from the store.

Every step is noted in the store before it is done, so that the same command goes on after a death
at any moment, and neither loses an answer nor has one twice.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from tempfile import TemporaryFile
from typing import IO, Any

import pyarrow

from biaswatch.exporting.answers import is_text_column, ordered, rows_of_page
from biaswatch.shared.contracts import Features, PairVerdict, Purpose, Response
from biaswatch.shared.errors import TransientError, UsageError
from biaswatch.shared.parquet.files import (
    NUMBERS,
    RECORDS,
    SCHEMAS,
    TEXTS,
    Proof,
    Row,
    RowsWriter,
    path_of,
    proof_of,
    rows_of,
)
from biaswatch.shared.parquet.folder import ParquetFolder
from biaswatch.shared.requests.exports import exported_answer, exported_features
from biaswatch.shared.store import Store
from biaswatch.shared.store.archive_files import ArchiveFile
from biaswatch.shared.store.archived_runs import MOVED, ArchivableRun, ArchivedRun, ArchiveState
from biaswatch.shared.store.engine import chunks

TEXT_COLUMNS = ("messages", "text", "baseline")
"""What people and models wrote, and baselines that stand for it."""
AT_ONCE = 500


class DayOfNumbers:
    """The rows of one day, kept in a file of its own until their columns are known."""

    def __init__(self, kept: IO[str]) -> None:
        self._names: dict[str, None] = {}
        self._kept = kept

    def add(self, row: Row) -> None:
        """Keep a row."""
        self._names |= dict.fromkeys(row)
        self._kept.write(json.dumps(row, ensure_ascii=False) + "\n")

    @property
    def schema(self) -> pyarrow.Schema:
        """The columns of all rows: names are texts, measurements are numbers."""
        kinds = {True: pyarrow.string(), False: pyarrow.float64()}
        names = ordered(self._names)
        return pyarrow.schema([(name, kinds[is_text_column(name)]) for name in names])

    def rows(self) -> Iterator[list[Row]]:
        """Return the rows as the schema has them, some at a time."""
        numbers = {name for name in self._names if not is_text_column(name)}
        self._kept.seek(0)
        some: list[Row] = []
        for line in self._kept:
            some.append(_typed(json.loads(line), numbers))
            if len(some) == AT_ONCE:
                yield some
                some = []
        yield some


def _typed(row: Row, numbers: set[str]) -> Row:
    return {
        name: None if cell is None else float(cell) if name in numbers else str(cell)
        for name, cell in row.items()
    }


def number_rows(store: Store, response_ids: Sequence[str]) -> Iterable[tuple[str, Row]]:
    """Yield the day and the row of each of these answers; what judges said is none."""
    answers = [
        each
        for each in store.records.get(Response, response_ids, texts=False)
        if each.purpose is not Purpose.JUDGE
    ]
    by_answer: dict[str, list[Features]] = {}
    for each in store.records.by_key(Features, "response_id", [each.id for each in answers]):
        by_answer.setdefault(each.response_id, []).append(each)
    for answer in answers:
        shown = exported_answer(answer.probe, answer.id, answer)
        measured = exported_features(answer.id, by_answer.get(answer.id, []), ())
        [row] = rows_of_page([shown], measured)
        day = (shown.at or answer.at).date().isoformat()
        yield day, {name: cell for name, cell in row.items() if name not in TEXT_COLUMNS}


CLOCKS_APART = timedelta(hours=1)
"""A purge that was noted so long before the texts were read is taken for one that came after."""
Told = Callable[[int], None]
"""Is told how many more records were moved."""


@dataclass
class RunFiles:
    """The files of a run while they are written, one a dataset and day."""

    store: Store
    folder: ParquetFolder
    run: ArchivableRun
    began_at: datetime
    stack: ExitStack
    writers: dict[tuple[str, str], tuple[ArchiveFile, RowsWriter]] = field(default_factory=dict)
    days: dict[str, DayOfNumbers] = field(default_factory=dict)

    def add(self, dataset: str, rows: Sequence[Row]) -> None:
        """Write rows into the files of their days."""
        by_day: dict[str, list[Row]] = {}
        for row in rows:
            by_day.setdefault(row["at"].date().isoformat(), []).append(row)
        for day, some in by_day.items():
            self._writer(dataset, day, SCHEMAS[dataset]).add(some)

    def add_numbers(self, response_ids: list[str]) -> None:
        """Keep the rows of numbers of some answers."""
        for day, row in number_rows(self.store, response_ids):
            if day not in self.days:
                kept = self.stack.enter_context(TemporaryFile("w+", encoding="utf-8"))  # noqa: SIM115
                self.days[day] = DayOfNumbers(kept)
            self.days[day].add(row)

    def finish(self) -> list[tuple[ArchiveFile, Proof]]:
        """Write what was kept; return every file with what it should hold."""
        for day, kept in self.days.items():
            writer = self._writer(NUMBERS, day, kept.schema)
            for some in kept.rows():
                writer.add(some)
        written = [(file, writer.close()) for file, writer in self.writers.values()]
        self.stack.close()  # now the files have their names
        return written

    def _writer(self, dataset: str, day: str, schema: Any) -> RowsWriter:
        if (dataset, day) not in self.writers:
            run = self.run
            file = ArchiveFile(
                run.run_id, path_of(dataset, run.tenant, run.source, day, f"{run.run_id}-0"),
                run.tenant, dataset, day, rows=0, digest="", verified=False, doomed=False,
                purged_at=self.began_at - CLOCKS_APART,
            )  # fmt: skip
            self.store.archive_files.name(file)
            stream = self.stack.enter_context(self.folder.written(file.path))
            writer = self.stack.enter_context(RowsWriter.of_rows(stream, schema))
            self.writers[dataset, day] = file, writer
        return self.writers[dataset, day][1]


def move_run(
    store: Store,
    folder: ParquetFolder,
    run: ArchivableRun,
    now: Callable[[], datetime],
    told: Told = lambda more: None,
) -> ArchivedRun:
    """Move a run's answers into the archive, or go on where that stopped.

    Raises
    ------
    UsageError
        It is on its way to another archive.
    TransientError
        A file cannot be written or read, or does not hold what was written; nothing was removed.
    """
    found = store.archived_runs.begin(run, folder.uri, now())
    if found.uri != folder.uri:
        raise UsageError(
            f"The run {run.run_id} is on its way to {found.uri}: archive to there, so that it gets"
            " there, before you choose another."
        )
    if found.state is ArchiveState.WRITING:
        amounts = _write(store, folder, run, now(), told)
        store.archived_runs.note(run.run_id, ArchiveState.REMOVING, now(), **amounts)
    for kind, ids in record_ids(store, folder, run.run_id):
        store.archive_rows.remove(kind, ids)
        told(len(ids))
    store.answer_files.give_up(run.run_id)
    store.archived_runs.note(run.run_id, ArchiveState.ARCHIVED, now())
    moved = store.archived_runs.find(run.run_id)
    assert moved is not None  # noqa: S101 - noted above
    return moved


def _write(
    store: Store, folder: ParquetFolder, run: ArchivableRun, began_at: datetime, told: Told
) -> dict[str, int]:
    """Write the files of a run and read them back; return how much they hold."""
    for left in store.archive_files.of_run(run.run_id):  # by somebody who died over it
        folder.remove(left.path)
        store.archive_files.forget(left)
    amounts = {"answers": 0, "measurements": 0}
    with ExitStack() as stack:
        files = RunFiles(store, folder, run, began_at, stack)
        for kind in MOVED:
            for rows in store.archive_rows.records(kind, run.run_id):
                files.add(RECORDS, rows)
                files.add(TEXTS, _texts(store, rows))
                if kind is Response:
                    files.add_numbers([row["id"] for row in rows])
                    amounts["answers"] += sum(row["purpose"] != Purpose.JUDGE for row in rows)
                amounts["measurements"] += len(rows) if kind is Features else 0
                told(len(rows))
        written = files.finish()
    for file, proof in written:
        if proof_of(folder, file.path) != proof:
            raise TransientError(
                f"{file.path} in {folder.uri} does not hold what was written to it. Nothing was"
                " removed from the store; look after the disk or the object store, then repeat."
            )
        store.archive_files.verify(file, proof.rows, proof.digest)
    return amounts


def _texts(store: Store, records: list[dict[str, Any]]) -> list[Row]:
    purposes = {row["id"]: row["purpose"] for row in records}
    ids = list(purposes)
    return [{**row, "purpose": purposes[row["record_id"]]} for row in store.archive_rows.texts(ids)]


def record_ids(store: Store, folder: ParquetFolder, run_id: str) -> Iterator[tuple[str, list[str]]]:
    """Return the ids that the verified files of a run hold, some of a kind at a time."""
    for file in store.archive_files.of_run(run_id):
        if file.dataset != RECORDS or not file.verified:
            continue
        for rows in rows_of(folder, file.path, ["kind", "id"]):
            by_kind: dict[str, list[str]] = {}
            for row in rows:
                by_kind.setdefault(row["kind"], []).append(row["id"])
            for kind, ids in by_kind.items():
                for some in chunks(ids):
                    yield kind, some


def is_judging(row: Row) -> bool:
    """Tell whether a text is what a judge was asked or said."""
    return bool(row["purpose"] == Purpose.JUDGE or row["kind"] == PairVerdict.kind)
