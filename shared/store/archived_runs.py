"""Runs whose answers are archived: when they are due, where they are, and their locks."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    bindparam,
    delete,
    func,
    select,
    union,
    update,
)

from biaswatch.shared.contracts import RUN_GATHER, Response, Run
from biaswatch.shared.store.database import Database, insert_new, key_chunks, lock_number
from biaswatch.shared.store.monitoring_tables import ARCHIVE_FILES, ARCHIVED_RUNS, TRAFFIC_WINDOWS
from biaswatch.shared.store.record_rows import FILE_KINDS, ByKind
from biaswatch.shared.store.run_tables import GATHERS
from biaswatch.shared.store.tables import RECORDS


class ArchiveState(StrEnum):
    """Progress of archiving a run's answers."""

    WRITING = "writing"
    """Files are being written; the store has all answers."""
    REMOVING = "removing"
    """The files are verified; their content is being removed from the store."""
    ARCHIVED = "archived"
    """The store has no answers of the run."""
    RESTORING = "restoring"
    """The answers are being written into the store again."""
    EXPIRED = "expired"
    """The retention removed the files as well."""


ARCHIVED_STATES = (
    ArchiveState.REMOVING,
    ArchiveState.ARCHIVED,
    ArchiveState.RESTORING,
    ArchiveState.EXPIRED,
)
"""States of runs that lack answers in the store and accept no more."""


@dataclass(frozen=True)
class ArchivableRun:
    """A finished run, with the attributes that its files are sorted by."""

    run_id: str
    tenant: str
    source: str
    """Suite or live system of the answers."""


@dataclass(frozen=True)
class ArchivedRun(ArchivableRun):
    """A run whose answers are archived, or being archived or restored."""

    uri: str
    state: ArchiveState
    at: datetime
    answers: int
    measurements: int


@dataclass(eq=False)
class ArchivedRuns:
    """Finds runs to archive, and archived runs."""

    db: Database

    def due(self, before: datetime, tenants: Sequence[str] | None = None) -> list[ArchivableRun]:
        """Return the runs that closed before a time and wait for nothing, oldest first.

        Unread windows of traffic are included. Runs whose archiving was interrupted come first.
        """
        columns = ARCHIVED_RUNS.c
        interrupted = select(columns.run_id, columns.tenant, columns.source)
        interrupted = interrupted.where(
            columns.state.in_((ArchiveState.WRITING, ArchiveState.REMOVING))
        )
        open_keys = select(GATHERS.c.key).where(GATHERS.c.closed_at.is_(None))
        with self.db.reading() as connection:
            resumed = [ArchivableRun(*row) for row in connection.execute(interrupted)]
            busy = {key.partition("/")[0] for key in connection.scalars(open_keys)}
            ended = [*_ended_runs(connection, before), *_unread_windows(connection, before)]
        runs = [*resumed, *(run for run in ended if run.run_id not in busy)]
        return [run for run in runs if tenants is None or run.tenant in tenants]

    def find(self, run_id: str) -> ArchivedRun | None:
        """Return where the answers of a run are archived, or None."""
        return self.among([run_id]).get(run_id)

    def among(self, run_ids: Iterable[str]) -> dict[str, ArchivedRun]:
        """Return the archived ones of these runs, by id."""
        query = select(ARCHIVED_RUNS).where(*self.db.visible(ARCHIVED_RUNS))
        query = query.where(ARCHIVED_RUNS.c.state.in_(ARCHIVED_STATES))
        rows = self.db.rows_in(query, ARCHIVED_RUNS.c.run_id, run_ids)
        return {row.run_id: _archived(row) for row in rows}

    def all(self) -> list[ArchivedRun]:
        """Return every run that is archived or in progress, by tenant, source and time."""
        columns = ARCHIVED_RUNS.c
        query = select(ARCHIVED_RUNS).where(*self.db.visible(ARCHIVED_RUNS))
        query = query.order_by(columns.tenant, columns.source, columns.at, columns.run_id)
        return [_archived(row) for row in self.db.rows(query)]

    def tenants(self) -> list[str]:
        """Return the tenants that have runs, in the store or in the archive."""
        stored, archived = RECORDS[Run.kind].c.tenant, ARCHIVED_RUNS.c.tenant
        return sorted(self.db.scalars(union(select(stored), select(archived))))

    def begin(self, run: ArchivableRun, uri: str, now: datetime) -> ArchivedRun:
        """Begin to archive a run; return its state, perhaps of an earlier attempt."""
        row = {
            "run_id": run.run_id, "tenant": run.tenant, "source": run.source, "uri": uri,
            "state": ArchiveState.WRITING, "at": now,
        }  # fmt: skip
        with self.db.writing() as connection:
            insert_new(connection, ARCHIVED_RUNS, [row])
            query = select(ARCHIVED_RUNS).where(ARCHIVED_RUNS.c.run_id == run.run_id)
            archived = _archived(connection.execute(query).one())
        with self.db.writing() as connection:
            # Waits for writers of answer files that did not see the new row.
            lock_run(connection, run.run_id)
        return archived

    def note(self, run_id: str, state: ArchiveState, now: datetime, **amounts: int) -> None:
        """Record the progress of archiving a run."""
        statement = update(ARCHIVED_RUNS).where(ARCHIVED_RUNS.c.run_id == run_id)
        self.db.execute(statement.values(state=state, at=now, **amounts))

    def forget(self, run_id: str) -> None:
        """Forget a run whose answers were all restored."""
        # Files with their own address are left to the sweep, or are being written.
        in_archive = (ARCHIVE_FILES.c.run_id == run_id, ARCHIVE_FILES.c.uri.is_(None))
        self.db.execute(
            delete(ARCHIVE_FILES).where(*in_archive),
            delete(ARCHIVED_RUNS).where(ARCHIVED_RUNS.c.run_id == run_id),
        )


