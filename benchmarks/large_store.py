"""Pages and purges of a store with millions of answers in tables and a billion in files.

`python -m benchmarks.large_store --answers 10000000 --in-files 1000000000` requests the pages of
`benchmarks.pages`, and those of a live system whose answers are in files; then it purges units. A
run and a window are real. Copies of their rows with other ids, made by the database, stand for the
rest: a copied file is an entry in the manifest, and is not on the disk. The bars: 300 ms of CPU a
page; a minute of CPU for a unit in the tables, and for one in the files, where the cost of a file
is measured on real ones and multiplied by the number of files that have to be read.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any
from uuid import uuid4

from sqlalchemy import ColumnElement, Connection, Table, func, insert, literal, select

from benchmarks import pages
from benchmarks.store_writes import server_of
from benchmarks.traffic_writes import NOON, exchanges, take_in, watched
from biaswatch.archiving.purging import ArchivePurge
from biaswatch.services.gateway.administration import purge_texts
from biaswatch.shared.contracts import Run
from biaswatch.shared.requests.platform import PurgeRequest
from biaswatch.shared.runtime.process_limits import bound_garbage
from biaswatch.shared.store import AnswerFilesLocation, Store, migrate
from biaswatch.shared.store.monitoring_tables import ARCHIVE_FILES, TRAFFIC_WINDOWS
from biaswatch.shared.store.tables import RECORD_COUNTS, RECORDS, TEXTS
from tests.support.archived import end_run
from tests.support.records import make_run
from tests.support.traffic_platform import TrafficPlatform

RUN_ANSWERS, WINDOW_ANSWERS, FILE_RECORDS = 20_000, 20_000, 2_000
ROUNDS = 50
IDS = {"id", "record_id", "probe_id", "response_id", "first_id", "last_id"}
"""Columns whose first digits differ between copies, as the ids of a run begin like its own."""
DIGITS = 8
COPIED_AT_ONCE = 500
ANSWERS_TABLES = (*(RECORDS[kind] for kind in ("probe", "response", "features")), TEXTS)
BAR_S = 60.0


def copy_rows(
    connection: Connection, table: Table, run_id: str, copy_id: str, **changed: object
) -> None:
    """Copy the rows of a run as those of another."""

    def value(name: str) -> ColumnElement[Any]:
        column = table.c[name]
        if name == "run_id":
            return literal(copy_id)
        if name in changed:
            return literal(changed[name], column.type)
        return (
            literal(copy_id[:DIGITS]) + func.substr(column, DIGITS + 1) if name in IDS else column
        )

    names = [column.name for column in table.columns]
    rows = select(*map(value, names)).where(table.c.run_id == run_id)
    connection.execute(insert(table).from_select(names, rows))


def copy_run(store: Store, run: Run, copies: int) -> None:
    """Copy a run of the tables, its answers and its findings."""
    for number in range(copies):
        copy = make_run(
            suite=run.suite, suite_hash=run.suite_hash, extractors=run.extractors,
            at=run.at - timedelta(hours=number + 1), nonce=f"copy {number}",
        )  # fmt: skip
        findings = (pages.diagnosis_of(copy, name, RUN_ANSWERS) for name in pages.FEATURES)
        store.records.write([copy, *findings])
        with store.engine.begin() as connection:
            for table in ANSWERS_TABLES:
                copy_rows(connection, table, run.id, copy.id)
        end_run(store, copy.id)
        _tell(number + 1, copies, "runs")


def copy_window(store: Store, run_id: str, copies: int) -> None:
    """Copy a window of traffic and its files, into the hours before it."""
    rng = Random(3)
    for start in range(0, copies, COPIED_AT_ONCE):
        with store.engine.begin() as connection:
            for number in range(start, min(start + COPIED_AT_ONCE, copies)):
                copy_id, begins = f"{rng.getrandbits(128):032x}", NOON - timedelta(hours=number + 1)
                copy_rows(connection, ARCHIVE_FILES, run_id, copy_id)
                copy_rows(connection, RECORD_COUNTS, run_id, copy_id)
                hour = {"begins": begins, "ends": begins + timedelta(hours=1)}
                copy_rows(connection, TRAFFIC_WINDOWS, run_id, copy_id, **hour)
        _tell(start + COPIED_AT_ONCE, copies, "windows")


def _tell(done: int, of: int, what: str) -> None:
    if done % 5000 == 0 or (what == "runs" and done % 10 == 0) or done >= of:
        print(f"  {done:,} of {of:,} {what}", file=sys.stderr, flush=True)


def fill(store: Store, answers: int, in_files: int) -> list[str]:
    """Fill a store; return the addresses of the pages of answers in files."""
    asyncio.run(pages.filled(store, RUN_ANSWERS, ROUNDS))
    platform = TrafficPlatform(store)
    platform.rounds.define(watched())
    take_in(platform, 0, WINDOW_ANSWERS, Random(1), FILE_RECORDS)
    runs = {run.suite: run for run in store.records.all(Run)}
    [window] = store.window_answers.latest(watched().monitor_id, 1)
    copy_run(store, runs["large"], answers // RUN_ANSWERS - 1)
    copy_window(store, window.of.run_id, in_files // WINDOW_ANSWERS - 1)
    at = f"/runs/{window.of.run_id}"
    return ["/monitors/support", "/monitors/support/strata", at, f"{at}/answers"]


def purge_tables(store: Store, unit: str) -> float:
    """Purge a unit of the tables; return the seconds of wall clock, the database's included."""
    start = time.monotonic()
    removed = purge_texts(store, PurgeRequest(unit=unit), datetime.now(UTC))
    seconds = time.monotonic() - start
    print(f"a unit in the tables: {removed.texts} texts removed in {seconds:.1f} s (bar {BAR_S:g})")
    return seconds


