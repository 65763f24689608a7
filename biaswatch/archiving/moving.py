"""Moves the answers of runs from the store into an archive, and back."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime
from tempfile import TemporaryFile
from typing import Any

from biaswatch.archiving.numbers import DayOfNumbers, number_rows
from biaswatch.archiving.purging import CLOCK_SKEW, is_whole, owner_of
from biaswatch.shared.contracts import Features, Purpose, Response
from biaswatch.shared.errors import NotFoundError, TransientError, UsageError
from biaswatch.shared.lookup import grouped
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
from biaswatch.shared.store import Store
from biaswatch.shared.store.archive_files import ArchiveFile
from biaswatch.shared.store.archived_runs import ArchivableRun, ArchivedRun, ArchiveState
from biaswatch.shared.store.database import key_chunks
from biaswatch.shared.store.record_rows import IN_FILES
from biaswatch.shared.store.unit_filters import UnitFilter

Advance = Callable[[int], None]
"""Receives the number of records that were moved since the last call."""


@dataclass
class RunFiles:
    """The files of a run while they are written, one per dataset and day."""

    store: Store
    folder: ParquetFolder
    run: ArchivableRun
    started_at: datetime
    stack: ExitStack
    most_units: int
    writers: dict[tuple[str, str], tuple[ArchiveFile, RowsWriter]] = field(default_factory=dict)
    days: dict[str, DayOfNumbers] = field(default_factory=dict)
    units: dict[str, UnitFilter] = field(default_factory=dict)
    """The units of texts, by day."""

    def add(self, dataset: str, rows: Sequence[Row]) -> None:
        """Write rows into the files of their days."""
        by_day = grouped((row["at"].date().isoformat(), row) for row in rows)
        for day, rows_of_day in by_day.items():
            self._writer(dataset, day, SCHEMAS[dataset]).add(rows_of_day)
            if dataset == TEXTS:
                units = self.units.setdefault(day, UnitFilter(self.most_units))
                units.add({row["unit_id"] for row in rows_of_day})

    def add_numbers(self, response_ids: list[str]) -> None:
        """Buffer the rows of numbers of answers."""
        for day, row in number_rows(self.store, response_ids):
            if day not in self.days:
                buffer = self.stack.enter_context(TemporaryFile("w+", encoding="utf-8"))  # noqa: SIM115
                self.days[day] = DayOfNumbers(buffer)
            self.days[day].add(row)

    def finish(self) -> list[tuple[ArchiveFile, Proof]]:
        """Write the buffered rows; return every file with its proof."""
        for day, numbers in self.days.items():
            writer = self._writer(NUMBERS, day, numbers.schema)
            for batch in numbers.rows():
                writer.add(batch)
        proofs = [(file, writer.close()) for file, writer in self.writers.values()]
        self.stack.close()  # gives the files their names
        return proofs

    def _writer(self, dataset: str, day: str, schema: Any) -> RowsWriter:
        if (dataset, day) not in self.writers:
            run = self.run
            file = ArchiveFile(
                run.run_id, path_of(dataset, run.tenant, run.source, day, f"{run.run_id}-0"),
                run.tenant, dataset, day, rows=0, digest="", verified=False,
                pending_deletion=False, purged_at=self.started_at - CLOCK_SKEW,
            )  # fmt: skip
            self.store.archive_files.register(file)
            stream = self.stack.enter_context(self.folder.written(file.path))
            writer = self.stack.enter_context(RowsWriter.of_rows(stream, schema))
            self.writers[dataset, day] = file, writer
        return self.writers[dataset, day][1]


def move_run(
    store: Store,
    folder: ParquetFolder,
    run: ArchivableRun,
    now: Callable[[], datetime],
    advance: Advance = lambda records: None,
) -> ArchivedRun:
    """Move a run's answers into the archive, or continue an interrupted move.

    Raises
    ------
    UsageError
        The run is being moved to another archive.
    TransientError
        A file cannot be written or read, or differs from what was written; nothing was removed.
    """
    archived = store.archived_runs.begin(run, folder.uri, now())
    if archived.uri != folder.uri:
        raise UsageError(
            f"The run {run.run_id} is on its way to {archived.uri}: archive to there, so that it"
            " gets there, before you choose another."
        )
    if archived.state is ArchiveState.WRITING:
        amounts = _write(store, folder, run, now(), advance)
        store.archived_runs.note(run.run_id, ArchiveState.REMOVING, now(), **amounts)
    for kind, ids in record_ids(store, folder, run.run_id):
        store.archive_rows.remove(kind, ids)
        advance(len(ids))
    store.answer_files.give_up(run.run_id)
    store.archived_runs.note(run.run_id, ArchiveState.ARCHIVED, now())
    moved = store.archived_runs.find(run.run_id)
    assert moved is not None  # noqa: S101 - recorded above
    return moved


def _write(
    store: Store, folder: ParquetFolder, run: ArchivableRun, started_at: datetime, advance: Advance
) -> dict[str, int]:
    """Write the files of a run and read them back; return the number of answers and features."""
    for file in store.archive_files.of_run(run.run_id):  # from an interrupted attempt
        folder.remove(file.path)
        store.archive_files.forget(file)
    amounts = {"answers": 0, "measurements": 0}
    with ExitStack() as stack:
        most_units = store.records.count(Response, run_id=run.run_id)
        files = RunFiles(store, folder, run, started_at, stack, most_units)
        for kind in IN_FILES:
            for rows in store.archive_rows.records(kind, run.run_id):
                files.add(RECORDS, rows)
                purposes = {row["id"]: row["purpose"] for row in rows}
                texts = store.archive_rows.texts(list(purposes))
                files.add(TEXTS, [{**t, "purpose": purposes[t["record_id"]]} for t in texts])
                if kind is Response:
                    files.add_numbers([row["id"] for row in rows])
                    amounts["answers"] += sum(row["purpose"] != Purpose.JUDGE for row in rows)
                amounts["measurements"] += len(rows) if kind is Features else 0
                advance(len(rows))
        proofs = files.finish()
    for file, proof in proofs:
        if proof_of(folder, file.path) != proof:
            raise TransientError(
                f"{file.path} in {folder.uri} does not hold what was written to it. Nothing was"
                " removed from the store; look after the disk or the object store, then repeat."
            )
        units = files.units[file.day].packed() if file.dataset == TEXTS else None
        store.archive_files.verify(file, proof.rows, proof.digest, units)
    return amounts


def record_ids(store: Store, folder: ParquetFolder, run_id: str) -> Iterator[tuple[str, list[str]]]:
    """Return the ids in the verified files of a run, in batches of one kind."""
    for file in store.archive_files.of_run(run_id):
        if file.dataset != RECORDS or not file.verified:
            continue
        for rows in rows_of(folder, file.path, ["kind", "id"]):
            by_kind = grouped((row["kind"], row["id"]) for row in rows)
            for kind, ids in by_kind.items():
                for batch in key_chunks(ids):
                    yield kind, batch


BATCH_ROWS = 500


def archived_run(store: Store, run_id: str) -> ArchivedRun:
    """Return where a run's answers are archived.

    Raises
    ------
    NotFoundError
        They are not archived.
    UsageError
        They are being archived, or the retention removed their files.
    """
    run = store.archived_runs.find(run_id)
    if run is None:
        raise NotFoundError(
            f"The run {run_id} is not archived. `biaswatch admin archive list` shows archived runs."
        )
    if run.state is ArchiveState.EXPIRED:
        raise UsageError(
            f"The answers of the run {run_id} were removed on {run.at:%Y-%m-%d}, as the retention"
            " says. Nothing can bring them back but a backup of the archive."
        )
    if run.state is ArchiveState.REMOVING:
        raise UsageError(
            f"The run {run_id} is on its way into the archive: first repeat the interrupted"
            " `biaswatch admin archive move`."
        )
    return run


def restore_run(
    store: Store,
    folder: ParquetFolder,
    run: ArchivedRun,
    now: Callable[[], datetime],
    advance: Advance = lambda records: None,
) -> None:
    """Restore a run's answers, then remove its files; or continue an interrupted restore.

    Raises
    ------
    TransientError
        A file cannot be read, or differs from what was written; nothing was removed.
    """
    files = store.archive_files.of_run(run.run_id)
    if not any(file.pending_deletion for file in files):  # otherwise all of it is restored
        check_files(store, folder, run.run_id)
        store.archived_runs.note(run.run_id, ArchiveState.RESTORING, now())
        _put_back(store, folder, run, advance)
        _check_store(store, folder, run.run_id)
        for file in files:
            store.archive_files.replace(file, None)
    for file in files:
        folder.remove(file.path)
    store.archived_runs.forget(run.run_id)


def check_files(store: Store, folder: ParquetFolder, run_id: str) -> int:
    """Check all files of a run; return their number.

    Raises
    ------
    TransientError
        A file cannot be read, or differs from what was written.
    """
    files = [file for file in store.archive_files.of_run(run_id) if not file.pending_deletion]
    for file in files:
        check_file(folder, file)
    return len(files)


def check_file(folder: ParquetFolder, file: ArchiveFile) -> None:
    """Check a file.

    Raises
    ------
    TransientError
        It cannot be read, or differs from what was written.
    """
    if not is_whole(folder, file):
        raise TransientError(
            f"{file.path} in {folder.uri} does not hold what was written to it. Restore that"
            " file from a backup of the archive."
        )


def _put_back(store: Store, folder: ParquetFolder, run: ArchivedRun, advance: Advance) -> None:
    purged = store.purges.so_far()
    for file in store.archive_files.of_run(run.run_id):
        if file.dataset not in (RECORDS, TEXTS):
            continue
        for rows in rows_of(folder, file.path):
            for start in range(0, len(rows), BATCH_ROWS):
                batch = rows[start : start + BATCH_ROWS]
                if file.dataset == RECORDS:
                    store.archive_rows.put_back(batch)
                    advance(len(batch))
                else:
                    kept = [row for row in batch if not purged.covers_texts_of(owner_of(row))]
                    store.archive_rows.put_texts_back(kept)


def _check_store(store: Store, folder: ParquetFolder, run_id: str) -> None:
    kinds = {kind.kind: kind for kind in IN_FILES}
    for kind, ids in record_ids(store, folder, run_id):
        if store.archive_rows.count(kinds[kind], run_id, ids) != len(ids):
            raise TransientError(
                f"The store does not have all answers of the run {run_id} again. Its files stay:"
                " repeat the command."
            )
