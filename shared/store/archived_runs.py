"""Runs whose answers are archived: which are due, where they are, what becomes of late copies."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import Connection, Engine, bindparam, delete, func, select, update

from biaswatch.shared.contracts import RUN_GATHER, Features, Probe, Record, Response, Run
from biaswatch.shared.store.engine import (
    ScopeNow,
    chunks,
    everything,
    insert_new,
    read_transaction,
    write_transaction,
)
from biaswatch.shared.store.monitoring_tables import ARCHIVE_FILES, ARCHIVED_RUNS, TRAFFIC_WINDOWS
from biaswatch.shared.store.statements import among
from biaswatch.shared.store.tables import GATHERS, RECORDS

MOVED: tuple[type[Record], ...] = (Features, Response, Probe)
"""The kinds of record that an archive takes; findings, rounds and counts stay in the store."""
MOVED_KINDS = {kind.kind for kind in MOVED}


class ArchiveState(StrEnum):
    """How far a run's answers are on their way."""

    WRITING = "writing"
    """Files are being written; the store has all of it."""
    REMOVING = "removing"
    """The files are verified; what they hold leaves the store."""
    ARCHIVED = "archived"
    """The store has none of it."""
    RESTORING = "restoring"
    """It is being written into the store again."""
    EXPIRED = "expired"
    """Its files are removed too, as the retention says."""


LOCK_HEX_DIGITS = 15
"""Of a run's id: the number of a lock has 63 bits."""
AWAY = (ArchiveState.REMOVING, ArchiveState.ARCHIVED, ArchiveState.RESTORING, ArchiveState.EXPIRED)
"""States in which the store does not have all answers of a run, and takes in none."""


@dataclass(frozen=True)
class ArchivableRun:
    """A run that is over, with what its files are sorted by."""

    run_id: str
    tenant: str
    source: str
    """The suite, or the live system, that its answers come from."""


@dataclass(frozen=True)
class ArchivedRun(ArchivableRun):
    """A run whose answers are archived, or on their way."""

    uri: str
    state: ArchiveState
    at: datetime
    answers: int
    measurements: int


class ArchivedRuns:
    """Finds runs to archive, and those that are archived."""

    def __init__(self, engine: Engine, scope: ScopeNow = everything) -> None:
        self._engine = engine
        self._scope = scope

    def due(self, before: datetime, tenants: Sequence[str] | None = None) -> list[ArchivableRun]:
        """Return the runs that closed before a moment and wait for nothing, the oldest first.

        Windows of traffic that nobody read are among them. Runs on their way come first.
        """
        with read_transaction(self._engine) as connection:
            known = {row.run_id: row for row in connection.execute(select(ARCHIVED_RUNS))}
            waiting = select(GATHERS.c.key).where(GATHERS.c.closed_at.is_(None))
            busy = {key.partition("/")[0] for key in connection.scalars(waiting)}
            found = [*_ended_runs(connection, before), *_unread_windows(connection, before)]
        begun = [
            ArchivableRun(row.run_id, row.tenant, row.source)
            for row in known.values()
            if row.state in (ArchiveState.WRITING, ArchiveState.REMOVING)
        ]
        new = [each for each in found if each.run_id not in known and each.run_id not in busy]
        return [each for each in (*begun, *new) if tenants is None or each.tenant in tenants]

    def find(self, run_id: str) -> ArchivedRun | None:
        """Return where the answers of a run are, if they are not in the store."""
        return self.among([run_id]).get(run_id)

    def among(self, run_ids: Iterable[str]) -> dict[str, ArchivedRun]:
        """Return, by run, where the answers of these runs are that are not in the store."""
        found: dict[str, ArchivedRun] = {}
        with read_transaction(self._engine) as connection:
            for some in chunks(run_ids):
                query = select(ARCHIVED_RUNS).where(among(ARCHIVED_RUNS.c.run_id, some))
                if (tenant := self._scope().tenant) is not None:
                    query = query.where(ARCHIVED_RUNS.c.tenant == tenant)
                rows = connection.execute(query).mappings()
                found |= {row["run_id"]: _archived(row) for row in rows}
        return {run_id: each for run_id, each in found.items() if each.state in AWAY}

    def all(self) -> list[ArchivedRun]:
        """Return every run in the archive or on its way, by tenant, source and time."""
        names = ARCHIVED_RUNS.c
        query = select(ARCHIVED_RUNS).order_by(names.tenant, names.source, names.at, names.run_id)
        if (tenant := self._scope().tenant) is not None:
            query = query.where(names.tenant == tenant)
        with read_transaction(self._engine) as connection:
            return [_archived(row) for row in connection.execute(query).mappings()]

    def tenants(self) -> list[str]:
        """Return the tenants that have runs, in the store or in the archive."""
        runs = RECORDS[Run.kind].c
        with read_transaction(self._engine) as connection:
            found = {*connection.scalars(select(runs.tenant).distinct())}
            found |= {*connection.scalars(select(ARCHIVED_RUNS.c.tenant).distinct())}
        return sorted(found)

    def begin(self, run: ArchivableRun, uri: str, now: datetime) -> ArchivedRun:
        """Note that a run is on its way; return how far it is, perhaps from before."""
        row = {
            "run_id": run.run_id, "tenant": run.tenant, "source": run.source, "uri": uri,
            "state": ArchiveState.WRITING, "at": now,
        }  # fmt: skip
        with write_transaction(self._engine) as connection:
            insert_new(connection, ARCHIVED_RUNS, [row])
            query = select(ARCHIVED_RUNS).where(ARCHIVED_RUNS.c.run_id == run.run_id)
            begun = _archived(connection.execute(query).mappings().one())
        with write_transaction(self._engine) as connection:
            # Who is just adding files of answers to it, and did not see this, has done so now.
            lock_run(connection, run.run_id)
        return begun

    def note(self, run_id: str, state: ArchiveState, now: datetime, **amounts: int) -> None:
        """Note how far a run is."""
        mine = update(ARCHIVED_RUNS).where(ARCHIVED_RUNS.c.run_id == run_id)
        with write_transaction(self._engine) as connection:
            connection.execute(mine.values(state=state, at=now, **amounts))

    def forget(self, run_id: str) -> None:
        """Forget a run whose answers are all in the store again."""
        with write_transaction(self._engine) as connection:
            # Files with an address of their own are left to the sweep, or are being written.
            mine = (ARCHIVE_FILES.c.run_id == run_id, ARCHIVE_FILES.c.uri.is_(None))
            connection.execute(delete(ARCHIVE_FILES).where(*mine))
            connection.execute(delete(ARCHIVED_RUNS).where(ARCHIVED_RUNS.c.run_id == run_id))


