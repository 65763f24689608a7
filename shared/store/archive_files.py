"""Files of Parquet as the store knows them: each is named before it is written."""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Engine, and_, delete, insert, select, update

from biaswatch.shared.store.engine import read_transaction, write_transaction
from biaswatch.shared.store.monitoring_tables import ARCHIVE_FILES
from biaswatch.shared.store.tables import PURGES
from biaswatch.shared.store.texts import BEFORE, EVERY_TENANT, RUN

COLUMNS = ARCHIVE_FILES.c


@dataclass(frozen=True)
class ArchiveFile:
    """A file of the archive, or of answers as they came."""

    run_id: str
    path: str
    """Below the archive's address."""
    tenant: str
    dataset: str
    day: str
    rows: int
    digest: str
    """The hash of its rows, one after the other; of answers as they came, that of its bytes."""
    verified: bool
    """Whether it was read back and has these rows."""
    doomed: bool
    """Whether it is to be removed: another holds what it held, or nothing may."""
    purged_at: datetime
    """Purges before this are done in it."""
    uri: str | None = None
    """Where it lies, if not where its run is archived: it holds answers as they came."""
    kind: str | None = None
    """The kind of record that it holds, of answers as they came."""
    source: str | None = None
    """The live system, of a file of its answers."""
    first_id: str | None = None
    """The first id that it holds, of those; None where it has none."""
    last_id: str | None = None
    """The last."""


class ArchiveFiles:
    """What the store knows of the archive's files; each is named before it is written."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def of_run(self, run_id: str) -> list[ArchiveFile]:
        """Return the files of an archived run, by their paths."""
        return self._where(and_(COLUMNS.run_id == run_id, COLUMNS.uri.is_(None)))

    def doomed(self) -> list[ArchiveFile]:
        """Return the files that are still to be removed."""
        return self._where(COLUMNS.doomed.is_(True))

    def any(self) -> bool:
        """Tell whether there is any file at all."""
        with read_transaction(self._engine) as connection:
            return connection.scalar(select(COLUMNS.path).limit(1)) is not None

    def as_they_came(self) -> list[ArchiveFile]:
        """Return the files of answers of live systems that no archive has yet."""
        return self._where(
            and_(COLUMNS.uri.is_not(None), COLUMNS.verified.is_(True), COLUMNS.doomed.is_(False))
        )

    def name(self, file: ArchiveFile) -> None:
        """Name a file that is about to be written, perhaps again."""
        with write_transaction(self._engine) as connection:
            connection.execute(delete(ARCHIVE_FILES).where(is_file(file)))
            connection.execute(insert(ARCHIVE_FILES).values(asdict(file)))

    def verify(self, file: ArchiveFile, rows: int, digest: str) -> None:
        """Note that a file was read back."""
        self._update(file, rows=rows, digest=digest, verified=True)

    def replace(self, old: ArchiveFile, new: ArchiveFile | None) -> None:
        """Note that another file holds what one held, or that none does; the old one is to go."""
        with write_transaction(self._engine) as connection:
            there = select(COLUMNS.doomed).where(is_file(old)).with_for_update()
            gone = connection.scalar(there) is not False  # its run was archived meanwhile
            connection.execute(update(ARCHIVE_FILES).where(is_file(old)).values(doomed=True))
            if new is not None:
                values = {"rows": new.rows, "digest": new.digest, "verified": True, "doomed": gone}
                connection.execute(update(ARCHIVE_FILES).where(is_file(new)).values(values))

    def give_up(self, file: ArchiveFile) -> bool:
        """Doom a file that nobody has finished; return False if somebody just has."""
        left = update(ARCHIVE_FILES).where(is_file(file), COLUMNS.verified.is_(False))
        with write_transaction(self._engine) as connection:
            return bool(connection.execute(left.values(doomed=True)).rowcount)

    def purged(self, file: ArchiveFile, at: datetime) -> None:
        """Note that purges before a moment are done in a file."""
        self._update(file, purged_at=at)

    def forget(self, file: ArchiveFile) -> None:
        """Forget a file that was removed."""
        with write_transaction(self._engine) as connection:
            connection.execute(delete(ARCHIVE_FILES).where(is_file(file)))

    def to_purge(self, dataset: str) -> list[ArchiveFile]:
        """Return the files of texts that a purge since concerns, or may."""
        with read_transaction(self._engine) as connection:
            purges = connection.execute(select(PURGES)).all()
        every = self._where(and_(COLUMNS.dataset == dataset, COLUMNS.doomed.is_(False)))
        return [each for each in every if any(_concerns(purge, each) for purge in purges)]

    def _where(self, condition: Any) -> list[ArchiveFile]:
        query = select(ARCHIVE_FILES).where(condition).order_by(*ARCHIVE_FILES.primary_key)
        with read_transaction(self._engine) as connection:
            return [ArchiveFile(**row) for row in connection.execute(query).mappings()]

    def _update(self, file: ArchiveFile, **values: Any) -> None:
        with write_transaction(self._engine) as connection:
            connection.execute(update(ARCHIVE_FILES).where(is_file(file)).values(**values))


def is_file(file: ArchiveFile) -> ColumnElement[bool]:
    """Return the condition that a row is this file's."""
    return and_(COLUMNS.run_id == file.run_id, COLUMNS.path == file.path)


def _concerns(purge: Any, file: ArchiveFile) -> bool:
    if purge.at < file.purged_at or purge.tenant not in (EVERY_TENANT, file.tenant):
        return False
    if purge.scope == RUN:
        return bool(purge.key == file.run_id)
    return not (purge.scope == BEFORE and purge.key[:10] < file.day)
