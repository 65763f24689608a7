"""Writes answers of live systems to files as they come: each answer once, however often it comes.

A file is named in the store, written, and then committed: that it is there, how many records it
adds to the counts of its run, and that none of them was there before, in one transaction. Who
commits holds the lock of that run, so that of two who bring the same answer one sees the other's.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import Enum, auto
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, Engine, select, update

from biaswatch.shared.contracts import Purpose, Record, Response
from biaswatch.shared.contracts.identity import BEGINNING_HEX_DIGITS
from biaswatch.shared.errors import ConfigurationError, TransientError, UsageError
from biaswatch.shared.store.answer_file_reader import open_folder
from biaswatch.shared.store.answer_files import TEXT, AnswerFiles
from biaswatch.shared.store.archive_files import COLUMNS, ArchiveFile, ArchiveFiles, is_file
from biaswatch.shared.store.archived_runs import AWAY, MOVED_KINDS, ArchiveState, lock_run
from biaswatch.shared.store.engine import chunks, read_transaction, write_transaction
from biaswatch.shared.store.monitoring_tables import ARCHIVE_FILES, ARCHIVED_RUNS
from biaswatch.shared.store.record_rows import (
    PRODUCTION,
    CountedAs,
    count_new,
    counted_as,
    file_row,
    file_text_rows,
)
from biaswatch.shared.store.statements import among
from biaswatch.shared.store.tables import RECORDS
from biaswatch.shared.store.texts import Purged, purged

TRIES = 5
"""How often a file is written anew because somebody else brought some of its answers meanwhile."""
CLOCKS_APART = timedelta(hours=1)
"""A purge that was noted so long before texts were written is taken for one that came after."""
Row = dict[str, Any]
ByKind = Mapping[str, Mapping[str, Record]]


class Commit(Enum):
    """What becomes of written files."""

    TAKEN = auto()
    """They are a part of their run."""
    AGAIN = auto()
    """Somebody else has brought some of their records: they are written without these."""
    ARCHIVED = auto()
    """They are late copies: the answers of their run are archived."""


@dataclass(frozen=True)
class AnswerFilesLocation:
    """Where answers of live systems are written as they come."""

    uri: str
    """A folder, `s3://` or `gs://`."""
    now: Callable[[], datetime]
    new_name: Callable[[], str]
    """A name that nobody else uses."""


class AnswerFileWriter:
    """Writes batches of answers as files, one of each kind of record and run."""

    def __init__(self, engine: Engine, files: AnswerFiles, location: AnswerFilesLocation) -> None:
        self._engine = engine
        self._files = files
        self._named = ArchiveFiles(engine)
        try:
            self._folder = open_folder(location.uri)
        except UsageError as error:
            raise ConfigurationError(f"BIASWATCH_RECORDER_ANSWER_FILES: {error}") from None
        self._location = location

    def write(self, by_kind: ByKind) -> Counter[str]:
        """Write records of live systems; return how many of each kind were new.

        Raises
        ------
        TransientError
            A file cannot be written now, or the run is just being archived.
        """
        by_run: dict[str, dict[str, dict[str, Record]]] = {}
        for kind, found in by_kind.items():
            for id_, record in found.items():
                by_run.setdefault(str(record.run), {}).setdefault(kind, {})[id_] = record
        written: Counter[str] = Counter()
        for run_id, records in sorted(by_run.items()):
            written += self._write_run(run_id, records)
        return written

    def _write_run(self, run_id: str, by_kind: ByKind) -> Counter[str]:
        for _ in range(TRIES):
            with read_transaction(self._engine) as connection:
                there = self._overlapping(connection, run_id, by_kind)
                gone = purged(connection)
                known = {
                    kind: self._known(connection, there, kind, by_kind[kind]) for kind in by_kind
                }
            new = {kind: _without(found, known[kind]) for kind, found in by_kind.items()}
            new = {kind: found for kind, found in new.items() if found}
            if not new or self._is_archived(run_id):
                return Counter()
            files = self._write_files(run_id, new, gone)
            outcome = self._commit(run_id, files, new, {each.path for each in there})
            if outcome is Commit.TAKEN:
                return Counter({kind: len(found) for kind, found in new.items()})
            for file in files:
                self._folder.remove(file.path)
                self._named.forget(file)
            if outcome is Commit.ARCHIVED:
                return Counter()
        raise TransientError(f"Others bring the same answers of the run {run_id} all the time.")

    def _is_archived(self, run_id: str) -> bool:
        """Tell whether a run takes no answers any more, before anything is written for it."""
        with read_transaction(self._engine) as connection:
            return _is_away(connection, run_id)

    def _overlapping(
        self, connection: Connection, run_id: str, by_kind: ByKind
    ) -> list[ArchiveFile]:
        return [
            file
            for kind, found in by_kind.items()
            for file in self._files.overlapping(connection, kind, run_id, sorted(found))
        ]

    def _known(
        self, connection: Connection, files: Iterable[ArchiveFile], kind: str, ids: Iterable[str]
    ) -> set[str]:
        """Return which of these records are in files, or are rows since before there were files."""
        ordered, known = sorted(ids), set[str]()
        for file in files:
            if file.kind == kind:
                known |= self._files.ids_in(file, ordered)
        table = RECORDS[kind]
        for some in chunks(ordered):
            known.update(connection.scalars(select(table.c.id).where(among(table.c.id, some))))
        return known

    def _write_files(self, run_id: str, new: ByKind, gone: Purged) -> list[ArchiveFile]:
        """Write the files of some records, in the order of their ids."""
        from biaswatch.shared.parquet.files import RECORDS as OF_RECORDS
        from biaswatch.shared.parquet.files import TEXTS as OF_TEXTS

        ordered = {kind: [found[id_] for id_ in sorted(found)] for kind, found in new.items()}
        files = [
            self._write_file(run_id, kind, OF_RECORDS, [file_row(each) for each in records])
            for kind, records in ordered.items()
        ]
        texts = [
            row
            for records in ordered.values()
            for each in records
            for row in file_text_rows(each, gone)
        ]
        if texts:
            texts.sort(key=itemgetter("record_id"))
            files.append(self._write_file(run_id, TEXT, OF_TEXTS, texts))
        return files

    def _write_file(self, run_id: str, kind: str, dataset: str, rows: Sequence[Row]) -> ArchiveFile:
        from biaswatch.shared.parquet.files import SCHEMAS, RowsWriter, live_path_of

        schema = SCHEMAS[dataset]
        ids = schema.names[0]
        tenant, day = rows[0]["tenant"], _day(min(row["at"] for row in rows))
        name = f"{kind}-{self._location.new_name()}-0"
        file = ArchiveFile(
            run_id, live_path_of(dataset, tenant, day, run_id, name), tenant, dataset, day,
            rows=0, digest="", verified=False, doomed=False,
            purged_at=self._location.now() - CLOCKS_APART, uri=self._folder.uri, kind=kind,
            source=rows[0]["lane"] if kind == Response.kind else None,
            first_id=rows[0][ids], last_id=rows[-1][ids],
        )  # fmt: skip
        self._named.name(file)
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
        """Take files into the run, unless others have brought some of it meanwhile."""
        with write_transaction(self._engine) as connection:
            lock_run(connection, run_id)
            if _is_away(connection, run_id):
                return Commit.ARCHIVED
            for file in self._overlapping(connection, run_id, new):
                if file.path not in seen and self._files.ids_in(file, sorted(new[str(file.kind)])):
                    return Commit.AGAIN
            if any(_are_rows(connection, kind, found) for kind, found in new.items()):
                return Commit.AGAIN  # a recorder that writes rows has brought some
            if any(_was_given_up(connection, file) for file in files):
                return Commit.AGAIN
            for file in files:
                values = {"rows": file.rows, "digest": file.digest, "verified": True}
                connection.execute(update(ARCHIVE_FILES).where(is_file(file)).values(values))
            count_new(connection, _counted(new))
        return Commit.TAKEN


def _is_away(connection: Connection, run_id: str) -> bool:
    """Tell whether the answers of a run are archived, so that it takes none any more.

    Raises
    ------
    TransientError
        They are just being archived: what comes now waits for the end of that.
    """
    state = connection.scalar(select(ARCHIVED_RUNS.c.state).where(ARCHIVED_RUNS.c.run_id == run_id))
    if state == ArchiveState.WRITING:
        raise TransientError(f"The answers of the run {run_id} are being archived.")
    return state in AWAY


def _are_rows(connection: Connection, kind: str, ids: Iterable[str]) -> bool:
    table = RECORDS[kind]
    queries = (select(table.c.id).where(among(table.c.id, some)) for some in chunks(ids))
    return any(connection.scalar(query.limit(1)) is not None for query in queries)


def _counted(new: ByKind) -> Counter[CountedAs]:
    """Return what records add to the counts of their runs."""
    counted: Counter[CountedAs] = Counter()
    for kind, found in new.items():
        rows = ({"run_id": r.run, "purpose": PRODUCTION, "lane": r.lane} for r in found.values())
        counted += counted_as(kind, rows)
    return counted


def _was_given_up(connection: Connection, file: ArchiveFile) -> bool:
    """Tell whether somebody took a file for left over, and removes it or has done so."""
    doomed = select(COLUMNS.doomed).where(is_file(file)).with_for_update()
    return connection.scalar(doomed) is not False


def _day(moment: datetime) -> str:
    return moment.astimezone(UTC).date().isoformat()


def _without(found: Mapping[str, Record], known: set[str]) -> dict[str, Record]:
    return {id_: record for id_, record in found.items() if id_ not in known}


def goes_to_file(record: Record) -> bool:
    """Tell whether a record is an answer of a live system, or what was measured of one.

    Those whose ids are not in order, of an older version, are rows.
    """
    return (
        record.kind in MOVED_KINDS
        and record.purpose is Purpose.PRODUCTION
        and record.run is not None
        and record.id.startswith(record.run[:BEGINNING_HEX_DIGITS])
    )
