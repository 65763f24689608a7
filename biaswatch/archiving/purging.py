"""Purges reach the archive: files of texts are written anew without what may not be kept."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from biaswatch.archiving.moving import CLOCKS_APART, is_judging
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
from biaswatch.shared.store.archive_files import ArchiveFile
from biaswatch.shared.store.archived_runs import ArchiveState
from biaswatch.shared.store.texts import Purged, TextOwner


def is_whole(folder: ParquetFolder, file: ArchiveFile) -> bool:
    """Tell whether a file holds what the store says: by its bytes, or in the archive by its rows.

    Raises
    ------
    TransientError
        It cannot be read now.
    """
    if file.uri:
        return digest_of_bytes(folder, file.path) == file.digest
    return proof_of(folder, file.path) == Proof(file.rows, file.digest)


OWNER = ["kind", "tenant", "run_id", "unit_id", "at", "purpose"]
"""The columns that tell whose a text is, without the text."""
LEFT_AFTER = timedelta(minutes=10)
"""A file of answers that nobody has finished for so long is nobody's; who comes back to it sees
that it was given up, and writes another."""


def owner_of(row: Row) -> TextOwner:
    """Return whose an archived text is."""
    return TextOwner(row["tenant"], row["run_id"], row["unit_id"], row["at"], is_judging(row))


class ArchivePurge:
    """Removes what was purged from every archive that the store knows of."""

    def __init__(self, store: Store, now: Callable[[], datetime]) -> None:
        self._store = store
        self._now = now
        self._folders: dict[str, ParquetFolder] = {}
        self._runs = {run.run_id: run for run in store.archived_runs.all()}

    def files(self) -> list[ArchiveFile]:
        """Return the files that a purge concerns, or may."""
        found = self._store.archive_files.to_purge(TEXTS)
        return [file for file in found if file.verified]

    def apply(self, file: ArchiveFile) -> int:
        """Remove purged texts from a file; return how many. A file of none is removed.

        The new file is named in the store before it is written and the old one is named as doomed
        before it goes, so a death in between leaves nothing that the next purge does not find.
        """
        began_at, purged = self._now(), self._store.purges.so_far()
        folder = self._folder(file)
        gone = sum(
            purged.covers_texts_of(owner_of(row))
            for rows in rows_of(folder, file.path, OWNER)
            for row in rows
        )
        if not gone:
            self._store.archive_files.purged(file, began_at)
            return 0
        new = self._without(folder, file, purged, began_at) if gone < file.rows else None
        self._store.archive_files.replace(file, new)
        self._remove(folder, file)
        return gone

    def sweep(self) -> None:
        """Remove files that are doomed or were never finished, since whoever was at them died."""
        for file in self._store.archive_files.doomed():
            # A run that is being restored removes its own, after all of it is in the store.
            if file.uri or self._runs[file.run_id].state is not ArchiveState.RESTORING:
                self._remove(self._folder(file), file)
        left_before = self._now() - CLOCKS_APART - LEFT_AFTER
        for file in self._store.answer_files.unfinished(left_before):
            if self._store.archive_files.give_up(file):
                self._remove(self._folder(file), file)

    def _without(
        self, folder: ParquetFolder, file: ArchiveFile, purged: Purged, began_at: datetime
    ) -> ArchiveFile:
        """Write a file anew without purged texts, and read it back."""
        new = replace(file, path=_next_path(file.path), verified=False, purged_at=began_at)
        self._store.archive_files.name(new)
        opened = RowsWriter.of_bytes if file.uri else RowsWriter.of_rows
        with folder.written(new.path) as stream, opened(stream, SCHEMAS[TEXTS]) as writer:
            for rows in _kept(folder, file, purged):
                writer.add(rows)
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


def _kept(
    folder: ParquetFolder, file: ArchiveFile, purged: Purged
) -> Iterator[list[dict[str, Any]]]:
    for rows in rows_of(folder, file.path):
        yield [row for row in rows if not purged.covers_texts_of(owner_of(row))]


def _next_path(path: str) -> str:
    """Return the name of what replaces a file: its number is one more."""
    stem, _, number = path.removesuffix(".parquet").rpartition("-")
    return f"{stem}-{int(number) + 1}.parquet"
