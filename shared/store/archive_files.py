"""The manifest of Parquet files; every file is listed before it is written."""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, delete, func, insert, or_, select, update

from biaswatch.shared.store.database import Database
from biaswatch.shared.store.monitoring_tables import ARCHIVE_FILES
from biaswatch.shared.store.tables import PURGES
from biaswatch.shared.store.texts import BEFORE, EVERY_TENANT, RUN

COLUMNS = ARCHIVE_FILES.c
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
    """Purges before this time are done in the file."""
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

    def name(self, file: ArchiveFile) -> None:
        """List a file before it is written, perhaps again."""
        self.db.execute(
            delete(ARCHIVE_FILES).where(is_file(file)), insert(ARCHIVE_FILES).values(asdict(file))
        )

    def verify(self, file: ArchiveFile, rows: int, digest: str) -> None:
        """Record that a file was read back."""
        self._update(file, rows=rows, digest=digest, verified=True)

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

    def purged(self, file: ArchiveFile, at: datetime) -> None:
        """Record that purges before a time are done in a file."""
        self._update(file, purged_at=at)

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
        query = select(ARCHIVE_FILES).where(*conditions).order_by(*ARCHIVE_FILES.primary_key)
        return [ArchiveFile(**row._asdict()) for row in self.db.rows(query)]

    def _update(self, file: ArchiveFile, **values: Any) -> None:
        self.db.execute(update(ARCHIVE_FILES).where(is_file(file)).values(**values))


def is_file(file: ArchiveFile) -> ColumnElement[bool]:
    """Return the condition that a row is this file's."""
    return and_(COLUMNS.run_id == file.run_id, COLUMNS.path == file.path)
