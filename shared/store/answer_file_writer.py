"""Writes production answers to files in insertion order, each answer once.

A file is listed in the manifest, written, and then committed in one transaction: the transaction
checks that none of its records existed, and adds to the counts of its run. It holds the lock of
that run, so that of two writers of the same answer one sees the other's.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import Enum, auto
from operator import itemgetter

from sqlalchemy import Connection, select, update

from biaswatch.shared.contracts import Record, Response
from biaswatch.shared.errors import ConfigurationError, TransientError, UsageError
from biaswatch.shared.store.answer_file_reader import open_folder
from biaswatch.shared.store.answer_files import TEXT, AnswerFiles
from biaswatch.shared.store.archive_files import COLUMNS, ArchiveFile, ArchiveFiles, is_file
from biaswatch.shared.store.archived_runs import ARCHIVED_STATES, ArchiveState, lock_run
from biaswatch.shared.store.database import Database, key_chunks
from biaswatch.shared.store.monitoring_tables import ARCHIVE_FILES, ARCHIVED_RUNS
from biaswatch.shared.store.record_rows import (
    ByKind,
    CountKey,
    Row,
    add_counts,
    count_keys,
    portable_row,
    row_of,
    text_rows_of,
    without,
)
from biaswatch.shared.store.statements import is_in
from biaswatch.shared.store.tables import RECORDS
from biaswatch.shared.store.texts import Purged, purges_of
from biaswatch.shared.store.unit_filters import UnitFilter

MAX_ATTEMPTS = 5
"""Attempts to write a file while other writers bring some of its answers."""
CLOCK_SKEW = timedelta(hours=1)
"""Purges up to this long before texts were written are repeated in their file."""


class Commit(Enum):
    """Outcome of committing files."""

    TAKEN = auto()
    """The files are a part of their run."""
    AGAIN = auto()
    """Another writer brought some of their records, so they are written again without these."""
    ARCHIVED = auto()
    """They are late copies: the answers of their run are archived."""


@dataclass(frozen=True)
class AnswerFilesLocation:
    """Location of the files of production answers."""

    uri: str
    """A folder, `s3://` or `gs://`."""
    now: Callable[[], datetime]
    new_name: Callable[[], str]
    """Returns a unique name."""


class AnswerFileWriter:
    """Writes batches of answers as files, one for each kind of record and run."""

    def __init__(self, db: Database, files: AnswerFiles, location: AnswerFilesLocation) -> None:
        self._db = db
        self._files = files
        self._manifest = ArchiveFiles(db)
        try:
            self._folder = open_folder(location.uri)
        except UsageError as error:
            raise ConfigurationError(f"BIASWATCH_RECORDER_ANSWER_FILES: {error}") from None
        self._location = location

    def check_available(self) -> None:
        """Raise TransientError while the place of the files does not answer."""
        self._folder.check_available()

    def write(self, by_kind: ByKind) -> Counter[str]:
        """Write production records; return the number of new ones by kind.

        Raises
        ------
        TransientError
            A file cannot be written now, or the run is being archived.
        """
        by_run: dict[str, dict[str, dict[str, Record]]] = {}
        for kind, records in by_kind.items():
            for id_, record in records.items():
                by_run.setdefault(str(record.run), {}).setdefault(kind, {})[id_] = record
        written: Counter[str] = Counter()
        for run_id, records_of_run in sorted(by_run.items()):
            written += self._write_run(run_id, records_of_run)
        return written

    def _write_run(self, run_id: str, by_kind: ByKind) -> Counter[str]:
        for _ in range(MAX_ATTEMPTS):
            with self._db.reading() as connection:
                existing = self._overlapping(connection, run_id, by_kind)
                known = {
                    kind: self._known(connection, existing, kind, records)
                    for kind, records in by_kind.items()
                }
                new = {k: records for k, records in without(by_kind, known).items() if records}
                if not new or _is_archived(connection, run_id):
                    return Counter()
                records = [record for of_kind in new.values() for record in of_kind.values()]
                keys = {key for record in records for key in (record.run, record.unit)}
                purged = purges_of(connection, keys, {record.tenant for record in records})
            files = self._write_files(run_id, new, purged)
            outcome = self._commit(run_id, files, new, {file.path for file in existing})
            if outcome is Commit.TAKEN:
                return Counter({kind: len(of_kind) for kind, of_kind in new.items()})
            for file in files:
                self._folder.remove(file.path)
                self._manifest.forget(file)
            if outcome is Commit.ARCHIVED:
                return Counter()
        raise TransientError(f"Others bring the same answers of the run {run_id} all the time.")

    def _overlapping(
        self, connection: Connection, run_id: str, by_kind: ByKind
    ) -> list[ArchiveFile]:
        return [
            file
            for kind, records in by_kind.items()
            for file in self._files.overlapping(connection, kind, run_id, sorted(records))
        ]

    def _known(
        self, connection: Connection, files: Iterable[ArchiveFile], kind: str, ids: Iterable[str]
    ) -> set[str]:
        """Return the ids of records that are in files or tables."""
        ordered, known, table = sorted(ids), set[str](), RECORDS[kind]
        for file in files:
            if file.kind == kind:
                known |= self._files.ids_in(file, ordered)
        for batch in key_chunks(ordered):
            known.update(connection.scalars(select(table.c.id).where(is_in(table.c.id, batch))))
        return known

    def _write_files(self, run_id: str, new: ByKind, purged: Purged) -> list[ArchiveFile]:
        """Write the files of records in the order of their ids."""
        from biaswatch.shared.parquet.files import RECORDS as RECORDS_DATASET
        from biaswatch.shared.parquet.files import TEXTS as TEXTS_DATASET

        files, texts = [], []
        for kind, records in new.items():
            rows = [portable_row(kind, row_of(records[id_])) for id_ in sorted(records)]
            files.append(self._write_file(run_id, kind, RECORDS_DATASET, rows))
            for row in rows:
                text_rows = text_rows_of(records[row["id"]], row, purged)
                text_rows.sort(key=itemgetter("field"))
                texts += [{**text, "purpose": row["purpose"]} for text in text_rows]
        if texts:
            texts.sort(key=itemgetter("record_id"))
            units = UnitFilter.of(text["unit_id"] for text in texts).packed()
            files.append(self._write_file(run_id, TEXT, TEXTS_DATASET, texts, units))
        return files

    def _write_file(
        self, run_id: str, kind: str, dataset: str, rows: Sequence[Row], units: bytes | None = None
    ) -> ArchiveFile:
        from biaswatch.shared.parquet.files import SCHEMAS, RowsWriter, live_path_of

        schema = SCHEMAS[dataset]
        ids, tenant = schema.names[0], rows[0]["tenant"]
        day = min(row["at"] for row in rows).astimezone(UTC).date().isoformat()
        name = f"{kind}-{self._location.new_name()}-0"
        file = ArchiveFile(
            run_id, live_path_of(dataset, tenant, day, run_id, name), tenant, dataset, day,
            rows=0, digest="", verified=False, pending_deletion=False,
            purged_at=self._location.now() - CLOCK_SKEW, uri=self._folder.uri, kind=kind,
            source=rows[0]["lane"] if kind == Response.kind else None,
            first_id=rows[0][ids], last_id=rows[-1][ids],
        )  # fmt: skip
        self._manifest.register(file, units)
        with (
            self._folder.written(file.path) as stream,
            RowsWriter.of_bytes(stream, schema) as writer,
        ):
            writer.add(rows)
            proof = writer.close()
        return replace(file, rows=proof.rows, digest=proof.digest)

    def _commit(
        self, run_id: str, files: Sequence[ArchiveFile], new: ByKind, seen: set[str]
    ) -> Commit:
        """Take files into the run, unless another writer brought some of it meanwhile."""
        with self._db.writing() as connection:
            lock_run(connection, run_id)
            if _is_archived(connection, run_id):
                return Commit.ARCHIVED
            for file in self._overlapping(connection, run_id, new):
                if file.path not in seen and self._files.ids_in(file, sorted(new[str(file.kind)])):
                    return Commit.AGAIN
            if any(_any_in_table(connection, kind, records) for kind, records in new.items()):
                return Commit.AGAIN
            if any(_was_given_up(connection, file) for file in files):
                return Commit.AGAIN
            for file in files:
                values = {"rows": file.rows, "digest": file.digest, "verified": True}
                connection.execute(update(ARCHIVE_FILES).where(is_file(file)).values(values))
            add_counts(connection, _counts(new))
        return Commit.TAKEN


def _is_archived(connection: Connection, run_id: str) -> bool:
    """Return whether the answers of a run are archived, so that it accepts no more.

    Raises
    ------
    TransientError
        The run is being archived; new answers wait for the end of that.
    """
    state = connection.scalar(select(ARCHIVED_RUNS.c.state).where(ARCHIVED_RUNS.c.run_id == run_id))
    if state == ArchiveState.WRITING:
        raise TransientError(f"The answers of the run {run_id} are being archived.")
    return state in ARCHIVED_STATES


def _any_in_table(connection: Connection, kind: str, ids: Iterable[str]) -> bool:
    table = RECORDS[kind]
    queries = (select(table.c.id).where(is_in(table.c.id, batch)) for batch in key_chunks(ids))
    return any(connection.scalar(query.limit(1)) is not None for query in queries)


def _counts(new: ByKind) -> Counter[CountKey]:
    """Return the additions to the counts of runs."""
    counts: Counter[CountKey] = Counter()
    for kind, records in new.items():
        rows = (
            {"run_id": record.run, "purpose": record.purpose.value, "lane": record.lane}
            for record in records.values()
        )
        counts += count_keys(kind, rows)
    return counts


def _was_given_up(connection: Connection, file: ArchiveFile) -> bool:
    """Return whether a sweep took a file for abandoned, or has removed it."""
    query = select(COLUMNS.pending_deletion).where(is_file(file)).with_for_update()
    return connection.scalar(query) is not False
