"""The manifest of Parquet files; every file is listed before it is written."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    and_,
    bindparam,
    delete,
    func,
    insert,
    or_,
    select,
    tuple_,
    update,
)

from biaswatch.shared.store.database import Database
from biaswatch.shared.store.monitoring_tables import ARCHIVE_FILES
from biaswatch.shared.store.tables import PURGES
from biaswatch.shared.store.texts import BEFORE, EVERY_TENANT, RUN, Purge
from biaswatch.shared.store.unit_filters import digest_of, may_hold

COLUMNS = ARCHIVE_FILES.c
MANIFEST = [column for column in ARCHIVE_FILES.columns if column.name != "units"]
"""The columns of an `ArchiveFile`."""
DAY_CHARACTERS = len("2026-01-31")


@dataclass(frozen=True)
class ArchiveFile:
    """A file of the archive, or of production answers in insertion order."""

    run_id: str
    path: str
    """Path below the archive's address."""
    tenant: str
    dataset: str
    day: str
    rows: int
    digest: str
    """Hash of the rows in order; for production answers, of the bytes."""
    verified: bool
    """True once the file was read back and has these rows."""
    pending_deletion: bool
    """True if another file replaces it, or its content must not be kept."""
    purged_at: datetime
    """Purges before this time are done in the file; for an unfinished file, when it was begun."""
    uri: str | None = None
    """Address of a file of production answers; None for the address of its archived run."""
    kind: str | None = None
    """Kind of the production records in the file."""
    source: str | None = None
    """Live system, for a file of its answers."""
    first_id: str | None = None
    """First id of the production records; None in the archive."""
    last_id: str | None = None
    """Last id of the production records; None in the archive."""


@dataclass(eq=False)
class ArchiveFiles:
    """The manifest of all files."""

    db: Database

    def of_run(self, run_id: str) -> list[ArchiveFile]:
        """Return the files of an archived run, by path."""
        return self._where(COLUMNS.run_id == run_id, COLUMNS.uri.is_(None))

    def pending_deletion(self) -> list[ArchiveFile]:
        """Return the files that are still to be removed."""
        return self._where(COLUMNS.pending_deletion.is_(True))

    def any(self) -> bool:
        """Return whether there is any file."""
        return self.db.scalar(select(COLUMNS.path).limit(1)) is not None

    def in_insertion_order(self) -> list[ArchiveFile]:
        """Return the files of production answers outside the archive."""
        return self._where(
            COLUMNS.uri.is_not(None),
            COLUMNS.verified.is_(True),
            COLUMNS.pending_deletion.is_(False),
        )

    def register(self, file: ArchiveFile, units: bytes | None = None) -> None:
        """List a file before it is written, perhaps again, with the filter of its units."""
        self.db.execute(
            delete(ARCHIVE_FILES).where(is_file(file)),
            insert(ARCHIVE_FILES).values(units=units, **asdict(file)),
        )

    def verify(self, file: ArchiveFile, rows: int, digest: str, units: bytes | None = None) -> None:
        """Record that a file was read back, and the filter of its units."""
        self._update(file, rows=rows, digest=digest, verified=True, units=units)

    def replace(self, old: ArchiveFile, new: ArchiveFile | None) -> None:
        """Replace a file by another, or by none; the old file is pending deletion."""
        with self.db.writing() as connection:
            query = select(COLUMNS.pending_deletion).where(is_file(old)).with_for_update()
            archived_meanwhile = connection.scalar(query) is not False
            mark = update(ARCHIVE_FILES).where(is_file(old)).values(pending_deletion=True)
            connection.execute(mark)
            if new is not None:
                values = {
                    "rows": new.rows, "digest": new.digest, "verified": True,
                    "pending_deletion": archived_meanwhile,
                }  # fmt: skip
                connection.execute(update(ARCHIVE_FILES).where(is_file(new)).values(values))

    def give_up(self, file: ArchiveFile) -> bool:
        """Mark an unfinished file for deletion; return False if it was finished meanwhile."""
        unfinished = update(ARCHIVE_FILES).where(is_file(file), COLUMNS.verified.is_(False))
        return bool(self.db.execute(unfinished.values(pending_deletion=True)))

    def mark_purged(self, file: ArchiveFile, at: datetime) -> None:
        """Record that purges before a time are done in a file."""
        self._update(file, purged_at=at)

    def mark_untouched(self, files: Sequence[ArchiveFile], at: datetime) -> None:
        """Record that files hold nothing of the purges before a time."""
        rows = [{"of_run": file.run_id, "of_path": file.path} for file in files]
        if not rows:
            return
        keys = (COLUMNS.run_id == bindparam("of_run"), COLUMNS.path == bindparam("of_path"))
        with self.db.writing() as connection:
            connection.execute(update(ARCHIVE_FILES).where(*keys).values(purged_at=at), rows)

    def unit_filters(self, files: Sequence[ArchiveFile]) -> dict[tuple[str, str], bytes]:
        """Return the filters of units of listed files, from the first to the last of some."""
        key = tuple_(COLUMNS.run_id, COLUMNS.path)
        first, last = (tuple_(file.run_id, file.path) for file in (files[0], files[-1]))
        query = select(COLUMNS.run_id, COLUMNS.path, COLUMNS.units)
        query = query.where(COLUMNS.units.is_not(None), key >= first, key <= last)
        return {(row.run_id, row.path): row.units for row in self.db.rows(query)}

    def forget(self, file: ArchiveFile) -> None:
        """Remove a deleted file from the manifest."""
        self.db.execute(delete(ARCHIVE_FILES).where(is_file(file)))

    def to_purge(self, dataset: str) -> list[ArchiveFile]:
        """Return the files of texts that later purges concern, or may concern."""
        purge = PURGES.c
        not_before = and_(
            purge.scope == BEFORE, func.substr(purge.key, 1, DAY_CHARACTERS) < COLUMNS.day
        )
        concerns = (
            purge.at >= COLUMNS.purged_at,
            purge.tenant.in_((EVERY_TENANT, COLUMNS.tenant)),
            or_(purge.scope != RUN, purge.key == COLUMNS.run_id),
            ~not_before,
        )
        return self._where(
            COLUMNS.dataset == dataset,
            COLUMNS.pending_deletion.is_(False),
            select(purge.key).where(*concerns).exists(),
        )

    def _where(self, *conditions: ColumnElement[bool]) -> list[ArchiveFile]:
        query = select(*MANIFEST).where(*conditions).order_by(*ARCHIVE_FILES.primary_key)
        return [ArchiveFile(**row._asdict()) for row in self.db.rows(query)]

    def _update(self, file: ArchiveFile, **values: Any) -> None:
        self.db.execute(update(ARCHIVE_FILES).where(is_file(file)).values(**values))


def may_concern(purge: Purge, file: ArchiveFile, units: bytes) -> bool:
    """Return whether a file with this filter of units may hold texts of a purge."""
    if purge.at < file.purged_at or purge.tenant not in (EVERY_TENANT, file.tenant):
        return False
    if purge.scope == RUN:
        return purge.key == file.run_id
    if purge.scope == BEFORE:
        return purge.key[:DAY_CHARACTERS] >= file.day
    return may_hold(units, digest_of(purge.key))


def is_file(file: ArchiveFile) -> ColumnElement[bool]:
    """Return the condition that a row is this file's."""
    return and_(COLUMNS.run_id == file.run_id, COLUMNS.path == file.path)
