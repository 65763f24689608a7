"""Restores answers from an archive into the store, without texts that were purged meanwhile."""

from collections.abc import Callable
from datetime import datetime

from biaswatch.archiving.moving import Advance, record_ids
from biaswatch.archiving.purging import is_whole, owner_of
from biaswatch.shared.errors import NotFoundError, TransientError, UsageError
from biaswatch.shared.parquet.files import RECORDS, TEXTS, rows_of
from biaswatch.shared.parquet.folder import ParquetFolder
from biaswatch.shared.store import Store
from biaswatch.shared.store.archive_files import ArchiveFile
from biaswatch.shared.store.archived_runs import ArchivedRun, ArchiveState
from biaswatch.shared.store.record_rows import IN_FILES

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
