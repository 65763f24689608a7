"""The rows of a run's answers as an archive takes them, and its files as the store knows them."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Engine, and_, delete, insert, select, update

from shared.contracts import Record
from shared.store.archive_tables import ARCHIVE_FILES
from shared.store.engine import MOST_PARAMETERS, insert_new, read_transaction, write_transaction
from shared.store.membership import among
from shared.store.tables import KEYS, RECORDS
from shared.store.text_tables import PURGES, TEXTS, unit_part_of
from shared.store.texts import BEFORE, EVERY_TENANT, RUN

Row = dict[str, Any]
_OF_TEXTS = [column for column in TEXTS.columns if column is not TEXTS.c.unit_part]
"""What is archived: the rest follows from it."""


@dataclass(frozen=True)
class ArchiveFile:
    """A file of the archive."""

    run_id: str
    path: str
    """Below the archive's address."""
    tenant: str
    dataset: str
    day: str
    rows: int
    digest: str
    """The hash of its rows, one after the other."""
    verified: bool
    """Whether it was read back and has these rows."""
    doomed: bool
    """Whether it is to be removed: another holds what it held, or nothing may."""
    purged_at: datetime
    """Purges before this are done in it."""


class ArchiveRows:
    """Reads a run's answers as rows, removes them, and writes them again."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def records(self, kind: type[Record], run_id: str) -> Iterator[list[Row]]:
        """Return the rows of a kind of a run, in the order of their ids, some at a time."""
        table, last = RECORDS[kind.kind], ""
        while True:
            query = select(table).where(table.c.run_id == run_id, table.c.id > last)
            with read_transaction(self._engine) as connection:
                page = connection.execute(query.order_by(table.c.id).limit(MOST_PARAMETERS))
                rows = [_portable(kind.kind, row) for row in page.mappings()]
            if not rows:
                return
            last = rows[-1]["id"]
            yield rows

    def texts(self, record_ids: Sequence[str]) -> list[Row]:
        """Return the texts of at most as many records as `records` returns at once."""
        query = select(*_OF_TEXTS).where(among(TEXTS.c.record_id, record_ids))
        query = query.order_by(TEXTS.c.record_id, TEXTS.c.field)
        with read_transaction(self._engine) as connection:
            return [dict(row) for row in connection.execute(query).mappings()]

    def remove(self, kind: str, ids: Sequence[str]) -> None:
        """Remove some records and their texts from the store."""
        table = RECORDS[kind]
        with write_transaction(self._engine) as connection:
            connection.execute(delete(TEXTS).where(among(TEXTS.c.record_id, ids)))
            connection.execute(delete(table).where(among(table.c.id, ids)))

    def put_back(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Write records into the store again, those that are there already as they are."""
        by_kind: dict[str, list[Row]] = {}
        for row in rows:
            kept = {name: value for name, value in row.items() if name not in ("kind", "keys")}
            by_kind.setdefault(row["kind"], []).append({**kept, **json.loads(row["keys"])})
        with write_transaction(self._engine) as connection:
            for kind, found in sorted(by_kind.items()):
                insert_new(connection, RECORDS[kind], found)

    def put_texts_back(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write texts into the store again; leave out what may not be kept any more."""
        kept = [
            {
                **{each.name: row[each.name] for each in _OF_TEXTS},
                "unit_part": unit_part_of(row["unit_id"]),
            }
            for row in rows
        ]
        with write_transaction(self._engine) as connection:
            insert_new(connection, TEXTS, kept)

    def count(self, kind: type[Record], run_id: str, ids: Sequence[str]) -> int:
        """Return how many of these records of a run the store has."""
        table = RECORDS[kind.kind]
        query = select(table.c.id).where(table.c.run_id == run_id, among(table.c.id, ids))
        with read_transaction(self._engine) as connection:
            return len(list(connection.scalars(query)))


def _portable(kind: str, row: Mapping[Any, Any]) -> Row:
    """Return a row with the columns that every kind has; the others as JSON."""
    keys = {name: row[name] for name in KEYS.get(kind, ())}
    rest = {name: value for name, value in row.items() if name not in keys}
    return {"kind": kind, **rest, "keys": json.dumps(keys, separators=(",", ":"))}


class ArchiveFiles:
    """What the store knows of the archive's files; each is named before it is written."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def of_run(self, run_id: str) -> list[ArchiveFile]:
        """Return the files of a run, by their paths."""
        return self._where(ARCHIVE_FILES.c.run_id == run_id)

    def doomed(self) -> list[ArchiveFile]:
        """Return the files that are still to be removed."""
        return self._where(ARCHIVE_FILES.c.doomed.is_(True))

    def name(self, file: ArchiveFile) -> None:
        """Name a file that is about to be written, perhaps again."""
        with write_transaction(self._engine) as connection:
            connection.execute(delete(ARCHIVE_FILES).where(_is(file)))
            connection.execute(insert(ARCHIVE_FILES).values(asdict(file)))

    def verify(self, file: ArchiveFile, rows: int, digest: str) -> None:
        """Note that a file was read back."""
        self._update(file, rows=rows, digest=digest, verified=True)

    def replace(self, old: ArchiveFile, new: ArchiveFile | None) -> None:
        """Note that another file holds what one held, or that none does; the old one is to go."""
        with write_transaction(self._engine) as connection:
            connection.execute(update(ARCHIVE_FILES).where(_is(old)).values(doomed=True))
            if new is not None:
                values = {"rows": new.rows, "digest": new.digest, "verified": True}
                connection.execute(update(ARCHIVE_FILES).where(_is(new)).values(values))

    def purged(self, file: ArchiveFile, at: datetime) -> None:
        """Note that purges before a moment are done in a file."""
        self._update(file, purged_at=at)

    def forget(self, file: ArchiveFile) -> None:
        """Forget a file that was removed."""
        with write_transaction(self._engine) as connection:
            connection.execute(delete(ARCHIVE_FILES).where(_is(file)))

    def to_purge(self, dataset: str) -> list[ArchiveFile]:
        """Return the files of texts that a purge since concerns, or may."""
        with read_transaction(self._engine) as connection:
            purges = connection.execute(select(PURGES)).all()
        every = self._where(
            and_(ARCHIVE_FILES.c.dataset == dataset, ARCHIVE_FILES.c.doomed.is_(False))
        )
        return [each for each in every if any(_concerns(purge, each) for purge in purges)]

    def _where(self, condition: Any) -> list[ArchiveFile]:
        query = select(ARCHIVE_FILES).where(condition).order_by(*ARCHIVE_FILES.primary_key)
        with read_transaction(self._engine) as connection:
            return [ArchiveFile(**row) for row in connection.execute(query).mappings()]

    def _update(self, file: ArchiveFile, **values: Any) -> None:
        with write_transaction(self._engine) as connection:
            connection.execute(update(ARCHIVE_FILES).where(_is(file)).values(**values))


def _is(file: ArchiveFile) -> Any:
    columns = ARCHIVE_FILES.c
    return and_(columns.run_id == file.run_id, columns.path == file.path)


def _concerns(purge: Any, file: ArchiveFile) -> bool:
    if purge.at < file.purged_at or purge.tenant not in (EVERY_TENANT, file.tenant):
        return False
    if purge.scope == RUN:
        return bool(purge.key == file.run_id)
    return not (purge.scope == BEFORE and purge.key[:10] < file.day)
