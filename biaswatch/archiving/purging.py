"""Purges of the archive: files of texts are rewritten without purged texts."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from biaswatch.shared.contracts import PairVerdict, Purpose
from biaswatch.shared.errors import TransientError
from biaswatch.shared.parquet.files import (
    SCHEMAS,
    TEXTS,
    Proof,
    Row,
    RowsWriter,
    digest_of_bytes,
    proof_of,
    rows_of,
)
from biaswatch.shared.parquet.folder import ParquetFolder
from biaswatch.shared.store import Store
from biaswatch.shared.store.archive_files import ArchiveFile, may_concern
from biaswatch.shared.store.archived_runs import ArchiveState
from biaswatch.shared.store.texts import Purged, TextOwner
from biaswatch.shared.store.unit_filters import UnitFilter

OWNER_COLUMNS = ["kind", "tenant", "run_id", "unit_id", "at", "purpose"]
"""Columns that purges select by, without the text."""
FILES_AT_ONCE = 500
"""Files whose filters of units are in memory together."""
CLOCK_SKEW = timedelta(hours=1)
"""Purges up to this long before texts were read are repeated in their file."""
ABANDONED_AFTER = timedelta(minutes=10)
"""Age of an unfinished file that counts as abandoned; a late writer writes another."""


def owner_of(row: Row) -> TextOwner:
    """Return the owner of an archived text."""
    judging = row["purpose"] == Purpose.JUDGE or row["kind"] == PairVerdict.kind
    return TextOwner(row["tenant"], row["run_id"], row["unit_id"], row["at"], judging)


def is_whole(folder: ParquetFolder, file: ArchiveFile) -> bool:
    """Return whether a file matches its digest: of bytes, or in the archive of rows.

    Raises
    ------
    TransientError
        It cannot be read now.
    """
    if file.uri:
        return digest_of_bytes(folder, file.path) == file.digest
    return proof_of(folder, file.path) == Proof(file.rows, file.digest)


class ArchivePurge:
    """Removes purged texts from every archive in the manifest."""

    def __init__(self, store: Store, now: Callable[[], datetime]) -> None:
        self._store = store
        self._now = now
        self._folders: dict[str, ParquetFolder] = {}
        self._runs = {run.run_id: run for run in store.archived_runs.all()}

    def files(self) -> list[ArchiveFile]:
        """Return the files that may hold purged texts, by their filters of units.

        The others are marked as done.
        """
        done_before, concerned = self._done_before(), []
        listed = [file for file in self._store.archive_files.to_purge(TEXTS) if file.verified]
        oldest = min((file.purged_at for file in listed), default=done_before)
        purges = self._store.purges.since(oldest)
        for start in range(0, len(listed), FILES_AT_ONCE):
            part = listed[start : start + FILES_AT_ONCE]
            filters = self._store.archive_files.unit_filters(part)
            lacking = []
            for file in part:
                units = filters.get((file.run_id, file.path))
                if units is None or any(may_concern(purge, file, units) for purge in purges):
                    concerned.append(file)
                else:
                    lacking.append(file)
            self._store.archive_files.mark_untouched(lacking, done_before)
        return concerned

    def apply(self, file: ArchiveFile) -> int:
        """Remove purged texts from a file; return their number. An empty file is removed.

        The new file is listed before it is written, and the old one is marked before it is
        removed, so that the next purge cleans up after a crash.
        """
        done_before, purged = self._done_before(), self._store.purges.so_far()
        folder = self._folder(file)
        removed, units = 0, set[str | None]()
        for rows in rows_of(folder, file.path, OWNER_COLUMNS):
            for row in rows:
                if purged.covers_texts_of(owner_of(row)):
                    removed += 1
                else:
                    units.add(row["unit_id"])
        if not removed:
            self._store.archive_files.mark_purged(file, done_before)
            return 0
        started = replace(file, path=_next_path(file.path), verified=False, purged_at=done_before)
        new = None
        if removed < file.rows:
            self._store.archive_files.register(started, UnitFilter.of(units).packed())
            new = self._rewritten(folder, file, started, purged)
        self._store.archive_files.replace(file, new)
        self._remove(folder, file)
        return removed

    def sweep(self) -> None:
        """Remove files that are marked for deletion, or were abandoned."""
        for file in self._store.archive_files.pending_deletion():
            # Restoring removes the files of its run, once all of it is in the store.
            if file.uri or self._runs[file.run_id].state is not ArchiveState.RESTORING:
                self._remove(self._folder(file), file)
        abandoned_before = self._now() - CLOCK_SKEW - ABANDONED_AFTER
        for file in self._store.answer_files.unfinished(abandoned_before):
            if self._store.archive_files.give_up(file):
                self._remove(self._folder(file), file)

    def _done_before(self) -> datetime:
        """Return the time before which purges are done, by the clock of any machine."""
        return self._now() - CLOCK_SKEW

    def _rewritten(
        self, folder: ParquetFolder, file: ArchiveFile, new: ArchiveFile, purged: Purged
    ) -> ArchiveFile:
        """Write a listed file again without purged texts, and read it back."""
        open_writer = RowsWriter.of_bytes if file.uri else RowsWriter.of_rows
        with folder.written(new.path) as stream, open_writer(stream, SCHEMAS[TEXTS]) as writer:
            for rows in rows_of(folder, file.path):
                writer.add([row for row in rows if not purged.covers_texts_of(owner_of(row))])
            proof: Proof = writer.close()
        written = replace(new, rows=proof.rows, digest=proof.digest)
        if not is_whole(folder, written):
            raise TransientError(
                f"{new.path} in {folder.uri} does not hold what was written to it. Repeat the"
                " purge: the texts are still there."
            )
        return written

    def _remove(self, folder: ParquetFolder, file: ArchiveFile) -> None:
        folder.remove(file.path)
        self._store.archive_files.forget(file)

    def _folder(self, file: ArchiveFile) -> ParquetFolder:
        uri = file.uri or self._runs[file.run_id].uri
        if uri not in self._folders:
            self._folders[uri] = ParquetFolder(uri)
        return self._folders[uri]


def _next_path(path: str) -> str:
    """Return the path of a file's replacement, with the next number."""
    stem, _, number = path.removesuffix(".parquet").rpartition("-")
    return f"{stem}-{int(number) + 1}.parquet"
