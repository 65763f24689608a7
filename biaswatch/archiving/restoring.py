"""Answers back from an archive into the store, but for texts that were purged meanwhile."""

from collections.abc import Callable
from datetime import datetime

from biaswatch.archiving.moving import Told, record_ids
from biaswatch.archiving.purging import is_whole, owner_of
from biaswatch.shared.contracts import Record
from biaswatch.shared.errors import NotFoundError, TransientError, UsageError
from biaswatch.shared.parquet.files import RECORDS, TEXTS, rows_of
from biaswatch.shared.parquet.folder import ParquetFolder
from biaswatch.shared.store import Store
from biaswatch.shared.store.archive_files import ArchiveFile
from biaswatch.shared.store.archived_runs import MOVED, ArchivedRun, ArchiveState

AT_ONCE = 500
BY_KIND: dict[str, type[Record]] = {kind.kind: kind for kind in MOVED}


def archived_run(store: Store, run_id: str) -> ArchivedRun:
    """Return where a run's answers are archived.

    Raises
    ------
    NotFoundError
        They are not archived.
    UsageError
        They are on their way there, or their files were removed as the retention says.
    """
    found = store.archived_runs.find(run_id)
    if found is None:
        raise NotFoundError(
            f"The run {run_id} is not archived. `biaswatch archive list` shows those that are."
        )
    if found.state is ArchiveState.EXPIRED:
        raise UsageError(
            f"The answers of the run {run_id} were removed on {found.at:%Y-%m-%d}, as the retention"
            " says. Nothing can bring them back but a backup of the archive."
        )
    if found.state is ArchiveState.REMOVING:
        raise UsageError(
            f"The run {run_id} is on its way into the archive: repeat the `biaswatch archive` that"
            " was interrupted first."
        )
    return found


def restore_run(
    store: Store,
    folder: ParquetFolder,
    run: ArchivedRun,
    now: Callable[[], datetime],
    told: Told = lambda more: None,
) -> None:
    """Write a run's answers into the store again, then remove its files; or go on with that.

    Raises
    ------
    TransientError
        A file cannot be read, or does not hold what was written; nothing was removed.
    """
    files = store.archive_files.of_run(run.run_id)
    if not any(file.doomed for file in files):  # otherwise all of it is in the store already
        check_files(store, folder, run.run_id)
        store.archived_runs.note(run.run_id, ArchiveState.RESTORING, now())
        _put_back(store, folder, run, told)
        _check_store(store, folder, run.run_id)
        for file in files:
            store.archive_files.replace(file, None)
    for file in files:
        folder.remove(file.path)
    store.archived_runs.forget(run.run_id)


def check_files(store: Store, folder: ParquetFolder, run_id: str) -> int:
    """Read all files of a run; return how many there are.

    Raises
    ------
    TransientError
        One cannot be read, or does not hold what was written.
    """
    files = [file for file in store.archive_files.of_run(run_id) if not file.doomed]
    for file in files:
        check_file(folder, file)
    return len(files)


def check_file(folder: ParquetFolder, file: ArchiveFile) -> None:
    """Read a file.

    Raises
    ------
    TransientError
        It cannot be read, or does not hold what was written.
    """
    if not is_whole(folder, file):
        raise TransientError(
            f"{file.path} in {folder.uri} does not hold what was written to it. Restore that"
            " file from a backup of the archive."
        )


def _put_back(store: Store, folder: ParquetFolder, run: ArchivedRun, told: Told) -> None:
    purged = store.purges.so_far()
    for file in store.archive_files.of_run(run.run_id):
        if file.dataset not in (RECORDS, TEXTS):
            continue
        for rows in rows_of(folder, file.path):
            for start in range(0, len(rows), AT_ONCE):
                some = rows[start : start + AT_ONCE]
                if file.dataset == RECORDS:
                    store.archive_rows.put_back(some)
                    told(len(some))
                else:
                    kept = [row for row in some if not purged.covers_texts_of(owner_of(row))]
                    store.archive_rows.put_texts_back(kept)


def _check_store(store: Store, folder: ParquetFolder, run_id: str) -> None:
    for kind, ids in record_ids(store, folder, run_id):
        if store.archive_rows.count(BY_KIND[kind], run_id, ids) != len(ids):
            raise TransientError(
                f"The store does not have all answers of the run {run_id} again. Its files stay:"
                " repeat the command."
            )