def purge_files(store: Store, unit: str) -> float:
    """Purge a unit of the files; return the seconds that all of its files take."""
    store.purges.unit(unit, datetime.now(UTC))
    purge = ArchivePurge(store, lambda: datetime.now(UTC))
    start = time.monotonic()
    files = purge.files()
    listed_s = time.monotonic() - start
    real = [file for file in files if file.run_id in _real_runs(store)]
    start = time.monotonic()
    removed = sum(map(purge.apply, real))
    a_file_s = (time.monotonic() - start) / max(1, len(real))
    seconds = listed_s + a_file_s * len(files)
    print(
        f"a unit in the files: {removed} texts removed; {len(files):,} files to read are listed in"
        f" {listed_s:.1f} s, {1e3 * a_file_s:.1f} ms each: {seconds:,.0f} s (bar {BAR_S:g})"
    )
    return seconds


def _real_runs(store: Store) -> set[str]:
    return {run.id for run in store.records.all(Run) if run.window is not None}


def main() -> int:
    """Fill, measure and print; return the number of missed bars."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=2 * RUN_ANSWERS)
    parser.add_argument("--in-files", type=int, default=10 * WINDOW_ANSWERS)
    parser.add_argument("--database", choices=("sqlite", "postgresql"), default="sqlite")
    options = parser.parse_args()
    bound_garbage()  # as the gateway does
    with tempfile.TemporaryDirectory(prefix="biaswatch-large-store-") as path, ExitStack() as stack:
        folder = Path(path)
        url, _ = stack.enter_context(server_of(options.database, folder))
        migrate(url)
        location = AnswerFilesLocation(f"{folder}/answers", lambda: NOON, lambda: uuid4().hex)
        store = stack.enter_context(Store.open(url, location, statement_s=None))
        addresses = fill(store, options.answers, options.in_files)
        print(f"{options.answers:,} answers in tables, {options.in_files:,} in files")
        missed = asyncio.run(pages.measured(store, addresses))
        unit = next(exchanges(0, 1, Random(1))).unit_id
        missed += purge_tables(store, "7-group 03") > BAR_S
        missed += purge_tables(store, "no such unit") > BAR_S
        missed += purge_files(store, str(unit)) > BAR_S
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