def _archived(row: Row[tuple[object, ...]]) -> ArchivedRun:
    return ArchivedRun(**row._asdict() | {"state": ArchiveState(row.state)})


def _is_new(run_id: ColumnElement[str]) -> ColumnElement[bool]:
    return ~select(ARCHIVED_RUNS.c.run_id).where(ARCHIVED_RUNS.c.run_id == run_id).exists()


def _ended_runs(connection: Connection, before: datetime) -> list[ArchivableRun]:
    runs = RECORDS[Run.kind].c
    query = (
        select(runs.id, runs.tenant, runs.body)
        .join(GATHERS, GATHERS.c.key == runs.id)
        .where(GATHERS.c.stage == RUN_GATHER, GATHERS.c.closed_at < before)
        .where(GATHERS.c.recorded_at.is_not(None), _is_new(runs.id))
        .order_by(GATHERS.c.closed_at, runs.id)
    )
    return [
        ArchivableRun(row.id, row.tenant, str(json.loads(row.body)["suite"]))
        for row in connection.execute(query)
    ]


def _unread_windows(connection: Connection, before: datetime) -> list[ArchivableRun]:
    """Return windows that were passed over: they have answers but are not runs."""
    windows, answers, files = TRAFFIC_WINDOWS.c, RECORDS[Response.kind].c, ARCHIVE_FILES.c
    read = select(GATHERS.c.key).where(
        GATHERS.c.stage == RUN_GATHER, GATHERS.c.key == windows.run_id
    )
    in_files = (
        files.run_id == windows.run_id, files.kind == Response.kind, files.verified.is_(True),
    )  # fmt: skip
    query = select(
        windows.run_id,
        *(
            func.coalesce(
                select(column).where(answers.run_id == windows.run_id).limit(1).scalar_subquery(),
                select(file_column).where(*in_files).limit(1).scalar_subquery(),
            ).label(name)
            for name, column, file_column in (
                ("tenant", answers.tenant, files.tenant),
                ("source", answers.lane, files.source),
            )
        ),
    ).where(windows.fixed_at.is_not(None), windows.ends < before)
    query = query.where(~read.exists(), _is_new(windows.run_id)).order_by(windows.ends)
    return [
        ArchivableRun(row.run_id, row.tenant, row.source)
        for row in connection.execute(query)
        if row.tenant is not None
    ]


def lock_run(connection: Connection, run_id: str, *, shared: bool = False) -> None:
    """Wait for writers of a run's files, and block others until the transaction ends.

    Writers of rows share the lock. SQLite has one writer, which is this transaction.
    """
    if connection.dialect.name == "postgresql":
        lock = func.pg_advisory_xact_lock_shared if shared else func.pg_advisory_xact_lock
        connection.execute(select(lock(lock_number(run_id))))


SELECT_ARCHIVED = select(ARCHIVED_RUNS.c.run_id).where(
    ARCHIVED_RUNS.c.run_id.in_(bindparam("runs", expanding=True)),
    ARCHIVED_RUNS.c.state.in_(ARCHIVED_STATES),
)
"""Built once, because every write of answers executes it."""


def without_archived(connection: Connection, by_kind: ByKind) -> ByKind:
    """Return records without late copies of archived answers."""
    answers = (records for kind, records in by_kind.items() if kind in FILE_KINDS)
    runs = {record.run for records in answers for record in records.values()}
    archived: set[str | None] = set()
    for batch in key_chunks(run for run in runs if run):
        archived.update(connection.scalars(SELECT_ARCHIVED, {"runs": batch}))
    if not archived:
        return by_kind
    return {
        kind: {
            id_: record
            for id_, record in records.items()
            if kind not in FILE_KINDS or record.run not in archived
        }
        for kind, records in by_kind.items()
    }