def _archived(row: Mapping[Any, Any]) -> ArchivedRun:
    return ArchivedRun(**{**row, "state": ArchiveState(row["state"])})


def _ended_runs(connection: Connection, before: datetime) -> list[ArchivableRun]:
    runs = RECORDS[Run.kind].c
    query = (
        select(runs.id, runs.tenant, runs.body)
        .join(GATHERS, GATHERS.c.key == runs.id)
        .where(GATHERS.c.stage == RUN_GATHER, GATHERS.c.closed_at < before)
        .where(GATHERS.c.recorded_at.is_not(None))
        .order_by(GATHERS.c.closed_at, runs.id)
    )
    return [
        ArchivableRun(row.id, row.tenant, str(json.loads(row.body)["suite"]))
        for row in connection.execute(query)
    ]


def _unread_windows(connection: Connection, before: datetime) -> list[ArchivableRun]:
    """Return windows that were passed over: they have answers, and are no runs."""
    windows, responses = TRAFFIC_WINDOWS.c, RECORDS[Response.kind].c
    read = select(GATHERS.c.key).where(
        GATHERS.c.stage == RUN_GATHER, GATHERS.c.key == windows.run_id
    )
    query = select(windows.run_id).where(
        windows.fixed_at.is_not(None), windows.ends < before, ~read.exists()
    )
    found = []
    for run_id in connection.scalars(query.order_by(windows.ends)):
        one = select(responses.tenant, responses.lane).where(responses.run_id == run_id).limit(1)
        files = ARCHIVE_FILES.c
        filed = select(files.tenant, files.source).where(
            files.run_id == run_id, files.kind == Response.kind, files.verified.is_(True)
        )
        if row := connection.execute(one).first() or connection.execute(filed.limit(1)).first():
            found.append(ArchivableRun(run_id, row[0], row[1]))
    return found


def lock_run(connection: Connection, run_id: str, *, shared: bool = False) -> None:
    """Wait for who adds files to a run; keep others from it till the transaction ends.

    Who adds rows shares the lock with others who do. SQLite has one writer, which this is.
    """
    if connection.dialect.name == "postgresql":
        lock = func.pg_advisory_xact_lock_shared if shared else func.pg_advisory_xact_lock
        connection.execute(select(lock(int(run_id[:LOCK_HEX_DIGITS], 16))))


RUNS_AWAY = select(ARCHIVED_RUNS.c.run_id).where(
    ARCHIVED_RUNS.c.run_id.in_(bindparam("runs", expanding=True)), ARCHIVED_RUNS.c.state.in_(AWAY)
)
"""Made once: every write of answers asks it."""


def here(
    connection: Connection, by_kind: Mapping[str, dict[str, Record]]
) -> dict[str, dict[str, Record]]:
    """Return the records that belong into the store: late copies of archived answers do not."""
    of_answers = (found for kind, found in by_kind.items() if kind in MOVED_KINDS)
    runs = {each.run for found in of_answers for each in found.values()}
    away: set[str] = set()
    for some in chunks(run for run in runs if run):
        away.update(connection.scalars(RUNS_AWAY, {"runs": some}))
    if not away:
        return dict(by_kind)
    return {
        kind: {id_: each for id_, each in found.items() if not (_moves(kind) and each.run in away)}
        for kind, found in by_kind.items()
    }


def _moves(kind: str) -> bool:
    return kind in MOVED_KINDS
